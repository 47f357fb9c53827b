//===- StepFixes.cpp - what other layout maps would do to a step ------------===//

#include "weft/compiler/explain/FindFixes.h"
#include "weft/compiler/frontends/keras/LayoutChanges.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/StepCompiler.h"

#include "llvm/ADT/StringExtras.h"

using namespace weft;
using namespace weft::tool;

bool StepCompiler::explainRules(Explanation &explanation) {
  if (!hasDistribution)
    return true;
  auto resolved = keras::resolveLayouts(layouts, kerasModel);
  if (!resolved)
    return fail(flags.distribution + ": " + resolved.error), false;
  for (const keras::RuleStatus &rule : resolved->rules)
    explanation.rules.push_back(
        {rule.key, rule.status, rule.matches,
         rule.closest.empty() ? ""
                              : "closest paths: " + llvm::join(rule.closest, ", ")});
  return true;
}

void StepCompiler::findFixes(Explanation &explanation, const std::string &step,
                             int64_t batchSize) {
  if (!hasDistribution)
    return;
  auto resolved = keras::resolveLayouts(layouts, kerasModel);
  if (!resolved)
    return;
  LayoutChanges changes(layouts, *resolved, kerasModel);
  auto recount = [&](const LayoutChange &change) -> std::optional<Explanation> {
    auto module = planUnder(change.applied(layouts), step, batchSize);
    if (!module)
      return std::nullopt;
    return explainProgram(*module->getOps<plan::ProgramOp>().begin());
  };
  weft::findFixes(
      explanation,
      [&](const CollectiveCost &collective) {
        std::vector<Change> found;
        for (LayoutChange &change : changes.of(collective))
          found.push_back({change.text, change.annotation, [recount, change] { return recount(change); }});
        return found;
      },
      affordableChanges(explanation));
}
