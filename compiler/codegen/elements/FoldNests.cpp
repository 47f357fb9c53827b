//===- FoldNests.cpp - reductions by a body -------------------------------===//
//
//   weft.fold %x, %y from %a, %b dims [1]     for i in 4
//                                               p = a, q = b
//                                               for j in 8
//                                                 p, q = body(p, q, x[i,j], y[i,j])
//                                               r[i] = p, s[i] = q
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/ops/FoldOps.h"

using namespace mlir;

namespace weft::elements {

/// The scalars that a body yields.
static FailureOr<SmallVector<Value>>
emitBody(ElementEmitter &e, Block &body, ValueRange left, ValueRange right) {
  llvm::DenseMap<Value, Value> known;
  for (auto [argument, value] : llvm::zip_equal(
           body.getArguments(), llvm::concat<Value>(SmallVector<Value>(left),
                                                    SmallVector<Value>(right))))
    known[argument] = value;
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> operands = llvm::map_to_vector(
        op.getOperands(), [&](Value value) { return known.lookup(value); });
    FailureOr<Value> value =
        isa<ConstantOp>(op)
            ? e.element(op.getResult(0), e.makeIndex({}, e.depth()))
            : emitScalarOp(e.builder, &op, operands);
    if (failed(value))
      return failure();
    e.enterDepth(e.depth());
    known[op.getResult(0)] = *value;
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return known.lookup(value); });
}

static FailureOr<SmallVector<Value>>
elementsOf(ElementEmitter &e, ValueRange tensors, ArrayRef<Value> position) {
  SmallVector<Value> values;
  for (Value tensor : tensors) {
    FailureOr<Value> value =
        e.element(tensor, e.makeIndex(position, e.depth()));
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  e.enterDepth(e.depth());
  return values;
}

LogicalResult emitFold(ElementEmitter &e, FoldOp op) {
  RankedTensorType from = typeOf(op.getInputs()[0]),
                   to = typeOf(op.getResult(0));
  SmallVector<Value> position(from.getRank()), kept;
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (!llvm::is_contained(op.getDims(), dim)) {
      position[dim] = e.openSharedLoop(kept.size(), from.getDimSize(dim));
      kept.push_back(position[dim]);
    }
  unsigned outer = e.depth();
  FailureOr<SmallVector<Value>> sums = elementsOf(e, op.getInits(), {});
  if (failed(sums))
    return failure();
  auto sizes = llvm::map_to_vector(
      op.getDims(), [&](int64_t dim) { return from.getDimSize(dim); });
  sums = e.loops(
      sizes, *sums,
      [&](ValueRange at, ValueRange before) -> FailureOr<SmallVector<Value>> {
        for (auto [dim, i] : llvm::zip_equal(op.getDims(), at))
          position[dim] = i;
        FailureOr<SmallVector<Value>> values =
            elementsOf(e, op.getInputs(), position);
        if (failed(values))
          return failure();
        return emitBody(e, op.getBody().front(), before, *values);
      });
  if (failed(sums))
    return failure();
  Value linear = e.linearIndex(to.getShape(), e.makeIndex(kept, outer));
  for (auto [sum, result] : llvm::zip_equal(*sums, op.getResults()))
    e.store(sum, e.memoryOf(result), typeOf(result).getElementType(), linear);
  return success();
}

} // namespace weft::elements
