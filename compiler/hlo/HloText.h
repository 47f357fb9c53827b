//===- HloText.h - each device's program as XLA prints it -------*- C++ -*-===//
//
// The text of `compiled.as_text()` for a program of JAX: local shapes and the
// collectives that run, in XLA's syntax, which scripts parse.
//
//   HloModule jit_f, entry_computation_layout={(f32[4,8]{1,0})->f32[4]{0}}, num_partitions=2
//
//   %sum.f32 (x: f32[], y: f32[]) -> f32[] {
//     %x = f32[] parameter(0)
//     %y = f32[] parameter(1)
//     ROOT %r = f32[] add(%x, %y)
//   }
//
//   ENTRY %main (p0.1: f32[4,8]{1,0}) -> f32[4]{0} {
//     %p0.1 = f32[4,8]{1,0} parameter(0)
//     %reduce.2 = f32[4]{0} reduce(%p0.1), dimensions={1}, to_apply=%sum.f32
//     ROOT %all-reduce.3 = f32[4]{0} all-reduce(%reduce.2), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%sum.f32
//   }
//
// An op without an opcode of XLA is a custom-call whose target is its name. XLA
// cannot parse this text: operands that Weft's ops lack (the initial value of a
// reduce) are not printed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_HLO_HLOTEXT_H
#define WEFT_COMPILER_HLO_HLOTEXT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace weft {

/// The text of a module at stage `scheduled`.
std::string hloText(mlir::ModuleOp module, llvm::StringRef name);

} // namespace weft

#endif // WEFT_COMPILER_HLO_HLOTEXT_H
