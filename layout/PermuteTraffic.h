//===- PermuteTraffic.h - bytes that a permute of members sends -*- C++ -*-===//
//
//   permuteBytes({3, 0, 1, 2}, 64)      64: each member sends to one member
//   permuteBytes({0, 0, 0, 0}, 64)     192: member 0 sends to three others
//   permuteBytes({0, -1, 2}, 64)         0: members 0 and 2 keep their values
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_PERMUTETRAFFIC_H
#define WEFT_LAYOUT_PERMUTETRAFFIC_H

#include <cstdint>
#include <span>

namespace weft {

/// The bytes that the busiest member of a group sends to others, where member k
/// receives `bytes` bytes from member sources[k], or nothing if that is -1.
/// INT64_MAX where the number is larger.
int64_t permuteBytes(std::span<const int64_t> sources, int64_t bytes);

} // namespace weft

#endif // WEFT_LAYOUT_PERMUTETRAFFIC_H
