//===- ForeignProgram.h - a program that is no Keras model ------*- C++ -*-===//
//
// StableHLO, as text or artifact, or Weft's own text at stage `imported`:
//
//   auto program = ForeignProgram::open(flags);      // prog.mlir, prog.mlirbc
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

#include "weft/compiler/driver/CompileStep.h"
#include "weft/compiler/explain/AnnotationChanges.h"
#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/runtime/data/Result.h"
#include "weft/tools/weft/Commands.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <optional>

namespace weft::tool {

/// Does the name end as that of a program (.mlir, .mlirbc, .bc), not of a model?
bool namesForeignProgram(const std::string &path);

class ForeignProgram {
public:
  /// Prints the error and returns null.
  /// `warns`: of rules of the distribution that match nothing.
  static std::unique_ptr<ForeignProgram> open(const ModelFlags &flags,
                                              bool warns = true);

  /// The steps of a model that was traced; none of another program.
  const std::vector<stablehlo::StepFunction> &steps() const {
    return functions;
  }
  /// The function that the rest describes: --step's and --batch-size's by default.
  /// No batch: the first of that kind.
  Status choose(const std::string &step, std::optional<int64_t> batchSize);
  /// How many devices its mesh has, or that of --distribution.
  int64_t deviceCount() const;

  /// Like StepCompiler's; null or nothing after a printed error.
  mlir::OwningOpRef<mlir::ModuleOp> reach(Stage stage,
                                          bool *isOverBudget = nullptr);
  std::optional<std::vector<uint8_t>> compile();
  std::optional<std::string> assembly(const std::vector<std::string> &kernels);

  /// Adds changes of other annotations of the program.
  void findFixes(Explanation &explanation);

private:
  ForeignProgram() = default;
  bool readStablehlo(std::string bytes);
  bool readIr(const std::string &text);
  bool checkModelFlags() const;
  bool readDistribution(bool warns);
  mlir::OwningOpRef<mlir::ModuleOp> import();
  /// As the distribution says, in place of the file.
  mlir::OwningOpRef<mlir::ModuleOp> importLaidOut(bool warns = false);
  CompileOptions options();
  /// Ends the program where Weft is at fault: nothing where its user is.
  void endAfter(Stage reached, Stage wanted);

  ModelFlags flags;
  int64_t devices = 0;
  bool isIr = false; ///< Weft's own text
  std::vector<stablehlo::StepFunction> functions;
  std::string chosen = "main";
  std::optional<keras::Distribution> distribution;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

/// The name of a step's function, of any size of a batch where none is said.
Result<std::string>
functionOf(const std::vector<stablehlo::StepFunction> &steps,
           const std::string &file, const std::string &step,
           std::optional<int64_t> batchSize);

/// The flag that only a model has, not a program or a traced one, or null.
const char *flagOfModels(const ModelFlags &flags);

/// For `weft run prog.mlir`: 0 and the bytes of a .weft file.
int compileForeignProgram(const ModelFlags &flags, std::vector<uint8_t> &image);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_FOREIGNPROGRAM_H
