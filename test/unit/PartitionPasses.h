//===- PartitionPasses.h - passes that partition a test program -*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_PARTITIONPASSES_H
#define WEFT_TEST_UNIT_PARTITIONPASSES_H

#include "weft/passes/collectives/Passes.h"
#include "weft/passes/sharding/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace weft::test {

/// Adds the passes that partitioning needs, and none that makes it cheaper.
inline void addPartitionAlone(mlir::PassManager &pm) {
  pm.addPass(createPropagateLayoutsPass());
  pm.addPass(createVerifyLayoutsPass());
  pm.addPass(createPartitionPass());
}

/// Adds partitioning and the passes that make it cheaper: reshards are sunk and
/// merged, partial sums widened, all-reduces combined.
inline void addPartitionWithMoves(mlir::PassManager &pm) {
  pm.addPass(createPropagateLayoutsPass());
  pm.addPass(createSinkReshardsPass());
  pm.addPass(createMergeReshardsPass());
  pm.addPass(createWidenPartialSumsPass());
  pm.addPass(createVerifyLayoutsPass());
  pm.addPass(createPartitionPass());
  pm.addPass(createCombineAllReducesPass());
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_PARTITIONPASSES_H
