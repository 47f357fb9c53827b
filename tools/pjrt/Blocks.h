//===- Blocks.h - memory of arrays ------------------------------*- C++ -*-===//
//
// Blocks of 32 MiB and more, which malloc maps anew at each request, are kept
// for the next request of their size: pages that are touched for the first time
// take longer than most programs (51 MB: 15 ms, of a scatter-add of 18 ms). At
// most 256 MiB are kept, the last ones freed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_BLOCKS_H
#define WEFT_TOOLS_PJRT_BLOCKS_H

#include <cstddef>

namespace weft::pjrt {

/// Memory of `bytes` bytes, aligned to 64, whose contents are anything; null if
/// there is none, after kept blocks were freed.
void *takeBlock(size_t bytes);
/// Frees a block, or keeps it; `bytes` are those with which it was taken.
void giveBlock(void *block, size_t bytes);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_BLOCKS_H
