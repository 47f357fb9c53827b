//===- Passes.td - to and from upstream's dialects ---------------------------//

#ifndef WEFT_PASSES_UPSTREAM_PASSES
#define WEFT_PASSES_UPSTREAM_PASSES

include "mlir/Pass/PassBase.td"

def ImportShardingsPass : Pass<"weft-import-shardings", "::mlir::ModuleOp"> {
  let summary = "Takes annotations of upstream's shard dialect for Weft's.";
  let description = [{
    A `shard.grid` of 2x4 becomes the module's `weft.mesh` with the axes "axis0"
    and "axis1", unless it has one of that shape; each `shard.shard` becomes a
    `weft.constrain`, and on an argument of a function its `weft.layout`.
    `annotate_for_users` says nothing of the argument itself.

    Requires: one grid of static shape; no halos, no offsets of one's own (Weft
    receives halos where ops need them, and shards are of equal size but for
    the last ones); no other op of `shard`.
    Ensures: no op of `shard`.

    Example: test/passes/import-shardings.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def LowerToMpiPass : Pass<"weft-lower-to-mpi", "::mlir::ModuleOp"> {
  let summary = "Communicates by upstream's mpi dialect.";
  let description = [{
    `coll.all_reduce` over all devices is `mpi.allreduce`; every other op is
    `mpi.send` and `mpi.recv` between the group's members, pair by pair in one
    order, so that none waits for another in a circle. The rank is the device's
    position in the mesh. Simple rather than fast: a group's all-reduce gathers
    and combines, an exchange gathers and slices.

    Requires: stage `partitioned`, a mesh whose devices are in order.
    Ensures: no op of `coll`, no annotation of Weft's; the program runs between `mpi.init` and
    `mpi.finalize`, which are the caller's.

    Example: test/passes/lower-to-mpi.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::mpi::MPIDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // WEFT_PASSES_UPSTREAM_PASSES
