//===- RegionPlans.cpp - moves on the mesh that a value sees --------------===//

#include "weft/passes/sharding/RegionPlans.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/passes/sharding/OpSharding.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

ReshardCache &RegionPlans::plansOf(Value value) {
  FixedLayoutsOpInterface region = freeRegionAround(value);
  if (!region)
    return fullMesh;
  SubAxes bound = boundAxes(mesh, region.getFreeAxes());
  auto known = llvm::find_if(
      within, [&](const Bound &other) { return other.axes == bound; });
  if (known != within.end())
    return known->plans;
  return within
      .emplace_back(
          Bound{bound, ReshardCache(meshWithin(mesh, bound), options)})
      .plans;
}

const ReshardPlan &RegionPlans::plan(Value value, const Layout &from,
                                     const Layout &to) {
  auto type = cast<RankedTensorType>(value.getType());
  return plan(value, type.getShape(), bytesOf(type.getElementType()), from, to);
}

const ReshardPlan &RegionPlans::plan(Value value, llvm::ArrayRef<int64_t> shape,
                                     int64_t elementBytes, const Layout &from,
                                     const Layout &to) {
  return plansOf(value).plan(shape, elementBytes, from, to);
}
