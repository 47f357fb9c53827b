//===- KernelWork.h - how much a kernel computes ----------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_NEST_KERNELWORK_H
#define WEFT_DIALECTS_NEST_KERNELWORK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::nest {

/// An estimate of the operations of a call of a kernel with loop nests, by
/// workOf (KernelTraits.h); a multiply-add counts as one.
double operationsOf(mlir::func::FuncOp kernel);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_KERNELWORK_H
