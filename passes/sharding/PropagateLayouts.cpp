//===- PropagateLayouts.cpp - layouts in types, movements explicit --------===//

#include "weft/passes/sharding/LayoutAssignment.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/SettleConflicts.h"

namespace weft {
#define GEN_PASS_DEF_PROPAGATELAYOUTSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// The module's mesh; one device where there is none.
static MeshAttr meshOf(ModuleOp module) {
  if (auto mesh = module->getAttrOfType<MeshAttr>("weft.mesh"))
    return mesh;
  Mesh single;
  single.axes.push_back({"device", 1});
  auto mesh = MeshAttr::get(module.getContext(), single);
  module->setAttr("weft.mesh", mesh);
  return mesh;
}

static LogicalResult checkFlat(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError() << "@" << function.getName() << " has "
                                << function.getBody().getBlocks().size()
                                << " blocks; layouts need one";
  for (Operation &op : function.getBody().front()) {
    if (op.getNumRegions() != 0)
      return op.emitError("an op with regions has no sharding rule; flatten it "
                          "before layouts are propagated");
    for (Type type : op.getResultTypes())
      if (auto tensor = dyn_cast<ShapedType>(type))
        if (!tensor.hasStaticShape())
          return op.emitError("layouts need static shapes, this is ") << type;
  }
  return success();
}

namespace {
struct PropagateLayouts
    : weft::impl::PropagateLayoutsPassBase<PropagateLayouts> {
  void runOnOperation() override {
    MeshAttr mesh = meshOf(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      LayoutTable table(function, mesh);
      if (failed(checkFlat(function)) || failed(table.seed()))
        return signalPassFailure();
      table.propagate();
      ConflictSettler settler(table);
      settler.run();
      numConflicts += settler.conflicts();
      LayoutAssignment assignment(function, table, settler.takeShardings());
      assignment.run();
      numReshards += assignment.reshards();
    }
  }
};
} // namespace
