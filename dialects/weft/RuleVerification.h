//===- RuleVerification.h - do an op's layouts follow its rule? -*- C++ -*-===//
//
// weft.dot of 8x4 by 4x6 has the rule ([i, k], [k, j]) -> ([i, j]), reduce={k}.
//
//   [{"x"}, {"y"}], [{"y"}, {}] -> [{"x"}, {}], partial = sum{"y"}   agrees
//   [{"x"}, {"y"}], [{}, {}]    -> [{"x"}, {}]     "factor k=4 has axes ..."
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
/// not follow its sharding rule, or empty. The conditions: all are on one mesh;
/// each factor has the same axes in every tensor; no axis is used by two
/// factors; a result is partial over the axes that its operands pass on by
/// linearity and those of the reduced factors, and over no others; an operand
/// that is accumulated into likewise. Ops without a rule, and ops none of whose
/// types has a layout, agree.
std::string layoutsDisagree(mlir::Operation *op);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_RULEVERIFICATION_H
