//===- ObservesLayout.h - ops that ask where a value lies -------*- C++ -*-===//
//
//   host.observe %y as "3" : tensor<8x4xf32>
//
// has no say in layouts: propagation passes it by, notes the layout in which
// its operand is computed (what a partial one is reduced to) in an attribute of
// the function, and erases the op:
//
//   weft.observed = [["3", #weft.layout<#mesh, [{"data"}, {}]>]]
//
// Equal answers under a name, of the rounds of a loop for instance, stand there
// once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_OBSERVESLAYOUT_H
#define WEFT_DIALECTS_WEFT_OBSERVESLAYOUT_H

#include "mlir/IR/OpDefinition.h"

namespace weft {

/// An op with one operand, no result and a string attribute `name`.
template <typename ConcreteOp>
class ObservesLayout
    : public mlir::OpTrait::TraitBase<ConcreteOp, ObservesLayout> {};

inline constexpr llvm::StringLiteral kObservedAttr = "weft.observed";

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OBSERVESLAYOUT_H
