/*===- WeftC.h - Weft for embedders in C -------------------------*- C -*-===*\
|*                                                                            *|
|* Include it beside mlir-c:                                                  *|
|*                                                                            *|
|*   MlirDialectRegistry registry = mlirDialectRegistryCreate();              *|
|*   weftRegisterDialects(registry);                                          *|
|*   ... mlirModuleCreateParse ...                                            *|
|*   weftRunPipeline(module, mlirStringRefCreateFromCString("imported"),      *|
|*                   mlirStringRefCreateFromCString("plan"));                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef WEFT_COMPILER_CAPI_WEFTC_H
#define WEFT_COMPILER_CAPI_WEFTC_H

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

#ifdef __cplusplus
}
#endif

#endif /* WEFT_COMPILER_CAPI_WEFTC_H */
