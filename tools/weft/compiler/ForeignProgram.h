//===- ForeignProgram.h - a program that is no Keras model ------*- C++ -*-===//
//
// StableHLO, as text or artifact, or Weft's own text at stage `imported`:
//
//   auto program = *ForeignProgram::open(flags);     // prog.mlir, prog.mlirbc
//   auto module  = program->reach(Stage::plan);
//   auto image   = program->compile();               // bytes of a .weft file
//
// A file of weft.trace has several functions, the steps of a Keras model:
//
//   for (const StepFunction &step : program->steps())
//     program->choose(step.kind, step.batch);         // before reach or compile
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_FOREIGNPROGRAM_H
#define WEFT_TOOLS_WEFT_COMPILER_FOREIGNPROGRAM_H

#include "weft/base/Result.h"
#include "weft/compiler/driver/Session.h"
#include "weft/compiler/explain/AnnotationChanges.h"
#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/compiler/Compilation.h"

#include <memory>
#include <optional>

namespace weft::tool {

/// Whether the name ends like that of a program (.mlir, .mlirbc, .bc), not of a
/// model.
bool namesForeignProgram(const std::string &path);

class ForeignProgram {
public:
  /// Opens a program. `warns`: whether to warn of rules of the distribution that
  /// match nothing.
  static Result<std::unique_ptr<ForeignProgram>> open(const ModelFlags &flags,
                                                      bool warns = true);

  /// The steps of a traced model; none for other programs.
  const std::vector<stablehlo::StepFunction> &steps() const {
    return functions;
  }
  /// Chooses the function that later calls use: by default that of --step (else
  /// of the first kind) and --batch-size. Without a batch size, the first of
  /// that kind.
  Status choose(const std::string &step, std::optional<int64_t> batchSize);
  /// The number of devices in its mesh, or in that of --distribution.
  int64_t deviceCount() const;

  /// The program of the chosen function, with the budgets of the command line.
  Compilation compilation();
  /// As Compilation::reach.
  Result<Module> reach(Stage stage, bool *isOverBudget = nullptr) {
    return compilation().reach(stage, isOverBudget);
  }
  Result<std::vector<uint8_t>> compile();
  Result<std::string> assembly(const std::vector<std::string> &kernels) {
    return compilation().assembly(kernels);
  }

  /// Adds fixes: changes of other annotations of the program.
  void findFixes(Explanation &explanation) {
    findFixes(explanation, scheduled);
  }

private:
  ForeignProgram() = default;
  Status readStablehlo(std::string bytes);
  Status readIr(const std::string &text);
  Status checkModelFlags() const;
  Status readDistribution(bool warns);
  Result<Module> import();
  /// Imports with the distribution's layouts instead of the file's.
  Result<Module> importLaidOut(bool warns = false);
  void findFixes(Explanation &explanation,
                 const std::optional<Explanation> &costs);

  ModelFlags flags;
  int64_t devices = 0;
  bool isIr = false; ///< whether the program is Weft's own text
  std::vector<stablehlo::StepFunction> functions;
  std::string chosen = "main";
  std::optional<keras::Distribution> distribution;
  std::unique_ptr<Session> session;
  Module program;
  /// The explanation of the step that was compiled last, for findFixes().
  std::optional<Explanation> scheduled;
};

/// The name of a step's function, of any batch size if none is given.
Result<std::string>
functionOf(const std::vector<stablehlo::StepFunction> &steps,
           const std::string &file, const std::string &step,
           std::optional<int64_t> batchSize);

/// The first given flag that only models have, or null. Programs have none of
/// these flags, traced models those of the distribution only.
const char *flagOfModels(const ModelFlags &flags);

/// Compiles for `weft run prog.mlir`: returns 0 and the bytes of a .weft file,
/// or 1 after a printed error.
int compileForeignProgram(const ModelFlags &flags, std::vector<uint8_t> &image);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_FOREIGNPROGRAM_H
