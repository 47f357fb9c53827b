//===- Explain.cpp - weft explain ------------------------------------------===//

#include "weft/compiler/explain/Explain.h"
#include "weft/tools/weft/StepCompiler.h"

#include "llvm/Support/raw_ostream.h"

using namespace weft;
using namespace weft::tool;

static std::string closestPaths(const std::vector<std::string> &paths) {
  std::string text;
  for (const std::string &path : paths)
    text += (text.empty() ? "closest paths: " : ", ") + path;
  return text;
}

int weft::tool::runExplain(const ExplainFlags &flags) {
  auto steps = StepCompiler::open(flags.model);
  if (!steps)
    return 1;
  auto module =
      steps->reach(flags.model.step, flags.model.batchSize, Stage::plan);
  if (!module)
    return 1;
  auto programs = module->getOps<plan::ProgramOp>();
  Explanation explanation = explainProgram(*programs.begin());
  if (steps->distribution()) {
    auto resolved =
        keras::resolveLayouts(*steps->distribution(), steps->model());
    if (!resolved)
      return fail(flags.model.distribution + ": " + resolved.error);
    for (const keras::RuleStatus &rule : resolved->rules)
      explanation.rules.push_back({rule.key, rule.status, rule.matches,
                                   closestPaths(rule.closest)});
  }
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(explanation));
  else
    llvm::outs() << toText(explanation);
  return 0;
}
