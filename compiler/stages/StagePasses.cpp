//===- StagePasses.cpp - the passes of each stage, kept -------------------===//

#include "weft/compiler/stages/StagePasses.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace weft;

namespace {
/// Notes whether a failed pass is one of those that transform programs.
struct NoteRefusal : PassInstrumentation {
  explicit NoteRefusal(std::atomic<bool> &hasRefused [[clang::lifetimebound]])
      : hasRefused(hasRefused) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    hasRefused = !pass->getArgument().starts_with("weft-verify-");
  }
  std::atomic<bool> &hasRefused;
};
} // namespace

StagePasses::StagePasses(MLIRContext *context) : context(context) {}
StagePasses::~StagePasses() = default;

PassManager &StagePasses::reach(Stage from, Stage to, bool verifyInput,
                                llvm::StringRef target) {
  std::unique_ptr<PassManager> &passes =
      made[{from, to, verifyInput, target.str()}];
  if (passes)
    return *passes;
  passes = std::make_unique<PassManager>(context);
#ifdef NDEBUG
  passes->enableVerifier(false); // The caller verifies once for the stage.
#endif
  PipelineOptions options;
  options.verifyInput = verifyInput;
  options.target = target.str();
  options.checkBudget = false; // The caller checks, as it may search for fixes.
  buildPipeline(*passes, options, from, to);
  passes->addInstrumentation(std::make_unique<NoteRefusal>(hasRefused));
  return *passes;
}
