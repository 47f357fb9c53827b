//===- PlainForms.h - programs rewritten before they are read ---*- C++ -*-===//
//
// Redundant forms are rewritten in StableHLO itself, so that each conversion
// has to handle one form only:
//
//   %t = stablehlo.tuple %x, %y
//   %0 = stablehlo.get_tuple_element %t[1]              %y
//   %1 = stablehlo.map(%x) { ^bb0(%a): abs %a }         stablehlo.abs %x
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PLAINFORMS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PLAINFORMS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft::stablehlo {

/// Gives the shardings of tokens in in_shardings and out_shardings one
/// dimension, as tokens are tensors of rank 1.
void shardTokens(mlir::ModuleOp program);

/// Replaces stablehlo.get_tuple_element of a stablehlo.tuple by the element.
void forwardTuples(mlir::ModuleOp program);

/// Replaces stablehlo.map by the ops of its body on full tensors. Emits an
/// error if the body has an op that is not elementwise, or if shapes differ.
llvm::LogicalResult expandMaps(mlir::ModuleOp program);

/// Rewrites reductions whose regions use scalars around them, so that these are
/// reduced too: a region of weft.fold has only its arguments.
///
///   reduce(%x init: %0) { return add(%a, mul(%b, %s)) }
///     -> reduce(%x init: %0), (broadcast %s init: %s)
///          { return add(%a, mul(%b, %t)), %t }
void passScalarsToReducers(mlir::ModuleOp program);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_PLAINFORMS_H
