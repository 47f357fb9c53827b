//===- RandomIntegers.cpp - whole numbers as JAX draws them ---------------===//

#include "weft/compiler/frontends/keras/tensors/RandomIntegers.h"

#include <algorithm>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static Tensor rotated(Tensors &t, Tensor x, unsigned by) {
  return t.make<ShiftLeftOp>(x, t.splat(double(by), x)) |
         t.make<ShiftRightLogicalOp>(x, t.splat(double(32 - by), x));
}

/// Threefry-2x32 of the counters (0, 0) and (0, 1): the high and the low words.
static std::pair<Tensor, Tensor> threefry(Tensors &t, Tensor key) {
  auto type = RankedTensorType::get(
      {2}, t.builder.getIntegerType(32, /*isSigned=*/false));
  auto word = [&](int64_t i) {
    return t.stretch(t.slice(key, 0, i, i + 1), {2});
  };
  Tensor first = word(0), second = word(1);
  Tensor third = first ^ second ^ t.splat(double(0x1BD11BDA), type);
  Tensor keys[] = {first, second, third};
  Tensor high = first;
  Tensor low =
      t.make<IotaOp>(type, t.builder.getI64IntegerAttr(0), Tensor()) + second;
  static constexpr unsigned turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned by : turns[round % 2]) {
      high = high + low;
      low = rotated(t, low, by) ^ high;
    }
    high = high + keys[(round + 1) % 3];
    low = low + keys[(round + 2) % 3] + double(round + 1);
  }
  return {high, low};
}

std::pair<Tensor, Tensor> weft::keras::splitKey(Tensors &t, Tensor key) {
  auto [high, low] = threefry(t, key);
  auto of = [&](int64_t i) {
    return t.join({t.slice(high, 0, i, i + 1), t.slice(low, 0, i, i + 1)});
  };
  return {of(0), of(1)};
}

Tensor weft::keras::randomIntegers(Tensors &t, Tensor key,
                                   ArrayRef<int64_t> shape, int64_t least,
                                   int64_t most) {
  auto type = RankedTensorType::get(
      shape, t.builder.getIntegerType(32, /*isSigned=*/false));
  uint64_t span = uint64_t(std::max<int64_t>(most - least, 1));
  auto draw = [&](Tensor key) {
    Tensor words =
        t.make<RngBitsOp>(type, key, ValueRange(), DenseI64ArrayAttr());
    return words % double(span);
  };
  auto [first, second] = splitKey(t, key);
  uint64_t factor = (uint64_t(1) << 16) % span;
  factor = factor * factor % span;
  Tensor offset = draw(first) * double(factor) + draw(second);
  offset = offset % double(span);
  return t.toInteger(offset) + double(least);
}
