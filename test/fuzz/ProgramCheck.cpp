//===- ProgramCheck.cpp - compares a program's interpretations ------------===//

#include "weft/test/fuzz/ProgramCheck.h"
#include "weft/compiler/Register.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/compiler/explain/AnnotationChanges.h"
#include "weft/compiler/explain/FindFixes.h"
#include "weft/compiler/explain/ScheduledCost.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/training/Passes.h"
#include "weft/passes/verify/CompareWithGlobal.h"
#include "weft/test/fuzz/ExplainedCost.h"
#include "weft/test/fuzz/RandomProgram.h"
#include "weft/test/unit/TestTarget.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mlir;

namespace weft {

const char *textOf(Verdict verdict) {
  static const char *texts[] = {"keeps its meaning", "is no valid program",
                                "is refused", "differs", "crashes"};
  return texts[static_cast<int>(verdict)];
}

CheckOptions CheckOptions::of(ModuleOp module) {
  CheckOptions checks;
  auto text = module->getAttrOfType<StringAttr>(kChecksAttr);
  SmallVector<StringRef> words;
  if (text)
    text.getValue().split(words, ' ');
  for (StringRef word : words) {
    checks.reals |= word == "reals";
    checks.compiled |= word == "compiled";
    checks.gpu |= word == "gpu";
    checks.explained |= word == "explained";
    checks.planned |= word == "planned";
    checks.large |= word == "large";
    checks.everywhere |= word == "everywhere";
    if (word.consume_front("inputs="))
      word.getAsInteger(10, checks.inputs);
    if (word.consume_front("detours="))
      word.getAsInteger(10, checks.detours);
  }
  return checks;
}

static DialectRegistry allDialects() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

ProgramCheck::ProgramCheck()
    : mlirContext(allDialects(), MLIRContext::Threading::DISABLED) {
  mlirContext.loadAllAvailableDialects();
}

func::FuncOp mainOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

llvm::SmallVector<double> errorBoundsOf(func::FuncOp function) {
  llvm::SmallVector<double> bounds;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto bound = function.getResultAttrOfType<FloatAttr>(i, kErrorBoundAttr);
    bounds.push_back(bound ? bound.getValueAsDouble() : 0);
  }
  return bounds;
}

std::string differenceOf(const Tensor &expected, const Tensor &found,
                         double bound) {
  for (int64_t i = 0; i < expected.size(); ++i)
    if (!expected.equals(i, found, i) &&
        !(expected.isFloat() &&
          std::fabs(expected.real(i) - found.real(i)) <= bound))
      return "differs at " + indexText(i, expected.getShape()) + ": " +
             expected.text(i) + " is expected, " + found.text(i) + " is found";
  return "";
}

/// Returns a number of the kind that the attribute kDrawAttr names.
static double drawSpecial(StringRef kind, int64_t number) {
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr double values[] = {
      -0.0, 0,   -0.0,
      0,    1,   -2,
      -inf, inf, std::numeric_limits<double>::quiet_NaN()};
  return kind == "large" ? double(8192 * (number % 9 - 4)) : values[number % 9];
}

/// Draws an input. Integers: signed ones in [-4, 4], unsigned ones in [0, 8].
/// Floats: of the kind that the argument's attribute names, or reals in [-1,
/// 1), or integers in [-4, 4].
static Tensor drawInput(func::FuncOp function, unsigned index,
                        const CheckOptions &checks) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  auto kind = function.getArgAttrOfType<StringAttr>(index, kDrawAttr);
  std::mt19937_64 random(checks.inputs * 1000003 + index);
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t number = static_cast<int64_t>(random() >> 11);
    if (!tensor.isFloat())
      tensor.setInteger(i, type.getElementType().isInteger(1) ? number % 2
                           : tensor.isUnsigned()              ? number % 9
                                                              : number % 9 - 4);
    else if (kind)
      tensor.setReal(i, drawSpecial(kind, number));
    else if (checks.reals)
      tensor.setReal(i, std::ldexp(static_cast<double>(number), -52) - 1);
    else
      tensor.setReal(i, static_cast<double>(number % 9 - 4));
  }
  return tensor;
}

/// Expands value_and_grad, which the interpreter does not support.
static LogicalResult differentiate(ModuleOp module) {
  bool found = false;
  module.walk([&](ValueAndGradOp) { found = true; });
  if (!found)
    return success();
  PassManager pm(module.getContext());
  pm.addPass(createDifferentiatePass());
  return pm.run(module);
}

Verdict ProgramCheck::run(const std::string &text) {
  why.clear();
  ScopedDiagnosticHandler handler(&mlirContext, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      why += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, &mlirContext);
  if (!module || !mainOf(*module))
    return Verdict::Invalid;
  if (observe)
    observe(*module);
  return runModule(*module);
}

