//===- ArenaPacking.h - offsets for buffers by lifetime ---------*- C++ -*-===//
//
// Worked example: a [0, 2] of 64 bytes, b [1, 3] of 64, c [3, 4] of 64. a and b
// are live at the same time; c may reuse a's memory:
//
//   a at 0, b at 64, c at 0: an arena of 128 bytes
//
// Buffers of parts of the mesh without a common device are never live on one
// device together.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_ARENAPACKING_H
#define WEFT_PASSES_PLANNING_ARENAPACKING_H

#include "weft/layout/MeshPart.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace weft {

/// Bytes that are live from instruction `first` to instruction `last`, both
/// included, on the devices of a part of the mesh.
struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
  MeshPart part = {};
};

struct ArenaPacking {
  llvm::SmallVector<int64_t> offsets; ///< aligned offset of each lifetime
  int64_t bytes = 0;                  ///< size of the arena
};

/// Places larger buffers first, each at the lowest aligned offset that no
/// buffer with an overlapping lifetime uses. Deterministic.
ArenaPacking packArena(llvm::ArrayRef<Lifetime> lifetimes,
                       int64_t alignment = 64);

} // namespace weft

#endif // WEFT_PASSES_PLANNING_ARENAPACKING_H
