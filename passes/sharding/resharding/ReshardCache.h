//===- ReshardCache.h - plans that were made before -------------*- C++ -*-===//
//
// The layers of a model have the same reshards: 512 layers have 3,072 pairs of
// layouts, of which 6 are different.
//
//   ReshardCache cache(mesh);
//   const ReshardPlan &plan = cache.plan({128, 64}, 4, from, to);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_RESHARDING_RESHARDCACHE_H
#define WEFT_PASSES_SHARDING_RESHARDING_RESHARDCACHE_H

#include "weft/passes/sharding/resharding/Resharding.h"

#include <map>
#include <vector>

namespace weft {

/// Plans of one mesh under one set of options.
class ReshardCache {
public:
  explicit ReshardCache(const Mesh &mesh, const ReshardOptions &options = {})
      : mesh(mesh), options(options) {}

  /// The plan of planReshard; valid as long as the cache.
  const ReshardPlan &plan(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                          const Layout &from, const Layout &to);
  size_t size() const { return plans.size(); }

private:
  Mesh mesh;
  ReshardOptions options;
  /// Plans by shape, element and both layouts as numbers.
  std::map<std::vector<int64_t>, ReshardPlan> plans;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_RESHARDING_RESHARDCACHE_H
