//===- Explain.cpp - weft explain -----------------------------------------===//

#include "weft/tools/weft/ForeignProgram.h"
#include "weft/tools/weft/StepCompiler.h"

#include "llvm/Support/raw_ostream.h"

#include <tuple>

using namespace weft;
using namespace weft::tool;

static Explanation explainModule(mlir::ModuleOp module) {
  return explainProgram(*module.getOps<plan::ProgramOp>().begin());
}

static int print(const Explanation &explanation, const ExplainFlags &flags) {
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(explanation));
  else
    llvm::outs() << toText(explanation);
  return 0;
}

static int explainForeign(const ExplainFlags &flags) {
  auto program = ForeignProgram::open(flags.model);
  auto plan = program ? program->reach(Stage::plan)
                      : mlir::OwningOpRef<mlir::ModuleOp>();
  if (!plan)
    return 1;
  Explanation explanation = explainModule(*plan);
  program->findFixes(explanation);
  return print(explanation, flags);
}

int weft::tool::runExplain(const ExplainFlags &flags) {
  if (namesForeignProgram(flags.model.model))
    return explainForeign(flags);
  auto steps = StepCompiler::open(flags.model);
  if (!steps)
    return 1;
  const auto &[step, batchSize] = std::tie(flags.model.step, flags.model.batchSize);
  auto module = steps->reach(step, batchSize, Stage::plan);
  if (!module)
    return 1;
  Explanation explanation = explainModule(*module);
  if (!steps->explainRules(explanation))
    return 1;
  steps->findFixes(explanation, step, batchSize);
  return print(explanation, flags);
}
