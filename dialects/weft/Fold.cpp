//===- Fold.cpp - reductions by a body of their own -----------------------===//
//
// The last of 7 3 | 5 1 | 4 over three devices (the body yields its right
// side): each folds its block, where padding is what the fold starts from
// (3 | 1 | 4), the three are gathered in the order of the devices and folded
// again, by the same body, on all of them: 4.
//
// Row-major order is kept. Of [2, 4] with columns over two devices,
//
//   a b | c d      one device alone cannot fold its columns to one element:
//   e f | g h      its rows come after the other's. So each folds its rows
//                  (ab, ef | cd, gh), the pairs are gathered and folded
//                  (abcd, efgh), and then the column: the fewest dimensions
//                  that hold together from the last sharded one on.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/FlowOps.h"
#include "weft/dialects/weft/FoldOps.h"
#include "weft/dialects/weft/LocalBuilder.h"
#include "weft/dialects/weft/ShapeChecks.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

#define GET_OP_CLASSES
#include "weft/dialects/weft/FoldOps.cpp.inc"

void FoldOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                   ValueRange inits, ArrayRef<int64_t> dims) {
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(
        withShape(input, withoutDims(typeOf(input).getShape(), dims)));
  build(builder, state, types, inputs, inits, dims);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult FoldOp::verify() {
  size_t tensors = getInputs().size();
  if (tensors == 0 || getInits().size() != tensors ||
      getNumResults() != tensors) // (C1)
    return emitOpError("has ")
           << tensors << " tensors, " << getInits().size() << " inits and "
           << getNumResults() << " results; give it as many of each";
  RankedTensorType first = typeOf(getInputs()[0]);
  if (failed(checkRisingDims(*this, getDims(), first.getRank()))) // (C2)
    return failure();
  for (auto [i, input, init, result] :
       llvm::enumerate(getInputs(), getInits(), getResults())) {
    RankedTensorType type = typeOf(input);
    if (type.getShape() != first.getShape()) // (C1)
      return emitOpError("tensor ") << i << " is " << type << ", but the first "
                                    << first << "; they have one shape";
    RankedTensorType start = typeOf(init);
    if (start.getRank() != 0 ||
        start.getElementType() != type.getElementType()) // (C3)
      return emitOpError("init ")
             << i << " is " << start << ", not a scalar of "
             << type.getElementType();
    if (typeOf(result).getElementType() != type.getElementType()) // (C3)
      return emitOpError("result ")
             << i << " is " << typeOf(result)
             << ", but its tensor has elements " << type.getElementType();
    if (failed(checkShape(*this, withoutDims(type.getShape(), getDims()),
                          i))) // (C3)
      return failure();
  }
  return success();
}

LogicalResult FoldOp::verifyRegions() {
  SmallVector<Type> scalars;
  for (Value input : getInputs())
    scalars.push_back(withShape(input, {}));
  SmallVector<Type> both(scalars);
  both.append(scalars);
  Block &block = getBody().front();
  if (block.getArgumentTypes() != TypeRange(both)) // (C4)
    return emitOpError("the region takes ")
           << block.getArgumentTypes() << ", but should take " << both;
  Operation *end = block.getTerminator();
  if (!isa<YieldOp>(end) ||
      end->getOperandTypes() != TypeRange(scalars)) // (C4)
    return emitOpError("the region ends with '")
           << end->getName() << "' of " << end->getOperandTypes()
           << ", but should end with 'weft.yield' of " << scalars;
  for (Operation &op : block.without_terminator()) {
    bool elementwise =
        op.hasTrait<OpTrait::Elementwise>() && op.getNumResults() == 1;
    if (!elementwise && !isa<ConstantOp>(op)) // (C5)
      return op.emitOpError("stands in a fold, which holds elementwise ops and "
                            "constants only");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

ShardingRule FoldOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input, result;
  for (auto [dim, size] : llvm::enumerate(typeOf(getInputs()[0]).getShape())) {
    bool folded = llvm::is_contained(getDims(), static_cast<int64_t>(dim));
    Factor factor{size, folded ? FactorKind::Select : FactorKind::Pass};
    factor.ownsPadding = true;
    rule.factors.push_back(factor);
    input.push_back({static_cast<unsigned>(dim)});
    if (!folded)
      result.push_back(input.back());
  }
  rule.operands.assign(getInputs().size(), input);
  rule.operands.append(getInits().size(), TensorFactors());
  rule.results.assign(getNumResults(), result);
  return rule;
}

namespace {
/// A fold whose dimensions lie over several devices. Its factors are the
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

/// The same fold of what the values are now.
SmallVector<Value> LocalFold::folded(ArrayRef<int64_t> dims) {
  auto fold = FoldOp::create(b.builder, b.loc, values, inits, dims);
  IRMapping mapping;
  op.getBody().cloneInto(&fold.getBody(), mapping);
  return SmallVector<Value>(fold.getResults());
}

/// What lies behind the dimension's end is what the fold starts from.
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
    // From the last sharded dimension on; all if there is none.
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
      value = placement.gatherParts(b.builder, b.loc, value, dim, dim);
    }
    values = folded(dim);
  }
  return values;
}

SmallVector<Value> FoldOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  bool whole = llvm::all_of(
      getDims(), [&](int64_t dim) { return placement.shards(dim) == 1; });
  if (whole)
    return cloneWithTypes(builder, *this, operands, resultTypes);
  size_t tensors = getInputs().size();
  LocalFold fold{*this,
                 {builder, getLoc()},
                 placement,
                 SmallVector<Value>(operands.take_front(tensors)),
                 SmallVector<Value>(operands.drop_front(tensors))};
  return fold.run();
}
