//===- Register.cpp - dialects and passes for an embedder -----------------===//

#include "weft/compiler/Register.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/stages/Pipeline.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/foreign/ForeignRules.h"
#include "weft/dialects/host/Host.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/passes/foreign/Passes.h"
#include "weft/passes/kernels/Passes.h"
#include "weft/passes/nests/Passes.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/training/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"

void weft::registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<WeftDialect, coll::CollDialect, host::HostDialect,
              nest::NestDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  elements::registerElementCode(registry);
}

void weft::registerAll(mlir::DialectRegistry &registry) {
  registerAllDialects(registry);
  registerForeignRules(registry);
}

void weft::registerAllPasses() {
  registerWeftTrainingPasses();
  registerWeftShardingPasses();
  registerWeftKernelPasses();
  registerWeftNestPasses();
  registerWeftPlanningPasses();
  registerWeftForeignPasses();
  registerPipelines();
}
