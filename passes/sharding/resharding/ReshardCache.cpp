//===- ReshardCache.cpp - plans that were made before ---------------------===//

#include "weft/passes/sharding/resharding/ReshardCache.h"

using namespace weft;

static void append(std::vector<int64_t> &key, llvm::ArrayRef<SubAxis> axes) {
  key.push_back(axes.size());
  for (const SubAxis &sub : axes)
    key.insert(key.end(), {static_cast<int64_t>(sub.axis), sub.skip, sub.size});
}

static void append(std::vector<int64_t> &key, const Layout &layout) {
  for (const SubAxes &axes : layout.dims)
    append(key, axes);
  append(key, layout.partial);
  key.push_back(static_cast<int64_t>(layout.reduce));
  for (auto [axis, coordinate] : layout.part)
    key.insert(key.end(), {axis, coordinate});
  key.push_back(-1); // end of the part
}

const ReshardPlan &ReshardCache::plan(llvm::ArrayRef<int64_t> shape,
                                      int64_t elementBytes, const Layout &from,
                                      const Layout &to) {
  std::vector<int64_t> key{elementBytes};
  key.reserve(64);
  key.insert(key.end(), shape.begin(), shape.end());
  key.push_back(-1); // end of the shape, as no size is negative
  append(key, from);
  append(key, to);
  auto [entry, fresh] = plans.try_emplace(std::move(key));
  if (fresh)
    entry->second = planReshard(mesh, shape, elementBytes, from, to, options);
  return entry->second;
}
