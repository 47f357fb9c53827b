//===- PartitionPasses.h - from annotations to one device -------*- C++ -*-===//

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

/// Adds partitioning with movements sunk and merged, and sums combined.
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
