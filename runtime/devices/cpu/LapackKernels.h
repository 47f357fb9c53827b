//===- LapackKernels.h - kernels of a program that LAPACK has ---*- C++ -*-===//
//
//   LapackKernels kernels;                        // by the plan's number
//   if (Status ok = makeLapackKernels(plan, library, kernels); !ok)
//     return ok;                                  // no LAPACK is here
//   kernels[n]->run(arguments, 0, kernels[n]->call().batch());
//
// They are the plan's builtins with a name such as "lapack.dgetrf".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_LAPACKKERNELS_H
#define WEFT_RUNTIME_DEVICES_CPU_LAPACKKERNELS_H

#include "weft/base/lapack/Kernel.h"
#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// Empty, or indexed by kernel; null for those that are no builtins.
using LapackKernels = std::vector<std::unique_ptr<const lapack::Kernel>>;

/// Binds the plan's builtins to a library, null for the system's, and checks
/// the buffers of their launches.
Status makeLapackKernels(const Plan &plan,
                         std::shared_ptr<const lapack::Library> library,
                         LapackKernels &out);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_LAPACKKERNELS_H
