//===- RingBuilder.cpp - builds products of blocks that travel ------------===//

#include "weft/passes/rings/RingBuilder.h"

#include "weft/dialects/weft/Tensor.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/IR/IRMapping.h"

using namespace weft;
using namespace mlir;
using formulas::Tensor;

namespace {
class GatherRing : Ring {
public:
  GatherRing(coll::AllGatherOp gather,
             const RingBody &body [[clang::lifetimebound]])
      : Ring(gather), body(body), gather(gather) {}

  void build(RemovedOps &removed) {
    OpBuilder b(body.place);
    startAt(b);
    Values results =
        visitAll(b, gather.getOperation(),
                 body.outsideValues(gather.getResult()).getArrayRef(),
                 [this](OpBuilder &at, const Names &names, ValueRange blocks,
                        Value position, ValueRange results) {
                   return visit(at, names, blocks.front(), position, results);
                 });
    size_t n = 0;
    for (const BlockedOp &its : body.ops)
      if (its.isResult)
        replaceResult(b, its.op->getResult(0), results[n++]);
    removed.takeUnused(body.ops);
    removed.take(gather);
  }

private:
  /// Puts what a block gives in its place, or adds it to the sum.
  Values visit(OpBuilder &b, const Names &names, Value block, Value position,
               ValueRange results) {
    IRMapping values;
    values.map(gather.getResult(), block);
    compute(b, names, body.ops, position, values);
    Values out;
    for (const BlockedOp &its : body.ops) {
      if (!its.isResult)
        continue;
      Value whole = its.op->getResult(0), part = values.lookup(whole),
            before = results.empty() ? Value() : results[out.size()];
      if (its.resultDim >= 0) {
        auto type = cast<RankedTensorType>(whole.getType());
        if (!before)
          before = Tensor::splat(b, loc, 0, type);
        out.push_back(place(b, before, part, its.resultDim, position));
      } else {
        out.push_back(before ? Value(tensor(b, before) + tensor(b, part))
                             : part);
      }
    }
    return out;
  }

  const RingBody &body;
  coll::AllGatherOp gather;
};

class ScatterRing : Ring {
public:
  ScatterRing(coll::ReduceScatterOp scatter,
              const RingBody &body [[clang::lifetimebound]])
      : Ring(scatter.getLoc(), scatter.getGroup(),
             scatter.getResult().getType().getDimSize(scatter.getDim())),
        body(body), scatter(scatter), outside(body.outsideValues(Value())) {}

  void build(RemovedOps &removed) {
    OpBuilder b(scatter);
    scatter.getResult().replaceAllUsesWith(buildSum(b));
    removed.take(scatter);
    removed.takeUnused(body.ops);
  }

private:
  Value buildSum(OpBuilder &b) {
    startAt(b);
    Value sum; // of the devices on both sides
    if (steps.hasLast)
      sum = pass(b, summand(b, Names(), positionAt(b, devices / 2)), -1);
    if (steps.pairs) {
      // The sums of the blocks ahead move down, and of those behind move up.
      Value ahead = positionAt(b, steps.pairs),
            behind = positionAt(b, -steps.pairs);
      SmallVector<Value> state = {add(b, sum, summand(b, Names(), ahead)),
                                  summand(b, Names(), behind), ahead, behind};
      state = repeat(
          b, steps.pairs - 1, state, outside.getArrayRef(),
          [this](OpBuilder &inside, const Names &names, ValueRange carried) {
            return passOn(inside, names, carried);
          });
      Value fromBelow = pass(b, state[0], -1), fromAbove = pass(b, state[1], 1);
      Value own = summand(b, Names(), ownStart);
      return add(b, fromBelow, add(b, fromAbove, own));
    }
    return add(b, sum, summand(b, Names(), ownStart));
  }
  Value summand(OpBuilder &b, const Names &names, Value position) const {
    IRMapping values;
    compute(b, names, body.ops, position, values);
    return values.lookup(body.ops.back().op->getResult(0));
  }
  Value pass(OpBuilder &b, Value sum, int direction) const {
    return receive(b, sum, direction, why);
  }
  /// What has arrived, or nothing, and what was computed meanwhile.
  Value add(OpBuilder &b, Value arrived, Value own) const {
    if (!arrived)
      return own;
    auto sum = AddOp::create(b, loc, arrived, own);
    sum->setAttr(kApartAttr, b.getDenseI64ArrayAttr({1}));
    return sum;
  }
  SmallVector<Value> passOn(OpBuilder &b, const Names &names,
                            ValueRange state) const {
    Value fromBelow = pass(b, state[0], -1), fromAbove = pass(b, state[1], 1);
    Value ahead = moveOn(b, state[2], -1), behind = moveOn(b, state[3], 1);
    return {add(b, fromBelow, summand(b, names, ahead)),
            add(b, fromAbove, summand(b, names, behind)), ahead, behind};
  }
  const RingBody &body;
  coll::ReduceScatterOp scatter;
  StringAttr why = reasonOf(scatter);
  llvm::SetVector<Value> outside;
};
} // namespace

void weft::buildGatherRing(coll::AllGatherOp gather, const RingBody &body,
                           RemovedOps &removed) {
  GatherRing(gather, body).build(removed);
}

void weft::buildScatterRing(coll::ReduceScatterOp scatter, const RingBody &body,
                            RemovedOps &removed) {
  ScatterRing(scatter, body).build(removed);
}
