//===- WeftC.h - Weft's compiler beside MLIR's C API ------------*- C++ -*-===//
//
// Functions for callers that have MLIR modules already; others need compiler.h
// only.
//
//   #include "weft/compiler/capi/WeftC.h"
//
//   /* The .weft of a module that another front end built, or the error. */
//   const char *compile_built(weft_compiler *compiler,
//                             MlirModule (*build)(MlirContext context),
//                             weft_text *out) {
//     MlirModule built = build(weftCompilerGetContext(compiler));
//     weft_module *module = weftModuleTake(compiler, built);
//     int failed = weft_module_compile(module, NULL, out);
//     weft_module_free(module);
//     return failed ? weft_compiler_message(compiler) : NULL;
//   }
//
// libWeftC holds MLIR's C API of the IR (mlir-c/IR.h, Pass.h, Support.h) too.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CAPI_WEFTC_H
#define WEFT_COMPILER_CAPI_WEFTC_H

#include "weft/compiler/capi/compiler.h"

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds weft, coll, plan and the upstream dialects that their passes create. */
MLIR_CAPI_EXPORTED void weftRegisterDialects(MlirDialectRegistry registry);

/** Registers every pass and the pipeline `weft-pipeline` by name. */
MLIR_CAPI_EXPORTED void weftRegisterPasses(void);

/** Runs, in place, the passes after stage `from` up to and including `to`.
 *  Diagnostics, a stage of unknown name too, go to the context's handlers. */
MLIR_CAPI_EXPORTED MlirLogicalResult weftRunPipeline(MlirModule module,
                                                     MlirStringRef from,
                                                     MlirStringRef to);

/** The compiler's context, which has Weft's dialects; it ends with the
 *  compiler. */
MLIR_CAPI_EXPORTED MlirContext weftCompilerGetContext(weft_compiler *compiler);

/** A module of that context, at stage `imported`; it is the answer's now. */
MLIR_CAPI_EXPORTED weft_module *weftModuleTake(weft_compiler *compiler,
                                               MlirModule module);

/** The module as MLIR's; valid until a function of compiler.h changes or frees
 *  it. */
MLIR_CAPI_EXPORTED MlirModule weftModuleGet(weft_module *module);

#ifdef __cplusplus
}
#endif

#endif // WEFT_COMPILER_CAPI_WEFTC_H
