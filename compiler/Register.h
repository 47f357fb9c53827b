//===- Register.h - dialects and passes for an embedder ---------*- C++ -*-===//

#ifndef WEFT_COMPILER_REGISTER_H
#define WEFT_COMPILER_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {
/// Registers Weft's dialects (weft, coll, host, nest and plan), the code of
/// their elements, and func.
void registerAllDialects(mlir::DialectRegistry &registry);
/// Registers the dialects of registerAllDialects(), and sharding rules for ops
/// of linalg, arith, math, tensor and tosa (passes/upstream/UpstreamRules.h),
/// if these dialects are registered too.
void registerAll(mlir::DialectRegistry &registry);
/// Registers upstream's dialects that Weft has rules for or lowers to: arith,
/// bufferization, func, linalg, math, memref, mpi, scf, shard, tensor, tosa and
/// vector.
void registerUpstreamDialects(mlir::DialectRegistry &registry);
/// Registers every pass but those of compiler/codegen/Passes.h, and the pipeline
/// `weft-pipeline`.
void registerAllPasses();
} // namespace weft

#endif // WEFT_COMPILER_REGISTER_H
