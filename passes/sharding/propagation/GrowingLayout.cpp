//===- GrowingLayout.cpp - a layout that only grows -----------------------===//

#include "weft/passes/sharding/propagation/GrowingLayout.h"

using namespace weft;

bool GrowingLayout::saysNothing() const {
  uint64_t all = layout.dims.size() >= 64
                     ? ~uint64_t(0)
                     : (uint64_t(1) << layout.dims.size()) - 1;
  return !fixed || (layout.isReplicated() && (open & all) == all);
}

bool GrowingLayout::isBarred(const SubAxis &axis) const {
  auto clashes = [&](const SubAxis &x) { return overlaps(x, axis); };
  return llvm::any_of(forbiddenAxes, clashes) ||
         llvm::any_of(layout.dims, [&](const SubAxes &dim) {
           return llvm::any_of(dim, clashes);
         });
}

bool GrowingLayout::staysFull(unsigned dim, const SubAxis &axis) const {
  return mustDivide.empty() ||
         mustDivide[dim] % (shardCount(layout.dims[dim]) * axis.size) == 0;
}

bool GrowingLayout::extend(const Layout &more) {
  bool changed = false;
  for (auto [dim, other] : llvm::enumerate(onPart(more, layout.part).dims)) {
    SubAxes &mine = layout.dims[dim];
    if (!isOpen(dim) || other.size() <= mine.size() ||
        !std::equal(mine.begin(), mine.end(), other.begin()))
      continue;
    for (const SubAxis &axis : llvm::drop_begin(other, mine.size())) {
      if (isBarred(axis) || !staysFull(dim, axis))
        break;
      mine.push_back(axis);
      changed = true;
    }
  }
  return changed;
}
