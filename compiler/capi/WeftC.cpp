//===- WeftC.cpp - Weft for embedders in C --------------------------------===//

#include "weft/compiler/capi/WeftC.h"

#include "weft/compiler/Register.h"
#include "weft/compiler/stages/Pipeline.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Pass/PassManager.h"

void weftRegisterDialects(MlirDialectRegistry registry) {
  weft::registerAllDialects(*unwrap(registry));
}

void weftRegisterPasses(void) { weft::registerAllPasses(); }

/// The stage of that name; an unknown one is an error that lists the stages.
static std::optional<weft::Stage> stageOrError(mlir::ModuleOp module,
                                               llvm::StringRef name) {
  std::optional<weft::Stage> stage = weft::parseStage(name);
  if (stage)
    return stage;
  module.emitError() << weft::unknownStage(name);
  return std::nullopt;
}

MlirLogicalResult weftRunPipeline(MlirModule module, MlirStringRef from,
                                  MlirStringRef to) {
  mlir::ModuleOp op = unwrap(module);
  std::optional<weft::Stage> first = stageOrError(op, unwrap(from));
  std::optional<weft::Stage> last = stageOrError(op, unwrap(to));
  if (!first || !last)
    return mlirLogicalResultFailure();
  if (std::string why = weft::invalidOrder(*first, *last); !why.empty()) {
    op.emitError() << why;
    return mlirLogicalResultFailure();
  }
  mlir::PassManager pm(op.getContext());
  weft::buildPipeline(pm, {}, *first, *last);
  return wrap(pm.run(op));
}
