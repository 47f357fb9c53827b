//===- ChooseNests.cpp - chooses the loop nests of kernels ----------------===//

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/nests/NestChooser.h"
#include "weft/passes/nests/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CHOOSENESTS
#include "weft/passes/nests/Passes.h.inc"

namespace {
struct ChooseNestsPass : impl::ChooseNestsBase<ChooseNestsPass> {
  using ChooseNestsBase::ChooseNestsBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    FailureOr<nest::TargetLimits> limits =
        nest::targetLimits(target, getOperation());
    if (failed(limits))
      return signalPassFailure();
    nest::MatmulPrecision precision = nest::matmulPrecisionOf(getOperation());
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel) || nest::decisionsOf(kernel))
        continue;
      NestChooser chooser(kernel, *limits, precision);
      chooser.choose();
      nests += chooser.nests().size();
      stored += chooser.kept();
    }
  }
};
} // namespace
} // namespace weft
