//===- StepFixes.cpp - effects of other layout maps on a step -------------===//

#include "weft/compiler/explain/FindFixes.h"
#include "weft/compiler/frontends/keras/distribution/LayoutChanges.h"
#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/compiler/StepCompiler.h"

#include "llvm/ADT/StringExtras.h"

using namespace weft;
using namespace weft::tool;

void StepCompiler::explainRules(Explanation &explanation) {
  if (!resolved)
    return;
  for (const keras::RuleStatus &rule : resolved->rules)
    explanation.rules.push_back(
        {rule.key, rule.status, rule.matches,
         rule.closest.empty()
             ? ""
             : "closest paths: " + llvm::join(rule.closest, ", ")});
}

/// The reason for the layout of a variable, input, label or sample weight by
/// the name or role of its port; empty if there is none.
static std::string reasonOf(const TensorLayout &tensor,
                            const keras::ResolvedLayouts &resolved,
                            const keras::Distribution &layouts) {
  if (auto found = resolved.variables.find(tensor.name);
      found != resolved.variables.end())
    return found->second.reason;
  if (tensor.role == "label" || tensor.role == "sample_weight")
    return keras::batchLayout(layouts, tensor.shape).reason;
  if (tensor.role != "input" || resolved.inputs.empty())
    return "";
  auto found = resolved.inputs.find(tensor.name);
  if (found == resolved.inputs.end() && resolved.inputs.size() == 1)
    found = resolved.inputs.begin();
  return found == resolved.inputs.end() ? "" : found->second.reason;
}

std::optional<PipelineReport>
StepCompiler::explainPipeline(const std::string &step,
                              int64_t batchSize) const {
  if (!resolved || stepKindNamed(step) != StepKind::Train)
    return std::nullopt;
  return tool::explainPipeline(layouts, kerasModel, resolved->callPlaces,
                               batchSize);
}

void StepCompiler::explainTensors(std::vector<TensorLayout> &tensors,
                                  int64_t batchSize) {
  if (!resolved)
    return;
  for (TensorLayout &tensor : tensors)
    tensor.reason = reasonOf(tensor, *resolved, layouts);
  for (const keras::Node &node : kerasModel.nodes) {
    const std::string &name = kerasModel.layers[node.layer].name;
    auto found = resolved->outputs.find(name);
    if (found == resolved->outputs.end())
      continue;
    TensorLayout inside{name + "/output",
                        kInside,
                        node.dtype,
                        {batchSize},
                        found->second.layout,
                        found->second.reason,
                        true};
    inside.shape.insert(inside.shape.end(), node.shape.begin(),
                        node.shape.end());
    inside.layout.dims.resize(inside.shape.size());
    tensors.push_back(std::move(inside));
  }
}

void StepCompiler::findFixes(Explanation &explanation,
                             const std::optional<Explanation> &costs,
                             const std::string &step, int64_t batchSize) {
  if (!resolved)
    return;
  LayoutChanges changes(layouts, *resolved, kerasModel);
  CompileOptions compiling = options();
  compiling.passes = liveSession().options().passes;
  auto recount = [&](const LayoutChange &change) -> std::optional<Explanation> {
    mlir::ScopedDiagnosticHandler silent(
        &liveSession().context(),
        [](mlir::Diagnostic &) { return mlir::success(); });
    keras::Distribution other = change.applied(layouts);
    auto module = import(step, batchSize, &other);
    return module ? countStep(**module, compiling) : std::nullopt;
  };
  FixLimits limits = compiling.fixLimits;
  limits.most = affordableChanges(explanation, limits.most);
  weft::findFixes(
      explanation,
      [&](const CollectiveCost &collective) {
        std::vector<Change> found;
        for (LayoutChange &change : changes.of(collective))
          found.push_back({change.text, change.annotation, 1,
                           [&, change] { return recount(change); }});
        return found;
      },
      costs ? costs->memory : explanation.memory, limits);
}
