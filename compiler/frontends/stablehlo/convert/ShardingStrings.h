//===- ShardingStrings.h - XLA's shardings as those of Shardy ---*- C++ -*-===//
//
// Private to the StableHLO front end. The shardings that JAX writes without
// Shardy,
//
//   mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"
//   mhlo.sharding = "{devices=[1,8]<=[2,4]T(1,0)}"  or  "{replicated}"
//   custom_call @Sharding(%x) {mhlo.sharding = ...}
//
// becomes sdy.sharding of arguments and results, and `sharding` of the call, as
// in ReaderDialects.h: the mesh of the first is <"tile0"=2, "rest"=4>.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft::stablehlo {

/// Translates all strings. Fails with an error for strings of other forms.
llvm::LogicalResult translateShardingStrings(mlir::ModuleOp program);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGSTRINGS_H
