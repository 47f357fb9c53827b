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
  module.get()->removeAttr(kExpectAttr);
  if (failed(runStages(*module, options, Stage::plan)))
    return std::nullopt;
  return explainProgram(*module);
}

void weft::findAnnotationFixes(Explanation &explanation, ModuleOp imported,
                               const CompileOptions &options) {
  CompileOptions quiet = options;
  quiet.timing = false;
  quiet.reached = nullptr;
  quiet.isRefused = nullptr;
  quiet.expect.clear();
  quiet.findFixes = nullptr;
  AnnotationChanges changes(imported);
  findFixes(
      explanation,
      [&](const CollectiveCost &collective) {
        std::vector<Change> found;
        for (AnnotationChange &change : changes.of(collective))
          found.push_back({change.text, change.annotation, [&, change] {
                             return costUnder(change, imported, quiet);
                           }});
        return found;
      },
      affordableChanges(explanation));
}
