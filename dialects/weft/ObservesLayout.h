//===- ObservesLayout.h - ops that ask for a value's layout -----*- C++ -*-===//
//
//   host.observe %y as "3" : tensor<8x4xf32>
//
// does not affect layouts: propagation records the operand's layout (of a
// partial value, after the reduction) in an attribute of the function, and
// erases the op:
//
//   weft.observed = [["3", #weft.layout<#mesh, [{"data"}, {}]>]]
//
// Equal layouts under one name, such as those of a loop's iterations, are
// recorded once. Without a name nothing is recorded: the op keeps its operand,
// such as a member of a group of values with one layout, until propagation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_OBSERVESLAYOUT_H
#define WEFT_DIALECTS_WEFT_OBSERVESLAYOUT_H

#include "mlir/IR/OpDefinition.h"

namespace weft {

/// An op with one operand, no result and perhaps a string attribute `name`.
template <typename ConcreteOp>
class ObservesLayout
    : public mlir::OpTrait::TraitBase<ConcreteOp, ObservesLayout> {};

inline constexpr llvm::StringLiteral kObservedAttr = "weft.observed";

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OBSERVESLAYOUT_H
