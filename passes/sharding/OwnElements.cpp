//===- OwnElements.cpp - moves for which devices have all they need -------===//

#include "weft/passes/sharding/OwnElements.h"

#include "weft/dialects/weft/local/BoxMasks.h"
#include "weft/passes/sharding/LocalBlocks.h"

using namespace weft;
using namespace mlir;

static RankedTensorType typeOfTensor(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {
/// Builds one box after the other.
class OwnElements {
public:
  OwnElements(LocalBuilder &b [[clang::lifetimebound]],
              llvm::ArrayRef<int64_t> shape,
              const OwnMove &move [[clang::lifetimebound]],
              BoxMasks &masks [[clang::lifetimebound]])
      : b(b), shape(shape), move(move), masks(masks) {}
  /// The block with the elements of a box, those outside undefined.
  Value block(Value shard, const MovedBox &box) const;

private:
  /// Whether each device's elements of a dimension are its block's.
  bool isWholeDim(const MovedBox &box, unsigned d, int64_t size) const;
  /// The positions in the shard of the block's elements along a dimension.
  Value positions(const MovedBox &box, unsigned d, int64_t size) const;
  /// Puts dimensions where those of the result are that they follow.
  Value arrange(Value value, const MovedBox &box) const;
  Value apply(auto op, Value x, int64_t y) const {
    return decltype(op)::create(b.builder, b.loc, x,
                                b.integer(y, typeOfTensor(x).getShape()));
  }

  LocalBuilder &b;
  llvm::ArrayRef<int64_t> shape;
  const OwnMove &move;
  BoxMasks &masks;
};
} // namespace

bool OwnElements::isWholeDim(const MovedBox &box, unsigned d,
                             int64_t size) const {
  int64_t r = box.dim[d];
  if (r < 0)
    return size == 1;
  return size == shape[r] && move.from.dims[d] == move.to.dims[r] &&
         box.offset[d] == box.start[r] &&
         (box.count[r] == 1 || box.stride[d] == box.step[r]);
}

Value OwnElements::positions(const MovedBox &box, unsigned d,
                             int64_t size) const {
  int64_t r = box.dim[d];
  Value at;
  if (r < 0) {
    at = b.integer(box.offset[d], 1);
  } else {
    // offset + stride * t, where start + step * t is the element's position.
    at = apply(SubOp(), masks.position(r), box.start[r]);
    if (box.step[r] > 1)
      at = apply(DivOp(), at, box.step[r]);
    if (box.stride[d] != 1)
      at = apply(MulOp(), at, box.stride[d]);
    at = apply(AddOp(), at, box.offset[d]);
  }
  if (!move.from.dims[d].empty()) {
    Value first =
        blockOffset(b.builder, b.loc, move.mesh, move.from.dims[d], size);
    at = SubOp::create(b.builder, b.loc, at,
                       b.along(first, typeOfTensor(at).getShape()));
  }
  return b.clamp(at, 0, size - 1);
}

Value OwnElements::arrange(Value value, const MovedBox &box) const {
  RankedTensorType type = typeOfTensor(value);
  llvm::SmallVector<int64_t> kept, order, dims;
  for (auto [d, r] : llvm::enumerate(box.dim))
    if (r >= 0) {
      kept.push_back(type.getDimSize(d));
      dims.push_back(r);
    }
  if (kept.size() < box.dim.size())
    value = ReshapeOp::create(b.builder, b.loc, type.clone(kept), value);
  order = llvm::to_vector(llvm::seq<int64_t>(0, kept.size()));
  llvm::sort(order, [&](int64_t i, int64_t j) { return dims[i] < dims[j]; });
  if (!llvm::is_sorted(order)) {
    llvm::SmallVector<int64_t> moved;
    for (int64_t i : order)
      moved.push_back(kept[i]);
    value =
        TransposeOp::create(b.builder, b.loc, type.clone(moved), value, order);
  }
  llvm::sort(dims);
  if (typeOfTensor(value).getShape() == shape)
    return value;
  return BroadcastOp::create(b.builder, b.loc, value, shape, dims);
}

Value OwnElements::block(Value shard, const MovedBox &box) const {
  for (unsigned d = 0; d < box.dim.size(); ++d) {
    int64_t size = typeOfTensor(shard).getDimSize(d);
    if (!isWholeDim(box, d, size))
      shard = b.takeAlong(shard, positions(box, d, size), d);
  }
  return arrange(shard, box);
}

Value weft::takeOwnElements(LocalBuilder &b, Value shard,
                            llvm::ArrayRef<int64_t> shape, const OwnMove &move,
                            const LocalPlacement &placement) {
  BoxMasks masks(b, shape, placement);
  OwnElements elements(b, shape, move, masks);
  Value result;
  for (const MovedBox &box : move.boxes) {
    Value block = elements.block(shard, box);
    result = result ? Value(SelectOp::create(b.builder, b.loc, masks.of(box),
                                             block, result))
                    : block;
  }
  return result;
}
