//===- BufferShards.h - which device holds which shard of an array --------===//
//
// On a 2x2 mesh an array that is split over the second axis has two shards, each
// of which two devices hold:
//
//   for (const Shard &shard : shardsOf(buffer))
//     ...                          // {first 0, own 0}, {first 1, own 1}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_BUFFERSHARDS_H
#define WEFT_RUNTIME_DEVICES_BUFFERSHARDS_H

#include "weft/runtime/devices/Runtime.h"

#include <set>

namespace weft::runtime {

/// A shard of an array; all copies of it have the same bits.
struct Shard {
  /// The first position that holds it, and the first in this process; -1: none.
  int64_t first = -1, own = -1;
  std::set<int> ranks; ///< processes that hold it
};

/// The shards of an array, in the order of their coordinates.
std::vector<Shard> shardsOf(const weft_buffer &buffer);
inline constexpr size_t kNoShard = ~size_t(0);
/// The shard that the device at each position holds; kNoShard if it holds none.
std::vector<size_t> shardOfPosition(const weft_buffer &buffer);

/// The box of a buffer's whole global array.
Box fullBox(const weft_buffer &buffer);
/// Fails unless an array of the host has the bytes of a block.
Status checkBytes(const weft_buffer &buffer, const Box &block, const void *data,
                  size_t bytes);
/// The copy, into or out of an array of a block, of the block's elements that
/// the device at `position` holds.
BoxCopy shardCopy(const weft_buffer &buffer, int64_t position, const Box &block,
                  bool toBlock);
/// Copies a block to the host; all processes must call it.
Status readBlock(const weft_buffer &buffer, const Box &block, void *data);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_BUFFERSHARDS_H
