//===- ManualCalls.h - XLA's form of shard_map ------------------*- C++ -*-===//
//
// Private to the StableHLO front end. Without Shardy, JAX writes
//
//   %1 = custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"}
//   %2 = custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"}
//   %3 = call @shmap_body(%2)
//   %4 = custom_call @Sharding(%3) {mhlo.sharding = "{manual}"}
//   %5 = custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{replicated}"}
//
// which becomes one sdy.manual_computation around the call.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_MANUALCALLS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_MANUALCALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft::stablehlo {

/// Replaces this form everywhere, after translateShardingStrings. Fails with an
/// error if ops of the form are missing.
llvm::LogicalResult gatherManualCalls(mlir::ModuleOp program);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_MANUALCALLS_H
