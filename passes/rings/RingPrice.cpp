//===- RingPrice.cpp - whether blocks should travel -----------------------===//

#include "weft/passes/rings/RingPrice.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/passes/planning/OverlapGraph.h"
#include "weft/passes/rings/Ring.h"

using namespace weft;
using namespace mlir;

/// The part of the time that a ring has to save.
static constexpr double kLeastGain = 0.05;

bool RingPrice::pays() const { return ring < collective * (1 - kLeastGain); }

/// The seconds of the ops of a block from one to another, without communication.
static double secondsBetween(const StepPrices &prices, Operation *from,
                             Operation *to) {
  double work = 0;
  for (Operation *op = from; op && op != to; op = op->getNextNode())
    work += workOf(op);
  return prices.ofWork(work);
}

namespace {
/// Collectives and products in both forms.
struct Forms {
  const StepPrices &prices;
  SubAxes links;
  RingSteps steps;
  double work = 0;       ///< seconds of all blocks
  double hop = 0;        ///< seconds of a block to the neighbour
  double collective = 0; ///< seconds of the collectives

  Forms(const StepPrices &prices [[clang::lifetimebound]], LayoutAttr group)
      : prices(prices), links(coll::groupAxes(group)),
        steps(coll::groupSize(group)) {}
  void add(plan::PlanInstructionOpInterface op, RankedTensorType block) {
    hop += prices.ofSending(bufferBytes(block), links);
    collective += prices.ofSending(op.getBytesSent(), links);
  }
  void add(const RingBody &body) {
    for (const BlockedOp &its : body.ops)
      work += prices.ofWork(workOf(its.op));
  }
  /// A block at a time: each launch takes about as long as a message.
  double ofBlock() const {
    return work / double(steps.devices) + prices.ofSending(0, links);
  }
  /// Both neighbours' blocks travel over the same links.
  double ofRing() const {
    StepClock clock;
    auto axes = axisNumbers(links);
    auto round = [&](int blocks, int moved) {
      double end = clock.now();
      for (int n = 0; n < moved; ++n)
        end = clock.send(axes, hop);
      clock.compute(blocks * ofBlock());
      clock.wait(end);
    };
    round(1, steps.pairs ? 2 : int(steps.hasLast));
    for (int64_t n = 1; n < steps.pairs; ++n)
      round(2, 2);
    if (steps.pairs)
      round(2, int(steps.hasLast));
    if (steps.hasLast)
      round(1, 0);
    return clock.now();
  }
  RingPrice price(double hidden) const {
    return {work + std::max(0.0, collective - hidden), ofRing()};
  }
};
} // namespace

/// The seconds of what is computed after a gather's operand.
static double hiddenBy(const StepPrices &prices, coll::AllGatherOp gather,
                       Operation *place) {
  Operation *made = gather.getInput().getDefiningOp();
  Operation *from = made && made->getBlock() == gather->getBlock()
                        ? made->getNextNode()
                        : &gather->getBlock()->front();
  return secondsBetween(prices, from, place);
}

RingPrice weft::priceOfGather(const StepPrices &prices,
                              coll::AllGatherOp gather, const RingBody &body) {
  Forms forms(prices, gather.getGroup());
  forms.add(gather, gather.getInput().getType());
  forms.add(body);
  return forms.price(hiddenBy(prices, gather, body.place));
}

RingPrice weft::priceOfAttention(const StepPrices &prices,
                                 const AttentionBody &body) {
  coll::AllGatherOp keys = body.keys, values = body.values;
  Forms forms(prices, keys.getGroup());
  forms.add(keys, keys.getInput().getType());
  forms.add(values, values.getInput().getType());
  forms.add(body.scores);
  forms.add(body.weighted);
  return forms.price(hiddenBy(prices, keys, body.scores.ops.front().op));
}

RingPrice weft::priceOfScatter(const StepPrices &prices,
                               coll::ReduceScatterOp scatter,
                               const RingBody &body) {
  Forms forms(prices, scatter.getGroup());
  forms.add(scatter, scatter.getResult().getType());
  forms.add(body);
  Operation *first = firstUser(scatter.getResult(), *scatter->getBlock());
  return forms.price(secondsBetween(prices, scatter, first));
}
