//===- RingTraffic.h - bytes that a ring of devices sends -------*- C++ -*-===//
//
// The formulas of dialects/weft/RingTraffic.h for an instruction of a plan.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_RINGTRAFFIC_H
#define WEFT_RUNTIME_COLLECTIVES_RINGTRAFFIC_H

#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// Bytes that one device sends in an all_reduce, all_gather, reduce_scatter or
/// all_to_all of all operands together.
uint64_t ringBytes(const Collective &collective);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_RINGTRAFFIC_H
