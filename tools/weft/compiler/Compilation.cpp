//===- Compilation.cpp - a program of a command, by stages ----------------===//

#include "weft/tools/weft/compiler/Compilation.h"

#include "weft/tools/weft/compiler/InternalFailure.h"

using namespace mlir;
using namespace weft;
using namespace weft::tool;

void Compilation::judge(const Attempt &attempt) const {
  if (attempt.outcome == Outcome::Internal && !isWritten)
    endInternally(file, **import(), attempt.progress.reached);
  if (scheduled)
    *scheduled = attempt.progress.scheduled;
}

Result<Module> Compilation::reach(Stage stage, bool *isOverBudget) const {
  Result<Module> module = import();
  if (!module)
    return module;
  Attempt attempt = attemptStage(std::move(*module), options, stage);
  judge(attempt);
  bool isOver = attempt.outcome == Outcome::OverBudget;
  if (isOverBudget)
    *isOverBudget |= isOver;
  if (attempt.outcome == Outcome::Done || (isOver && isOverBudget))
    return std::move(attempt.module);
  return Error{};
}

Result<std::vector<uint8_t>>
Compilation::compile(llvm::function_ref<void(ModuleOp)> describe) const {
  Result<Module> module = import();
  if (!module)
    return module.error();
  if (describe)
    describe(**module);
  Attempt attempt = attemptProgram(std::move(*module), options);
  judge(attempt);
  if (attempt.outcome != Outcome::Done)
    return Error{};
  return std::move(attempt.image);
}

Result<std::string>
Compilation::assembly(const std::vector<std::string> &kernels) const {
  Result<Module> module = import();
  if (!module)
    return module.error();
  auto text = printKernelAssembly(**module, options, kernels);
  return failed(text) ? Result<std::string>(Error{}) : std::move(*text);
}
