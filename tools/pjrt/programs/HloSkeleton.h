//===- HloSkeleton.h - types and shardings as XLA writes them ---*- C++ -*-===//
//
// JAX reads types, layouts and shardings of a compiled program from a module of
// XLA, a dozen times a program: bytes of a protocol buffer take 0.1 ms, a
// module's text 3 ms. The module has the program's parameters and one op
// instead of the computation.
//
//   HloModule jit_f, entry_computation_layout={(f32[16,784]{1,0})->f32[16,10]{1,0}}
//   ENTRY main { p0 = f32[16,784] parameter(0)
//                ROOT result = f32[16,10] custom-call(), custom_call_target="weft" }
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_HLOSKELETON_H
#define WEFT_TOOLS_PJRT_PROGRAMS_HLOSKELETON_H

#include "weft/tools/pjrt/Objects.h"

namespace weft::pjrt {

/// A HloModuleProtoWithConfig.
std::string hloSkeleton(const LoadedProgram &program, int64_t partitions);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_HLOSKELETON_H
