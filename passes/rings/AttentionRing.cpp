//===- AttentionRing.cpp - attention while keys and values travel ---------===//
//
// With a block of keys k and of values v, where m is the greatest score that a
// row has seen, l its sum of exponentials and o its sum of values:
//
//   s = q k^T
//   m' = max(m, the greatest of s)
//   e = exp(s - m'),  c = exp(m - m')
//   l' = l c + the sum of e
//   o' = o c + e v
//
// and o / l in the end. A row of which all scores are -inf so far subtracts 0.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/rings/AttentionBody.h"
#include "weft/passes/rings/Ring.h"

using namespace weft;
using namespace mlir;
using formulas::kInfinity;
using formulas::Tensor;

namespace {
class AttentionRing : Ring {
public:
  explicit AttentionRing(const AttentionBody &body [[clang::lifetimebound]])
      : Ring(body.keys), body(body) {}

  void build(RemovedOps &removed);

private:
  /// Returns the maximum, the sum and the result of the blocks that were seen.
  Values visit(OpBuilder &b, const Names &names, ValueRange blocks,
               Value position, ValueRange seen) const;
  /// What is subtracted for this maximum.
  Value shiftOf(OpBuilder &b, const Names &names, Value maximum) const;
  /// Rows in the shape of the result.
  Value spread(OpBuilder &b, Value rows, RankedTensorType type) const;
  Value blockLike(OpBuilder &b, Operation *op, ValueRange operands) const {
    Type type = withSize(op->getResult(0).getType(), body.scoreDim, size);
    return cloneWithTypes(b, op, operands, type).front();
  }

  const AttentionBody &body;
};
} // namespace

Value AttentionRing::shiftOf(OpBuilder &b, const Names &names,
                             Value maximum) const {
  IRMapping rows(names);
  Value row = body.maximum->getResult(0);
  rows.map(row, maximum);
  for (Operation *op : body.shift) {
    b.clone(*op, rows);
    row = op->getResult(0);
  }
  return rows.lookup(row);
}

Value AttentionRing::spread(OpBuilder &b, Value rows,
                            RankedTensorType type) const {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, body.rowDims.size()));
  llvm::sort(order, [&](int64_t x, int64_t y) {
    return body.rowDims[x] < body.rowDims[y];
  });
  if (!llvm::is_sorted(order))
    rows = TransposeOp::create(b, loc, rows, order);
  SmallVector<int64_t> dims = body.rowDims;
  llvm::sort(dims);
  Tensor spread =
      tensor(b, BroadcastOp::create(b, loc, rows, type.getShape(), dims));
  Type element = type.getElementType();
  return spread.elementType() == element ? spread : spread.convert(element);
}

Ring::Values AttentionRing::visit(OpBuilder &b, const Names &names,
                                  ValueRange blocks, Value position,
                                  ValueRange seen) const {
  IRMapping values;
  coll::AllGatherOp keys = body.keys, gathered = body.values;
  values.map(keys.getResult(), blocks[0]);
  values.map(gathered.getResult(), blocks[1]);
  compute(b, names, body.scores.ops, position, values);
  Value scores = values.lookup(body.score());
  Tensor maximum =
      tensor(b, cloneWithTypes(b, body.maximum, scores,
                               body.maximum->getResult(0).getType())
                    .front());
  if (!seen.empty()) {
    // Scores of the block before are not in memory any more.
    auto greater = MaxOp::create(b, loc, seen[0], maximum);
    greater->setAttr(kApartAttr, b.getDenseI64ArrayAttr({0}));
    maximum = tensor(b, greater);
  }
  Tensor shift = tensor(b, shiftOf(b, names, maximum));
  shift = select(shift.compare(CompareKind::EQ, -kInfinity), 0.0, shift);
  Value difference =
      blockLike(b, body.difference,
                {scores, blockLike(b, body.shiftBroadcast, shift.get())});
  Value exponentials = blockLike(b, body.exponentials, difference);
  auto row = cast<RankedTensorType>(body.sum->getResult(0).getType());
  Tensor sum =
      tensor(b, cloneWithTypes(b, body.sum, exponentials,
                               row.clone(elementOfSum(row.getElementType())))
                    .front());
  values.map(body.exponentials->getResult(0), exponentials);
  values.map(body.division->getResult(0), exponentials);
  compute(b, names, body.weighted.ops, position, values);
  Tensor result = tensor(b, values.lookup(body.result()));
  if (seen.empty())
    return {maximum, sum, result};
  Tensor before = tensor(b, seen[0]);
  Tensor less = tensor(b, shiftOf(b, names, before)) - shift;
  Tensor scale = select(before.compare(CompareKind::EQ, -kInfinity), 0.0,
                        less.make<ExpOp>());
  if (scale.elementType() != sum.elementType())
    scale = scale.convert(sum.elementType());
  Tensor spreadScale = tensor(b, spread(b, scale, result.type()));
  return {maximum, tensor(b, seen[1]) * scale + sum,
          tensor(b, seen[2]) * spreadScale + result};
}

void AttentionRing::build(RemovedOps &removed) {
  OpBuilder b(body.place);
  startAt(b);
  coll::AllGatherOp keys = body.keys, gathered = body.values;
  Values seen =
      visitAll(b, {keys, gathered}, body.outsideValues().getArrayRef(),
               [this](OpBuilder &at, const Names &names, ValueRange blocks,
                      Value position, ValueRange results) {
                 return visit(at, names, blocks, position, results);
               });
  Tensor result = tensor(b, seen[2]);
  replaceResult(b, body.result(),
                result / tensor(b, spread(b, seen[1], result.type())));
  removed.takeUnused(body.weighted.ops);
  for (Operation *op :
       {body.division, body.sumBroadcast, body.sum, body.exponentials,
        body.difference, body.shiftBroadcast})
    removed.take(op);
  for (Operation *op : llvm::reverse(body.shift))
    removed.take(op);
  removed.take(body.maximum);
  removed.takeUnused(body.scores.ops);
  removed.take(gathered);
  removed.take(keys);
}

void weft::buildAttentionRing(const AttentionBody &body, RemovedOps &removed) {
  AttentionRing(body).build(removed);
}
