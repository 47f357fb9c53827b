//===- WeftC.cpp - Weft's compiler beside MLIR's C API --------------------===//

#include "weft/compiler/capi/WeftC.h"

#include "weft/compiler/Register.h"
#include "weft/compiler/capi/Handles.h"
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

MlirContext weftCompilerGetContext(weft_compiler *compiler) {
  return wrap(&compiler->context());
}

weft_module *weftModuleTake(weft_compiler *compiler, MlirModule module) {
  return new weft_module{compiler,
                         mlir::OwningOpRef<mlir::ModuleOp>(unwrap(module)),
                         weft::Stage::imported,
                         {}};
}

MlirModule weftModuleGet(weft_module *module) {
  module->values.reset(); // the caller may change the module
  return wrap(*module->op);
}
