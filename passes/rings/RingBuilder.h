//===- RingBuilder.h - builds products of blocks that travel ----*- C++ -*-===//

#ifndef WEFT_PASSES_RINGS_RINGBUILDER_H
#define WEFT_PASSES_RINGS_RINGBUILDER_H

#include "weft/passes/rings/RingBody.h"

namespace weft {

/// Replaces the gather and its body.
void buildGatherRing(coll::AllGatherOp gather, const RingBody &body,
                     RemovedOps &removed);
/// Replaces the reduction and its body.
void buildScatterRing(coll::ReduceScatterOp scatter, const RingBody &body,
                      RemovedOps &removed);

} // namespace weft

#endif // WEFT_PASSES_RINGS_RINGBUILDER_H
