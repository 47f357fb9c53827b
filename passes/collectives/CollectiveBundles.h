//===- CollectiveBundles.h - which collectives become one -------*- C++ -*-===//
//
// Works on numbers, not on IR: ops of a block are numbered, each with the ops
// that it needs. Collectives of one kind that do not need each other, directly
// or through other ops, can be combined. Collectives 0, 1, 3, 4 of kind a:
//
//   op      0   1   2   3   4        0 and 1 need nothing,
//   kind    a   a   -   a   a        3 needs 1 through 2, 4 needs 0
//   needs           1   2   0
//
//   bundleCollectives = {0, 1} {2} {3, 4}
//
// A collective's level is the longest chain of collectives of its kind that
// leads to it; collectives of equal level are a bundle. One kind alone gets as
// many bundles as its longest chain has collectives, which is the minimum.
// Bundles of several kinds can need each other, a and b below:
//
//   op      0a  1b  2b  3a           1 needs 0, 3 needs 2
//
// {0, 3} needs {1, 2} and is needed by it. Such a cycle is resolved by forming
// the bundle whose first collective comes first, and computing the levels
// again.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_COLLECTIVES_COLLECTIVEBUNDLES_H
#define WEFT_PASSES_COLLECTIVES_COLLECTIVEBUNDLES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace weft {

/// An op of a block as a node of its dependence graph.
struct DependentOp {
  llvm::SmallVector<unsigned, 4> needs; ///< earlier ops, by number
  int kind = -1; ///< kind of a collective, from 0 without gaps; -1: other op
};

/// The number of an op, or the numbers of collectives that become one op, in
/// ascending order.
using OpBundle = llvm::SmallVector<unsigned, 1>;

/// Orders all ops so that each follows the ops that it needs: in the given
/// order, except that ops wait for a bundle's last member. The time is nearly
/// linear in ops and needs, for each kind, and for each bundle formed to
/// resolve a cycle.
std::vector<OpBundle> bundleCollectives(llvm::ArrayRef<DependentOp> ops);

} // namespace weft

#endif // WEFT_PASSES_COLLECTIVES_COLLECTIVEBUNDLES_H
