//===- PlainForms.h - programs rewritten before they are read ---*- C++ -*-===//
//
// Redundant forms are rewritten in StableHLO itself, so that each conversion
// has to handle one form only:
//
//   ^bb0(%a: tensor<f32>, %b: tensor<f32>):       ^bb0(%a, %b):
//     %0 = stablehlo.add %a, %b                     %0 = stablehlo.add %a, %b
//     %1 = sdy.sharding_constraint %0 <@m, []>      return %0
//     return %1
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PLAINFORMS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PLAINFORMS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft::stablehlo {

/// Gives shardings of tokens the one dimension that tokens have here.
void shardTokens(mlir::ModuleOp program);

/// Replaces stablehlo.get_tuple_element of a stablehlo.tuple by the element.
void forwardTuples(mlir::ModuleOp program);

/// Replaces stablehlo.map by the ops of its body on whole tensors. Emits an
/// error for a body with other than elementwise ops.
llvm::LogicalResult expandMaps(mlir::ModuleOp program);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PLAINFORMS_H
