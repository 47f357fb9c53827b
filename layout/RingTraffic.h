//===- RingTraffic.h - bytes that a ring of devices sends -------*- C++ -*-===//
//
// Bytes that one of p devices sends in one collective over a ring. The devices
// hold shards of ceil(n / p) elements, which are sent with their padding:
//
//   all_reduce      2(p-1)/p of the local array, rounded up once
//   all_gather      p-1 shards: (p-1) times the operand
//   reduce_scatter  p-1 shards: (p-1) times the result
//   all_to_all      (p-1)/p of the larger local array, rounded up once
//
// An all_reduce of 4 bytes over p=3 sends ceil(16/3) = 6; a gather of 7 floats
// from shards of 4 and 3 sends 16. The formulas are those of the ring algorithm
// (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of
// workstations, 2009; doc/PERFORMANCE.md of NVIDIA's nccl-tests).
//
// `weft explain` predicts by these formulas and the runtime counts by them; the
// test ring-traffic-test compares both with runs for all small sizes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_RINGTRAFFIC_H
#define WEFT_LAYOUT_RINGTRAFFIC_H

#include <cstdint>

namespace weft {

enum class RingKind { AllReduce, AllGather, ReduceScatter, AllToAll };

/// Requires p >= 1. `before` and `after` are the bytes of one device's operands
/// and results. INT64_MAX where the number is larger.
int64_t ringBytes(RingKind kind, int64_t p, int64_t before, int64_t after);

} // namespace weft

#endif // WEFT_LAYOUT_RINGTRAFFIC_H
