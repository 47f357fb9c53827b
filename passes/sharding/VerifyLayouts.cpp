//===- VerifyLayouts.cpp - every op against its rule ----------------------===//

#include "weft/dialects/weft/RuleVerification.h"
#include "weft/passes/sharding/Passes.h"

namespace weft {
#define GEN_PASS_DEF_VERIFYLAYOUTSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
struct VerifyLayouts : weft::impl::VerifyLayoutsPassBase<VerifyLayouts> {
  void runOnOperation() override {
    bool valid = true;
    getOperation().walk([&](Operation *op) {
      if (std::string why = layoutsDisagree(op); !why.empty()) {
        op->emitError() << "layouts do not follow the sharding rule: " << why;
        valid = false;
      }
    });
    if (!valid)
      signalPassFailure();
  }
};
} // namespace
