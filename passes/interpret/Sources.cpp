//===- Sources.cpp - constants, counts and random bits --------------------===//

#include "weft/dialects/weft/Weft.h"
#include "weft/passes/interpret/Meanings.h"

using namespace mlir;

namespace weft {

namespace {

/// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as
/// easy as 1, 2, 3"), the two output words combined by exclusive or.
uint32_t threefry(uint32_t key0, uint32_t key1, uint32_t x0, uint32_t x1) {
  const uint32_t keys[3] = {key0, key1, key0 ^ key1 ^ 0x1BD11BDAu};
  const unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  x0 += keys[0];
  x1 += keys[1];
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned r : rotations[group % 2]) {
      x0 += x1;
      x1 = ((x1 << r) | (x1 >> (32 - r))) ^ x0;
    }
    x0 += keys[(group + 1) % 3];
    x1 += keys[(group + 2) % 3] + group + 1;
  }
  return x0 ^ x1;
}

Tensor iota(IotaOp op, Operands in) {
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  int64_t start = in.empty() ? 0 : in[0]->integer(0);
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t value = start + indexOf(i, result.getShape())[op.getDim()];
    if (isDifferentiable(result.getElementType()))
      result.setNumber(i, static_cast<double>(value));
    else
      result.setInteger(i, value);
  }
  return result;
}

Tensor randomBits(RngBitsOp op, Operands in) {
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  auto key = [&](int64_t i) {
    return static_cast<uint32_t>(in[0]->integer(i));
  };
  SmallVector<int64_t> global(result.getShape());
  if (std::optional<ArrayRef<int64_t>> shape = op.getGlobalShape())
    global.assign(shape->begin(), shape->end());
  SmallVector<int64_t, 4> strides = stridesOf(global);
  for (int64_t i = 0; i < result.size(); ++i) {
    uint64_t position = 0;
    for (auto [dim, index] : llvm::enumerate(indexOf(i, result.getShape()))) {
      int64_t start = in.size() > 1 ? in[1 + dim]->integer(0) : 0;
      position += static_cast<uint64_t>((start + index) * strides[dim]);
    }
    result.setInteger(i, threefry(key(0), key(1),
                                  static_cast<uint32_t>(position >> 32),
                                  static_cast<uint32_t>(position)));
  }
  return result;
}

} // namespace

std::optional<Tensor> meaningOfSource(Operation *op, Operands in) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto data = dyn_cast<DenseElementsAttr>(constant.getValue());
    return data ? std::optional(Tensor::ofAttribute(data)) : std::nullopt;
  }
  if (auto iotaOp = dyn_cast<IotaOp>(op))
    return iota(iotaOp, in);
  if (auto bits = dyn_cast<RngBitsOp>(op))
    return randomBits(bits, in);
  return std::nullopt;
}

} // namespace weft
