//===- Register.cpp - dialects and passes for an embedder -----------------===//

#include "weft/compiler/Register.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/stages/Pipeline.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/host/Host.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/passes/collectives/Passes.h"
#include "weft/passes/kernels/Passes.h"
#include "weft/passes/nests/Passes.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/rings/Passes.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/training/Passes.h"
#include "weft/passes/upstream/Passes.h"
#include "weft/passes/upstream/UpstreamRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MPI/IR/MPI.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"

void weft::registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<WeftDialect, coll::CollDialect, host::HostDialect,
              nest::NestDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  elements::registerElementCode(registry);
}

void weft::registerAll(mlir::DialectRegistry &registry) {
  registerAllDialects(registry);
  registerUpstreamRules(registry);
}

void weft::registerUpstreamDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect,
                  mlir::bufferization::BufferizationDialect,
                  mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::mpi::MPIDialect, mlir::scf::SCFDialect,
                  mlir::shard::ShardDialect, mlir::tensor::TensorDialect,
                  mlir::tosa::TosaDialect, mlir::vector::VectorDialect>();
}

void weft::registerAllPasses() {
  registerWeftTrainingPasses();
  registerWeftCollectivePasses();
  registerWeftShardingPasses();
  registerWeftKernelPasses();
  registerWeftNestPasses();
  registerWeftPlanningPasses();
  registerWeftRingPasses();
  registerWeftUpstreamPasses();
  registerPipelines();
}
