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

#ifndef WEFT_TOOLS_WEFT_FOREIGNPROGRAM_H
#define WEFT_TOOLS_WEFT_FOREIGNPROGRAM_H

#include "weft/compiler/driver/CompileStep.h"
#include "weft/compiler/explain/AnnotationChanges.h"
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
  static std::unique_ptr<ForeignProgram> open(const ModelFlags &flags);

  /// Those of a model that was traced; none of another program.
  const std::vector<stablehlo::StepFunction> &steps() const {
    return functions;
  }
  /// Of which function the rest speaks: --step's and --batch-size's unless told.
  /// No batch: the first of that kind.
  Status choose(const std::string &step, std::optional<int64_t> batchSize);
  /// How many devices its mesh has.
  int64_t deviceCount() const;

  /// As StepCompiler's; null or nothing after a printed error.
  mlir::OwningOpRef<mlir::ModuleOp> reach(Stage stage,
                                          bool *isOverBudget = nullptr);
  std::optional<std::vector<uint8_t>> compile();
  std::optional<std::string> assembly(const std::vector<std::string> &kernels);

  /// What other annotations of the program would change.
  void findFixes(Explanation &explanation);

private:
  ForeignProgram() = default;
  bool readStablehlo(std::string bytes);
  bool readIr(const std::string &text);
  bool checkModelFlags() const;
  mlir::OwningOpRef<mlir::ModuleOp> import();
  CompileOptions options();
  std::optional<Explanation> costUnder(mlir::ModuleOp original,
                                       const AnnotationChange &change);
  /// Ends the program where Weft is at fault: nothing where its user is.
  void endAfter(Stage reached, Stage wanted);

  ModelFlags flags;
  int64_t devices = 0;
  bool isIr = false; ///< Weft's own text
  std::vector<stablehlo::StepFunction> functions;
  std::string chosen = "main";
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

/// The name of a step's function, of any size of a batch where none is said.
Result<std::string>
functionOf(const std::vector<stablehlo::StepFunction> &steps,
           const std::string &file, const std::string &step,
           std::optional<int64_t> batchSize);

/// The flag that only a model has, or null.
const char *flagOfModels(const ModelFlags &flags);

/// For `weft run prog.mlir`: 0 and the bytes of a .weft file.
int compileForeignProgram(const ModelFlags &flags, std::vector<uint8_t> &image);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_FOREIGNPROGRAM_H
