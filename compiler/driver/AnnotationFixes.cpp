//===- AnnotationFixes.cpp - cheaper annotations of a program -------------===//

#include "weft/compiler/driver/AnnotationFixes.h"

#include "weft/compiler/explain/AnnotationChanges.h"
#include "weft/compiler/explain/FindFixes.h"

using namespace mlir;
using namespace weft;

/// The cost of a step with the change; nothing if it does not compile.
static std::optional<Explanation> costUnder(const AnnotationChange &change,
                                            ModuleOp imported,
                                            const CompileOptions &options) {
  ScopedDiagnosticHandler silent(imported.getContext(),
                                 [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = change.applied(imported);
  return countStep(*module, options);
}

void weft::findAnnotationFixes(Explanation &explanation,
                               const std::optional<Explanation> &scheduled,
                               ModuleOp imported,
                               const CompileOptions &options) {
  CompileOptions kept = options;
  StagePasses passes(imported.getContext());
  kept.passes = &passes;
  FixLimits limits = options.fixLimits;
  limits.most = affordableChanges(explanation, limits.most);
  AnnotationChanges changes(imported);
  findFixes(
      explanation,
      [&](const CollectiveCost &collective) {
        std::vector<Change> found;
        for (AnnotationChange &change : changes.of(collective))
          found.push_back(
              {change.text, change.annotation,
               static_cast<unsigned>(change.places.size()),
               [&, change] { return costUnder(change, imported, kept); }});
        return found;
      },
      scheduled ? scheduled->memory : explanation.memory, limits);
}
