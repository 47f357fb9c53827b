//===- LocalFolds.cpp - each device's part of a fold ----------------------===//
//
// Local folds. Example: the last of 7 3 | 5 1 | 4 over three devices (the body
// yields its right side, or its left side if the right one is the initial
// value). Each device folds its block, in which padding is the initial value
// (3 | 1 | 4); the three results are gathered in the order of the devices and
// folded by the same body on all of them: 4.
//
// Row-major order is kept. For [2, 4] with columns over two devices,
//
//   a b | c d      a device cannot fold its block to one element, as c d come
//   e f | g h      between b and e. So each device folds its rows (ab, ef | cd,
//                  gh), the pairs are gathered and folded (abcd, efgh), and the
//                  rows are folded last. Each step folds the last sharded
//                  dimension that is left, with all dimensions after it.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/dialects/weft/ops/FoldOps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

namespace {
/// A fold whose dimensions are split over several devices. Its factors are the
/// dimensions of the operands.
struct LocalFold {
  FoldOp op;
  LocalBuilder b;
  const LocalPlacement &placement;
  SmallVector<Value> values, inits;

  SmallVector<Value> folded(ArrayRef<int64_t> dims);
  Value masked(Value value, Value init, int64_t dim);
  SmallVector<Value> run();
};
} // namespace

/// The op's fold, of the current values.
SmallVector<Value> LocalFold::folded(ArrayRef<int64_t> dims) {
  auto fold = FoldOp::create(b.builder, b.loc, values, inits, dims);
  IRMapping mapping;
  op.getBody().cloneInto(&fold.getBody(), mapping);
  return SmallVector<Value>(fold.getResults());
}

/// The value with the fold's initial value past the dimension's end.
Value LocalFold::masked(Value value, Value init, int64_t dim) {
  RankedTensorType type = typeOf(value);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t size = typeOf(op.getInputs()[0]).getDimSize(dim);
  if (size == shape[dim] * placement.shards(dim))
    return value;
  Value start = MulOp::create(b.builder, b.loc,
                              placement.coordinate(b.builder, b.loc, dim),
                              b.integer(shape[dim]));
  Value at = b.along(b.positions(shape[dim], start), shape, dim);
  Value exists = b.compare(CompareKind::LT, at, b.integer(size, shape));
  return SelectOp::create(b.builder, b.loc, exists, value,
                          b.along(init, shape));
}

SmallVector<Value> LocalFold::run() {
  SmallVector<int64_t> left(op.getDims());
  for (int64_t dim : left)
    for (auto [value, init] : llvm::zip_equal(values, inits))
      value = masked(value, init, dim);
  while (!left.empty()) {
    // The first dimension to fold is the last sharded dimension; without
    // sharded dimensions all are folded at once.
    size_t from = left.size() - 1;
    while (from > 0 && placement.shards(left[from]) == 1)
      --from;
    SmallVector<int64_t> now(ArrayRef<int64_t>(left).drop_front(from));
    left.truncate(from);
    values = folded(now);
    int64_t dim = now.front();
    if (placement.shards(dim) == 1)
      continue;
    for (Value &value : values) {
      SmallVector<int64_t> shape(typeOf(value).getShape());
      shape.insert(shape.begin() + dim, 1);
      value = ReshapeOp::create(b.builder, b.loc, value, shape);
      value = placement.gather(b.builder, b.loc, value, dim, dim);
    }
    values = folded(dim);
  }
  return values;
}

SmallVector<Value> FoldOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  bool isUnsharded = llvm::all_of(
      getDims(), [&](int64_t dim) { return placement.shards(dim) == 1; });
  if (isUnsharded)
    return cloneWithTypes(builder, *this, operands, resultTypes);
  size_t tensors = getInputs().size();
  LocalFold fold{*this,
                 {builder, getLoc()},
                 placement,
                 SmallVector<Value>(operands.take_front(tensors)),
                 SmallVector<Value>(operands.drop_front(tensors))};
  return fold.run();
}
