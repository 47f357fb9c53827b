//===- DeviceCode.h - code of devices as ops of a plan ----------*- C++ -*-===//
//
//   func.func private @relu(...) attributes {weft.kernel = ...}
//
//   plan.device_module @device_code chip "sm_80" format ptx data "..."
//   plan.device_kernel @relu in @device_code symbol "relu" block [256, 1, 1]
//       blocks 64 shared 0 scratch 0
//
// Launches of a kernel with `plan.library` name the plan.library_contraction,
// and its code is the fallback @relu_code.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_PROGRAM_DEVICECODE_H
#define WEFT_COMPILER_PROGRAM_DEVICECODE_H

#include "weft/compiler/codegen/KernelCodegen.h"

namespace weft {

/// Sets on each kernel function the estimated operations of a call
/// (plan.operations), which profiles show.
void countOperations(mlir::ModuleOp module);
/// Replaces the functions that devices run by their code; launches, which name
/// them, stay. Does nothing if `code` is for a processor.
void placeDeviceCode(mlir::ModuleOp module, const CompiledKernels &code);

} // namespace weft

#endif // WEFT_COMPILER_PROGRAM_DEVICECODE_H
