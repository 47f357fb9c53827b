//===- RuleParts.h - computations of one op that are independent -*- C++ -*-===//
//
// An axis shards only one factor of a computation: a device has one coordinate
// along it, so of [b, n] over b=x, n=x it would compute only a diagonal block.
// But an op may consist of several computations. The barrier of two matrices
//
//   ([i, j], [k, l]) -> ([i, j], [k, l])
//
// has the parts {i, j} and {k, l}: i and k may both be sharded over x. Factors
// are of one part if a tensor has both, or if one is reduced into a result:
// whatever the results consist of is then partial over its axes.
//
//   ([b, k], [k, n]) -> ([b, n]) reduce={k}       one part
//   ([i, j], [k]) -> ([i], [k]) reduce={j}        one: the second result is
//                                                 partial over the axes of j
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_RULES_RULEPARTS_H
#define WEFT_DIALECTS_WEFT_RULES_RULEPARTS_H

#include "weft/dialects/weft/rules/ShardingRule.h"

#include <vector>

namespace weft {

/// The number of each factor's part. Parts are numbered from 0 in the order of
/// their first factors. Factors of kind Replicated have no axes; a part that
/// has no others is counted to part 0.
llvm::SmallVector<unsigned> partsOfFactors(const ShardingRule &rule);

/// A part of a rule, and the numbers that its tensors (operands first, then
/// results) and factors have in the whole rule.
struct RulePart {
  ShardingRule rule;
  llvm::SmallVector<unsigned> tensors, factors;
};
/// The parts of a rule, or none if it has only one. If there are tensors
/// without factors, the last part has them.
std::vector<RulePart> splitRule(const ShardingRule &rule,
                                llvm::ArrayRef<unsigned> partOfFactor);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_RULES_RULEPARTS_H
