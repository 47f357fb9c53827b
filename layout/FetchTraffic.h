//===- FetchTraffic.h - positions that members of a group send --*- C++ -*-===//
//
// A `coll.fetch` names the positions that each member receives by one formula.
// Members hold blocks of ceil(size / members) positions; a position is sent
// once for each result of another member that names it. 8 positions over 2
// members, halos of one:
//
//   {size 8, block 4, step 1, offset -1, divisor 1, modulus 0}, 6 results:
//     member 0 receives -1..4, of which member 1 sends 4
//     member 1 receives 3..8, of which member 0 sends 3
//
// so that the busiest member sends one position.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_FETCHTRAFFIC_H
#define WEFT_LAYOUT_FETCHTRAFFIC_H

#include <cstdint>

namespace weft {

/// Result t of member k is the position q in [0, size) with
/// divisor * q == block * k + step * t + offset (mod modulus, if not 0).
struct FetchedPositions {
  int64_t size, block, step, offset, divisor, modulus;
};

/// Positions that the busiest member sends if each member receives `count`.
/// Requires members >= 1, count >= 0, divisor >= 1, modulus >= 0. The time
/// grows with the members and the blocks that each receives from, not with
/// `count`, unless positions wrap around many times.
int64_t mostPositionsSent(const FetchedPositions &fetched, int64_t members,
                          int64_t count);

} // namespace weft

#endif // WEFT_LAYOUT_FETCHTRAFFIC_H
