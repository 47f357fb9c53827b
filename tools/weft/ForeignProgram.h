//===- ForeignProgram.h - a StableHLO program on the command line -*- C++ -*-//
//
//   auto program = ForeignProgram::open(flags);      // prog.mlir, prog.mlirbc
//   auto module  = program->reach(Stage::plan);
//   auto image   = program->compile();               // bytes of a .weft file
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_FOREIGNPROGRAM_H
#define WEFT_TOOLS_WEFT_FOREIGNPROGRAM_H

#include "weft/compiler/driver/CompileStep.h"
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

  /// As StepCompiler's; null or nothing after a printed error.
  mlir::OwningOpRef<mlir::ModuleOp> reach(Stage stage);
  std::optional<std::vector<uint8_t>> compile();
  std::optional<std::string> assembly(const std::vector<std::string> &kernels);

private:
  ForeignProgram() = default;
  mlir::OwningOpRef<mlir::ModuleOp> import();

  ModelFlags flags;
  int64_t devices = 0;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

/// The flag that only a model has, or null.
const char *flagOfModels(const ModelFlags &flags);

/// For `weft run prog.mlir`: 0 and the bytes of a .weft file.
int compileForeignProgram(const ModelFlags &flags, std::vector<uint8_t> &image);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_FOREIGNPROGRAM_H
