//===- RegionPlans.h - moves on the mesh that a value sees ------*- C++ -*-===//
//
// On "x"=4, "y"=2 a value of a region that binds "x" moves among the devices of
// its own coordinate along "x": so its plans are those of "x"=1, "y"=2. Devices
// along "x" hold different values, not copies, and cannot share the work.
//
//   RegionPlans plans(mesh);
//   plans.plan(outside, from, to)   all of the mesh
//   plans.plan(inside, from, to)    "x"=1, "y"=2
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_REGIONPLANS_H
#define WEFT_PASSES_SHARDING_REGIONPLANS_H

#include "weft/passes/sharding/FreeRegions.h"
#include "weft/passes/sharding/resharding/ReshardCache.h"

#include <list>

namespace weft {

/// Plans of a program's values, each on the mesh of its region.
class RegionPlans {
public:
  explicit RegionPlans(const Mesh &mesh, const ReshardOptions &options = {})
      : mesh(mesh), options(options), fullMesh(mesh, options) {}
  /// The plan of planReshard for a ranked tensor; valid as long as this object.
  const ReshardPlan &plan(mlir::Value value, const Layout &from,
                          const Layout &to);
  /// The plan for a tensor of another shape at the value's place.
  const ReshardPlan &plan(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                          int64_t elementBytes, const Layout &from,
                          const Layout &to);

private:
  struct Bound {
    SubAxes axes;
    ReshardCache plans;
  };
  ReshardCache &plansOf(mlir::Value value);

  Mesh mesh;
  ReshardOptions options;
  ReshardCache fullMesh;
  std::list<Bound> within;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_REGIONPLANS_H
