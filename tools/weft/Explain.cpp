//===- Explain.cpp - weft explain -----------------------------------------===//

#include "weft/compiler/explain/FindFixes.h"
#include "weft/tools/weft/ForeignProgram.h"
#include "weft/tools/weft/StepCompiler.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace weft;
using namespace weft::tool;

static std::string closestPaths(const std::vector<std::string> &paths) {
  std::string text;
  for (const std::string &path : paths)
    text += (text.empty() ? "closest paths: " : ", ") + path;
  return text;
}

static Explanation explainModule(mlir::ModuleOp module) {
  return explainProgram(*module.getOps<plan::ProgramOp>().begin());
}

/// What the layout map's rules did, and what would be cheaper.
static bool explainLayouts(StepCompiler &steps, const ExplainFlags &flags,
                           Explanation &explanation) {
  const keras::Distribution &distribution = *steps.distribution();
  auto resolved = keras::resolveLayouts(distribution, steps.model());
  if (!resolved)
    return fail(flags.model.distribution + ": " + resolved.error), false;
  for (const keras::RuleStatus &rule : resolved->rules)
    explanation.rules.push_back(
        {rule.key, rule.status, rule.matches, closestPaths(rule.closest)});
  // A few seconds' worth of compilations, the same on every machine.
  int64_t budget = std::clamp<int64_t>(
      30000 / std::max<int64_t>(1, explanation.instructions), 2, 96);
  findFixes(
      explanation, LayoutChanges(distribution, *resolved, steps.model()),
      distribution,
      [&](const keras::Distribution &other) {
        auto module =
            steps.planUnder(other, flags.model.step, flags.model.batchSize);
        return module ? std::optional(explainModule(*module)) : std::nullopt;
      },
      static_cast<unsigned>(budget));
  return true;
}

static int print(const Explanation &explanation, const ExplainFlags &flags) {
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(explanation));
  else
    llvm::outs() << toText(explanation);
  return 0;
}

int weft::tool::runExplain(const ExplainFlags &flags) {
  if (namesForeignProgram(flags.model.model)) {
    auto program = ForeignProgram::open(flags.model);
    auto plan = program ? program->reach(Stage::plan)
                        : mlir::OwningOpRef<mlir::ModuleOp>();
    return plan ? print(explainModule(*plan), flags) : 1;
  }
  auto steps = StepCompiler::open(flags.model);
  if (!steps)
    return 1;
  auto module =
      steps->reach(flags.model.step, flags.model.batchSize, Stage::plan);
  if (!module)
    return 1;
  Explanation explanation = explainModule(*module);
  if (steps->distribution() && !explainLayouts(*steps, flags, explanation))
    return 1;
  return print(explanation, flags);
}
