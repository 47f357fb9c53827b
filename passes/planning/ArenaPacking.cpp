//===- ArenaPacking.cpp - offsets for buffers by lifetime -----------------===//

#include "weft/passes/planning/ArenaPacking.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace weft;

/// Whether no device is in both parts.
static bool areApart(const MeshPart &a, const MeshPart &b) {
  return llvm::any_of(a, [&](const AxisCoordinate &at) {
    return fixes(b, at.axis) && !llvm::is_contained(b, at);
  });
}

static bool liveTogether(const Lifetime &a, const Lifetime &b) {
  return a.first <= b.last && b.first <= a.last && !areApart(a.part, b.part);
}

ArenaPacking weft::packArena(llvm::ArrayRef<Lifetime> lifetimes,
                             int64_t alignment) {
  ArenaPacking packing;
  packing.offsets.assign(lifetimes.size(), 0);
  llvm::SmallVector<unsigned> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });

  llvm::SmallVector<unsigned> placed; // buffers, ordered by offset
  for (unsigned index : order) {
    int64_t size = llvm::alignTo(std::max<int64_t>(lifetimes[index].bytes, 1),
                                 static_cast<uint64_t>(alignment));
    int64_t offset = 0;
    for (unsigned other : placed) {
      if (!liveTogether(lifetimes[index], lifetimes[other]))
        continue;
      if (packing.offsets[other] >= offset + size)
        break; // The gap before `other` is wide enough.
      int64_t end = packing.offsets[other] +
                    llvm::alignTo(std::max<int64_t>(lifetimes[other].bytes, 1),
                                  static_cast<uint64_t>(alignment));
      offset = std::max(offset, end);
    }
    packing.offsets[index] = offset;
    packing.bytes = std::max(packing.bytes, offset + size);
    placed.insert(llvm::upper_bound(placed, index,
                                    [&](unsigned a, unsigned b) {
                                      return packing.offsets[a] <
                                             packing.offsets[b];
                                    }),
                  index);
  }
  return packing;
}
