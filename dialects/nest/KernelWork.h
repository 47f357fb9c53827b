//===- KernelWork.h - how much a kernel computes ----------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_NEST_KERNELWORK_H
#define WEFT_DIALECTS_NEST_KERNELWORK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::nest {

/// About how many operations a call of a kernel with loop nests takes, a
/// multiply-add counted as one (KernelTraits.h).
double operationsOf(mlir::func::FuncOp kernel);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_KERNELWORK_H