Verdict ProgramCheck::runModule(ModuleOp module) {
  CheckOptions checks = CheckOptions::of(module);
  if (checks.planned)
    return plan(module);
  if (checks.large)
    return compile(module, checks);
  OwningOpRef<ModuleOp> sharded(module.clone());
  CompileOptions options;
  options.threads = 1;
  options.target = checks.gpu ? kGpuTarget : test::testTarget();
  if (failed(runStages(*sharded, options, Stage::sharded)))
    return Verdict::Refused;
  if (checks.detours)
    addDetours(*sharded, checks.detours);
  OwningOpRef<ModuleOp> partitioned(sharded->clone());
  options.from = Stage::sharded;
  if (failed(runStages(*partitioned, options, Stage::scheduled)) ||
      failed(differentiate(module)))
    return Verdict::Refused;
  if (breakProgram)
    breakProgram(*partitioned);
  Tensors inputs;
  for (unsigned i = 0; i < mainOf(module).getNumArguments(); ++i)
    inputs.push_back(drawInput(mainOf(module), i, checks));
  if (!onlyCompiled) {
    Verdict verdict = compare(module, *partitioned, inputs);
    if (verdict == Verdict::Holds && checks.explained)
      verdict = explain(*partitioned);
    if (verdict != Verdict::Holds || !checks.compiled)
      return verdict;
  }
  auto expected = interpretFunction(mainOf(module), inputs);
  if (failed(expected))
    return Verdict::Refused;
  why += runCompiled(*partitioned, inputs, *expected,
                     errorBoundsOf(mainOf(module)), checks);
  if (why.empty())
    return Verdict::Holds;
  return StringRef(why).contains("compiled ") ? Verdict::Differs
                                              : Verdict::Refused;
}

/// Whether a refusal is for a program's size, which is correct.
static bool isSizeRefusal(StringRef why) {
  return why.contains("but a tensor has at most") ||
         why.contains("but a program has at most");
}

/// Searches for fixes, too: two changes of annotations are planned.
static void findSomeFixes(ModuleOp module, const CompileOptions &options,
                          Explanation &explanation) {
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  AnnotationChanges changes(module);
  auto recount =
      [&](const AnnotationChange &change) -> std::optional<Explanation> {
    return countStep(*change.applied(module), options);
  };
  findFixes(explanation,
            [&](const CollectiveCost &cost) {
              std::vector<Change> all;
              for (AnnotationChange &change : changes.of(cost))
                all.push_back({change.text, change.annotation,
                               unsigned(change.places.size()),
                               [&, change] { return recount(change); }});
              return all;
            },
            explanation.memory, {.most = 2, .seconds = {}, .progress = {}});
}

/// Checks the explanation of a module at stage `scheduled`.
Verdict ProgramCheck::explain(ModuleOp scheduled) {
  OwningOpRef<ModuleOp> module(scheduled.clone());
  CompileOptions options;
  options.from = Stage::scheduled;
  options.target = "cpu";
  if (failed(runStages(*module, options, Stage::plan)))
    return Verdict::Refused;
  why += costProblem(*module);
  Explanation planned = explainProgram(*module);
  std::optional<Explanation> before = explainScheduled(scheduled);
  if (before && (before->totalBytes() != planned.totalBytes() ||
                 before->totalCount() != planned.totalCount()))
    why += "sends " + std::to_string(planned.totalBytes()) + " bytes, " +
           std::to_string(before->totalBytes()) +
           " are counted before kernels are made";
  return why.empty() ? Verdict::Holds : Verdict::Differs;
}

Verdict ProgramCheck::plan(ModuleOp module) {
  OwningOpRef<ModuleOp> planned(module.clone());
  CompileOptions options;
  options.threads = 1;
  options.target = "cpu";
  if (failed(runStages(*planned, options, Stage::plan)))
    return isSizeRefusal(why) ? Verdict::Holds : Verdict::Refused;
  why += costProblem(*planned);
  if (!why.empty())
    return Verdict::Differs;
  Explanation explanation = explainProgram(*planned);
  findSomeFixes(module, options, explanation);
  return Verdict::Holds;
}

Verdict ProgramCheck::compile(ModuleOp module, const CheckOptions &checks) {
  CompileOptions options;
  options.threads = 1;
  options.target = "cpu";
  OwningOpRef<ModuleOp> scheduled(module.clone());
  bool holds =
      succeeded(runStages(*scheduled, options, Stage::scheduled)) &&
      succeeded(compileForTargets(*scheduled, [&](size_t target) {
        return checks.everywhere || checks.inputs % numTargets() == target;
      }));
  return holds || isSizeRefusal(why) ? Verdict::Holds : Verdict::Refused;
}

std::string kindOfReason(const std::string &reason) {
  std::string kind;
  bool quoted = false;
  for (char c :
       StringRef(reason).take_until([](char c) { return c == '\n'; })) {
    quoted ^= c == '\'' || c == '"';
    if (!quoted && llvm::isAlpha(c))
      kind += c;
  }
  return kind.substr(0, 40);
}

Verdict ProgramCheck::compare(ModuleOp global, ModuleOp partitioned,
                              llvm::ArrayRef<Tensor> inputs) {
  llvm::SmallVector<double> bounds = errorBoundsOf(mainOf(global));
  CompareOptions options;
  options.tolerance = 0;
  options.arguments = inputs;
  options.errorBounds = bounds;
  return succeeded(
             compareWithGlobal(mainOf(global), mainOf(partitioned), options))
             ? Verdict::Holds
             : Verdict::Differs;
}

} // namespace weft
