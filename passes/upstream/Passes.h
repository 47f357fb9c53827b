//===- Passes.h - to and from upstream's dialects ---------------*- C++ -*-===//

#ifndef WEFT_PASSES_UPSTREAM_PASSES_H
#define WEFT_PASSES_UPSTREAM_PASSES_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MPI/IR/MPI.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "weft/passes/upstream/Passes.h.inc"

/// Patterns that convert ops of `coll` on tensors to ops of upstream's `mpi` on
/// memrefs, with bufferization's casts between; the rank is the position in the
/// mesh.
void populateCollToMpiPatterns(mlir::RewritePatternSet &patterns);

} // namespace weft

#endif // WEFT_PASSES_UPSTREAM_PASSES_H
