//===- Reduce.h - element-wise reduction over devices -----------*- C++ -*-===//
//
// r[i] = ((s0[i] + s1[i]) + s2[i]) + ... is stored to every target. The sum is
// always in device order, so that the bits depend neither on the number of
// workers nor on the worker of each chunk. f16, bf16 and smaller floats are
// accumulated in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_REDUCE_H
#define WEFT_RUNTIME_COLLECTIVES_REDUCE_H

#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// Reduces elements [begin, end) of `sourceCount` arrays into all targets,
/// elements counted from the pointers. A target may be one of the sources.
using ReduceFunction = void (*)(const void *const *sources, size_t sourceCount,
                                void *const *targets, size_t targetCount,
                                int64_t begin, int64_t end);

/// The function for this type and reduction on this processor; null if the type
/// has no such reduction.
ReduceFunction reduceFunction(DType dtype, ReduceKind kind);

// The functions for each vector width (ReduceLoops.h).
ReduceFunction reduceFunctionGeneric(DType dtype, ReduceKind kind);
ReduceFunction reduceFunctionAvx2(DType dtype, ReduceKind kind);
ReduceFunction reduceFunctionAvx512(DType dtype, ReduceKind kind);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_REDUCE_H
