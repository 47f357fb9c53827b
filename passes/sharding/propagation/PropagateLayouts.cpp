//===- PropagateLayouts.cpp - layouts in types, movements explicit --------===//

#include "weft/dialects/weft/LayoutPrice.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/propagation/Annotations.h"
#include "weft/passes/sharding/propagation/LayoutAssignment.h"
#include "weft/passes/sharding/propagation/LayoutPropagation.h"
#include "weft/passes/sharding/propagation/LayoutSearch.h"

#include "mlir/Transforms/RegionUtils.h"

#include <algorithm>
#include <cmath>

namespace weft {
#define GEN_PASS_DEF_PROPAGATELAYOUTSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// The module's mesh; if there is none, it gets a mesh of one device.
static MeshAttr meshOf(ModuleOp module) {
  if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr))
    return mesh;
  Mesh single;
  single.axes.push_back({"device", 1});
  auto mesh = MeshAttr::get(module.getContext(), single);
  module->setAttr(kMeshAttr, mesh);
  return mesh;
}

/// Checks that an op with a rule uses tensors as operands only: its rule does
/// not cover captured ones.
static LogicalResult checkCaptures(Operation &op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  for (Value value : captured)
    if (isa<RankedTensorType>(value.getType()))
      return op.emitError("the region uses ")
             << value.getType() << " from outside, which no layout reaches; "
             << "make it an operand";
  return success();
}

/// Checks that regions have one block and shapes are static, and that ops with
/// regions pass values on, have a rule or state their layouts.
static LogicalResult checkOp(Operation &op) {
  for (Type type : op.getResultTypes())
    if (auto tensor = dyn_cast<TensorType>(type))
      if (!tensor.hasStaticShape())
        return op.emitError("layouts need static shapes, this is ") << type;
  if (isa<ShardingRuleOpInterface>(op))
    return checkCaptures(op);
  bool free = freeRegionOf(&op) != nullptr;
  if (op.getNumRegions() == 0 || (!free && isa<FixedLayoutsOpInterface>(op)))
    return success();
  if (!free && !hasRegionFlow(&op))
    return op.emitError("an op with regions has no sharding rule; let it "
                        "implement RegionBranchOpInterface, or flatten it "
                        "before layouts are propagated");
  for (Region &region : op.getRegions()) {
    if (!region.hasOneBlock())
      return op.emitError("region ")
             << region.getRegionNumber() << " has " << region.getBlocks().size()
             << " blocks; layouts need one";
    for (Operation &inner : region.front())
      if (failed(checkOp(inner)))
        return failure();
  }
  return success();
}

static LogicalResult checkFlat(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError() << "@" << function.getName() << " has "
                                << function.getBody().getBlocks().size()
                                << " blocks; layouts need one";
  for (Operation &op : function.getBody().front())
    if (failed(checkOp(op)))
      return failure();
  return success();
}

/// The bytes that the fastest link moves in the time between price and bound.
static int64_t mostSaved(const Mesh &mesh, const LayoutSearch::Proof &proof) {
  double bandwidth = 0;
  for (const MeshAxis &axis : mesh.axes)
    bandwidth = std::max(bandwidth, axis.bandwidth);
  double bytes = double(proof.price - proof.bound) * 1e-12 * bandwidth;
  return int64_t(std::ceil(std::clamp(bytes, 0.0, 0x1p62)));
}

namespace {
struct PropagateLayouts
    : weft::impl::PropagateLayoutsPassBase<PropagateLayouts> {
  using PropagateLayoutsPassBase::PropagateLayoutsPassBase;

  void runOnOperation() override {
    MeshAttr mesh = meshOf(getOperation());
    const TargetRates *rates = ratesOf(target);
    if (!rates) {
      (void)emitUnknownTarget(getOperation(), target);
      return signalPassFailure();
    }
    int64_t memoryWeight = 0;
    if (Attribute stated = getOperation()->removeAttr(kMemoryWeightAttr)) {
      auto weight = dyn_cast<IntegerAttr>(stated);
      if (!weight || !weight.getType().isInteger(64) || weight.getInt() < 0) {
        getOperation().emitError()
            << kMemoryWeightAttr << " is " << stated
            << "; write 1024ths of a moved byte as 256 : i64";
        return signalPassFailure();
      }
      memoryWeight = weight.getInt();
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (failed(checkFlat(function)))
        return signalPassFailure();
      LayoutTable table(function, mesh, *rates);
      if (failed(Annotations(table).enter()))
        return signalPassFailure();
      LayoutPropagation(table).run();
      LayoutSearch search(table);
      search.weighMemory(memoryWeight);
      std::vector<OpSharding> shardings = search.run();
      numConflicts += search.conflicts();
      Builder builder(&getContext());
      if (auto proof = search.proof())
        function->setAttr(
            kLayoutPriceAttr,
            builder.getDenseI64ArrayAttr(
                {proof->price, proof->bound, mostSaved(table.mesh(), *proof)}));
      else if (search.isUnproved())
        function->setAttr(kLayoutPriceAttr, builder.getDenseI64ArrayAttr({}));
      LayoutAssignment assignment(function, table, std::move(shardings));
      assignment.run();
      numReshards += assignment.reshards();
    }
  }
};
} // namespace
