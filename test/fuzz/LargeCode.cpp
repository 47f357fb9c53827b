//===- LargeCode.cpp - code of large programs for every target ------------===//

#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/test/fuzz/ProgramCheck.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace weft {

using Generators = std::vector<std::unique_ptr<KernelCodegen>>;

/// Those of every target with loop nests, without processors of other machines.
static const Generators &generators() {
  static const Generators all = [] {
    Generators opened;
    for (const nest::TargetLimits &limits : nest::allTargetLimits()) {
      std::string error;
      if (auto generator = openCodegen(limits.name, error))
        opened.push_back(std::move(generator));
    }
    return opened;
  }();
  return all;
}

size_t numTargets() { return generators().size(); }

LogicalResult
compileForTargets(ModuleOp scheduled,
                  llvm::function_ref<bool(size_t target)> wanted) {
  for (const auto &[i, generator] : llvm::enumerate(generators())) {
    OwningOpRef<ModuleOp> module(scheduled.clone());
    CompileOptions options;
    options.from = Stage::scheduled;
    options.target = generator->target().str();
    options.threads = 1;
    CodegenOptions brief;
    brief.threads = 1;
    brief.isBrief = true;
    CompiledKernels code;
    if (failed(runStages(*module, options, Stage::plan)))
      return scheduled.emitError() << "no plan for " << options.target;
    if (wanted(i) && failed(generator->compile(*module, brief, code)))
      return scheduled.emitError() << "no code for " << options.target;
  }
  return success();
}

} // namespace weft
