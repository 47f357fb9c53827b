//===- RuleVerification.h - do an op's layouts follow its rule? -*- C++ -*-===//
//
// weft.dot of 8x4 by 4x6 has the rule ([i, j], [j, k]) -> ([i, k]), reduce={j}.
//
//   [{"x"}, {"y"}], [{"y"}, {}] -> [{"x"}, {}], partial = sum{"y"}   agrees
//   [{"x"}, {"y"}], [{}, {}]    -> [{"x"}, {}]     "factor 1 of size 4 has"
//   [{}, {"y"}],    [{"y"}, {}] -> [{}, {}]        "result 0 should be partial"
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_RULEVERIFICATION_H
#define WEFT_DIALECTS_WEFT_RULEVERIFICATION_H

#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace weft {

/// The reason why the layouts in the types of an op's operands and results do
/// not follow its sharding rule, or empty. The conditions: all tensors have
/// layouts, on one mesh; each factor has the same axes in every tensor, and
/// none if its kind is Replicated; all axes are those of factors; no axis is
/// used by two factors; the op passes on the partial axes of its operands, and
/// jointly linear operands have the same; a result is partial over these and
/// the axes of the reduced factors, and over no others; an operand that is
/// accumulated into likewise. Ops without a rule, and ops none of whose types
/// has a layout, agree.
std::string layoutsDisagree(mlir::Operation *op);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_RULEVERIFICATION_H
