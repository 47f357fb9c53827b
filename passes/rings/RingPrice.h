//===- RingPrice.h - whether blocks should travel ---------------*- C++ -*-===//
//
// A gather of 30 us before a product of 40 us, on four devices:
//
//   as it is      30 us exposed, then 40 us of work              70 us
//   as a ring     10 us of work while the neighbours' blocks
//                 travel for 10 us, and so on                    40 us
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_RINGS_RINGPRICE_H
#define WEFT_PASSES_RINGS_RINGPRICE_H

#include "weft/passes/planning/StepClock.h"
#include "weft/passes/rings/AttentionBody.h"

namespace weft {

struct RingPrice {
  double collective, ring; ///< seconds
  /// Whether the ring is faster by what estimates cannot tell apart.
  bool pays() const;
};

/// The seconds of a gather and the products behind it. What is computed between
/// the operand and the gather can be under the gather.
RingPrice priceOfGather(const StepPrices &prices, coll::AllGatherOp gather,
                        const RingBody &body);
/// Likewise of both gathers of an attention.
RingPrice priceOfAttention(const StepPrices &prices, const AttentionBody &body);
/// The seconds of products and the reduction behind them. What is computed
/// between the reduction and its first user can be under the reduction.
RingPrice priceOfScatter(const StepPrices &prices,
                         coll::ReduceScatterOp scatter, const RingBody &body);

} // namespace weft

#endif // WEFT_PASSES_RINGS_RINGPRICE_H
