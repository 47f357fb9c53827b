//===- StrategyLayouts.h - layouts as annotated, not solved -----*- C++ -*-===//
//
//   pm.addPass(std::make_unique<FollowAnnotations>());
//
// A test of a strategy wants the layouts that it states, also where the solver
// knows others that send less or take less time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_STRATEGYLAYOUTS_H
#define WEFT_TEST_UNIT_STRATEGYLAYOUTS_H

#include "weft/passes/sharding/propagation/Annotations.h"
#include "weft/passes/sharding/propagation/ConflictResolution.h"
#include "weft/passes/sharding/propagation/LayoutAssignment.h"
#include "weft/passes/sharding/propagation/LayoutPropagation.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft::strategies {

/// Lays out the functions of a module with a mesh as annotations and propagation
/// say, and gives each op the cheapest sharding for these layouts.
struct FollowAnnotations
    : mlir::PassWrapper<FollowAnnotations,
                        mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FollowAnnotations)

  void runOnOperation() override {
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    for (auto function : getOperation().getOps<mlir::func::FuncOp>()) {
      LayoutTable table(function, mesh);
      if (failed(Annotations(table).enter()))
        return signalPassFailure();
      LayoutPropagation(table).run();
      ConflictResolution choice(table);
      choice.chooseAll();
      LayoutAssignment(function, table, choice.shardings()).run();
    }
  }
};

} // namespace weft::strategies

#endif // WEFT_TEST_UNIT_STRATEGYLAYOUTS_H
