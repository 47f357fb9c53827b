//===- DivideBatch.cpp - --weft-divide-batch ------------------------------===//

#include "weft/passes/training/BatchLoop.h"
#include "weft/passes/training/Passes.h"

namespace weft {
#define GEN_PASS_DEF_DIVIDEBATCHPASS
#include "weft/passes/training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The number of rows of the function's batch, 0 if it has none.
static FailureOr<int64_t> batchOf(func::FuncOp function,
                                  const BatchFlow &flow) {
  std::optional<unsigned> first;
  auto rowsOf = [&](unsigned argument) {
    return cast<RankedTensorType>(function.getArgument(argument).getType())
        .getDimSize(0);
  };
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (!flow.isBatch(argument))
      continue;
    if (!first)
      first = number;
    else if (rowsOf(number) != rowsOf(*first))
      return function.emitError()
             << "@" << function.getName() << ": argument " << number << " has "
             << rowsOf(number) << " rows, and argument " << *first << " has "
             << rowsOf(*first)
             << "; microbatches need inputs of one batch size, or run the "
                "whole batch, without --microbatches";
  }
  return first ? rowsOf(*first) : 0;
}

namespace {
struct DivideBatch : weft::impl::DivideBatchPassBase<DivideBatch> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Attribute attribute = module->removeDiscardableAttr(kMicrobatchesAttr);
    bool allowsStatistics =
        bool(module->removeDiscardableAttr(kMicrobatchStatisticsAttr));
    if (!attribute)
      return;
    auto number = dyn_cast<IntegerAttr>(attribute);
    if (!number || number.getInt() < 1) {
      module.emitError() << kMicrobatchesAttr << " is " << attribute
                         << "; write the number of microbatches as 4 : i64";
      return signalPassFailure();
    }
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isPrivate() &&
          failed(divide(function, number.getInt(), allowsStatistics)))
        return signalPassFailure();
  }

  LogicalResult divide(func::FuncOp function, int64_t microbatches,
                       bool allowsStatistics) {
    auto batch = batchOf(function, BatchFlow(function, {}));
    if (failed(batch))
      return failure();
    if (*batch == 0 && microbatches > 1)
      return function.emitError()
             << "@" << function.getName() << " has no argument of role input, "
             << "label or sample_weight, whose rows " << microbatches
             << " microbatches divide; leave out --microbatches";
    int64_t rounds = std::min(microbatches, *batch);
    if (rounds < 2)
      return success();
    BatchFlow flow(function, {*batch, rounds, allowsStatistics});
    if (failed(flow.run()))
      return failure();
    BatchLoop(function, flow, *batch, rounds).run();
    ++numDivided;
    return success();
  }
};
} // namespace
