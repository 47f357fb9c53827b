//===- ShardingStrings.h - XLA's shardings as those of Shardy ---*- C++ -*-===//
//
// Private to the StableHLO front end. The shardings that JAX writes without
// Shardy,
//
//   mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"
//   mhlo.sharding = "{devices=[1,8]<=[2,4]T(1,0)}"  or  "{replicated}"
//   custom_call @Sharding(%x) {mhlo.sharding = ...}
//
// become attributes sdy.sharding of arguments and results, and `sharding` of
// the call, in the form of ReaderDialects.h. The first has the mesh <"tile0"=2,
// "rest"=4>.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft::stablehlo {

/// Translates the strings of a program. Fails with an error for other forms.
llvm::LogicalResult translateShardingStrings(mlir::ModuleOp program);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H
