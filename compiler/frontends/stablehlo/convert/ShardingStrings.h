//===- ShardingStrings.h - XLA's shardings as those of Shardy ---*- C++ -*-===//
//
// Private to the StableHLO front end. What JAX writes without Shardy:
//
//   mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"
//   mhlo.sharding = "{devices=[1,8]<=[2,4]T(1,0)}"  or  "{replicated}"
//   custom_call @Sharding(%x) {mhlo.sharding = ...}
//
// becomes sdy.sharding of arguments and results, and `sharding` of the call, as
// ReaderDialects.h says: the mesh of the first is <"tile0"=2, "rest"=4>.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft::stablehlo {

/// Fails with an error where a string is none of these forms.
llvm::LogicalResult translateShardingStrings(mlir::ModuleOp program);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H
