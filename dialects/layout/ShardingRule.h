//===- ShardingRule.h - what the sharding passes know of an op --*- C++ -*-===//
//
// Knowledge of an op as data; propagation, cost, partitioning and explanation
// see nothing else. Worked example, a contraction of 128x784 with 784x10:
//
//   ([b, k], [k, n]) -> ([b, n]) {b=128, k=784, n=10} reduce={k}
//
// Sharding factor b shards dimension 0 of operand 0 and of the result, and
// costs nothing. Sharding k shards one dimension of each operand and leaves
// the result partial (sum). A dimension may be a product of factors, major to
// minor: reshaping 4x28x28 to 4x784 is ([b, h, w]) -> ([b, hw]) with the last
// dimension {h, w}. A dimension that no factor describes (size 1 broadcast) has
// an empty list and is never sharded.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_LAYOUT_SHARDINGRULE_H
#define WEFT_DIALECTS_LAYOUT_SHARDINGRULE_H

#include "weft/dialects/layout/Layout.h"

namespace weft {

/// The cost of a sharded factor; one partition strategy for each kind.
enum class FactorKind : uint8_t {
  Pass,     ///< elementwise, batch: nothing
  Position, ///< iota, rng: an offset from the coordinate
  Reduce,   ///< contraction, reduce: a partial result
  Window,   ///< convolution and pooling: halos
  Shift,    ///< slice, pad, concatenate: each device moves what it lacks
  Lookup,   ///< gather, scatter: mask by range and a partial result
  Scan,     ///< cumulative ops: local, then an exclusive scan of one slice
  Select,   ///< sort, top-k: local select and merge
  Whole,    ///< replicate this dimension only
};
llvm::StringRef stringifyFactorKind(FactorKind kind);

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::Pass;
  /// For Reduce and Lookup: what combines the partial results. For Scan and
  /// Select its neutral element stands in for padding.
  ReduceKind reduce = ReduceKind::Sum;
  /// The op itself keeps padding away from what it combines (a sort's greatest
  /// element is NaN, the neutral element of no reduction).
  bool ownsPadding = false;
};

using DimFactors = llvm::SmallVector<unsigned, 1>;      ///< major to minor
using TensorFactors = llvm::SmallVector<DimFactors, 4>; ///< one a dimension

/// Position p of a result's factor needs those operand positions q with
///
///   divisor * q == scale * p + k * dilation + offset (mod modulus)
///
/// for a k in [0, window), as far as they exist:
///
///   slice start:limit:stride     scale = stride, offset = start
///   pad low, interior            divisor = interior + 1, offset = -low
///   concatenate, input at o      offset = -o
///   reverse of n                 scale = -1, offset = n - 1
///   roll of n by s               offset = -s, modulus = n
///   convolution, pooling         scale = stride, offset = -low, window = kernel
///                                size, dilation = kernel dilation, divisor =
///                                base dilation
///
/// Where the factor is reduced and no result has it, p is the position in the
/// operand without a map: a convolution by a large window, sharded along it.
struct PositionMap {
  unsigned operand = 0, result = 0, factor = 0;
  int64_t scale = 1, offset = 0, window = 1, dilation = 1;
  int64_t divisor = 1;
  int64_t modulus = 0; ///< 0: positions do not wrap around
  /// Operand (one integer) whose value, clamped so that the smaller of the two
  /// dimensions lies in the larger, is added to the offset times startSign.
  int start = -1;
  int64_t startSign = 1;
  /// The value where no operand position exists: the neutral element of
  /// `fill` (nothing: the op does not look there), or the value of an operand
  /// (one element).
  std::optional<ReduceKind> fill = ReduceKind::Sum;
  int fillOperand = -1;
  /// Not 0 where a reshape does not align (6x4 to 8x3): the factor counts the
  /// elements of the block, of which each position of the operand's first
  /// dimension has so many (4), and each of the result's (3). The op moves them
  /// itself, by LocalPlacement::fetchParts.
  int64_t operandUnit = 0, resultUnit = 0;
};

/// How a partial operand may pass through the op: properties of the op in this
/// operand, joined by `|`. neg is `Linear | Falling`: the sum of negatives is the
/// negative of the sum, and the least negative that of the maximum.
enum class Linearity : uint8_t {
  None = 0,          ///< a partial operand must be reduced first
  Linear = 1,        ///< linear in it while all other operands are replicated
                     ///< along the partial axes (scale, transpose, dot)
  JointlyLinear = 2, ///< linear in all such operands together (add, subtract)
  Rising = 4,        ///< never falls in it, others replicated (relu, floor):
                     ///< a max stays a max, a min a min
  Falling = 8,       ///< never rises in it (neg): a max becomes a min
  Moving = 16,       ///< only moves or copies elements (reshape): any kind
};
constexpr Linearity operator|(Linearity a, Linearity b) {
  return static_cast<Linearity>(static_cast<unsigned>(a) |
                                static_cast<unsigned>(b));
}
constexpr bool has(Linearity all, Linearity one) {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}
/// The reduction of the results where `kind` combines the operand's summands, or
/// nothing where they must be combined before: max through neg is min.
std::optional<ReduceKind> passedReduction(Linearity linearity, ReduceKind kind);

struct ShardingRule {
  llvm::SmallVector<Factor, 4> factors;
  llvm::SmallVector<TensorFactors, 3> operands;
  llvm::SmallVector<TensorFactors, 1> results;
  llvm::SmallVector<PositionMap, 0> positions;
  /// Operands that are accumulated into: under a sharded reduce factor they
  /// count on coordinate 0 and are neutral elsewhere.
  llvm::SmallVector<unsigned, 1> inits;
  /// Empty, or one for each operand; empty means None everywhere.
  llvm::SmallVector<Linearity, 3> linearity;
};

/// Every dimension of every operand and result is an own factor of one kind,
/// shared by position: for elementwise ops (all shapes equal; scalars of rank
/// 0 have no factors).
ShardingRule elementwiseRule(llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> operandRanks,
                             unsigned numResults);

/// Factors of a reshape by greatest common blocks: 4x28x28 -> 4x784 gives
/// b=4, h=28, w=28; dimensions that do not align (6 -> 4x... ) share one
/// factor of kind Shift for the whole unaligned block.
ShardingRule reshapeRule(llvm::ArrayRef<int64_t> from,
                         llvm::ArrayRef<int64_t> to);

/// ([b, k], [k, n]) -> ([b, n]) {b=128, k=784, n=10} reduce={k}
std::string toString(const ShardingRule &rule);
/// Does the rule fit these shapes (every dimension is the product of its
/// factors, or one without factors)? Reason or empty.
std::string invalidReason(const ShardingRule &rule,
                          llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                          llvm::ArrayRef<llvm::ArrayRef<int64_t>> results);

//===----------------------------------------------------------------------===//
// Projection between layouts of tensors and shardings of factors
//===----------------------------------------------------------------------===//

/// The axes of one tensor's factors; `exact` is false where a dimension's axes
/// could not be told apart by factors (they do not divide the major factor).
struct FactorShardings {
  llvm::SmallVector<SubAxes, 4> axes; ///< one list for each factor of the rule
  bool exact = true;
};
/// Axes of dimension {h=28, w=28} over "x"=4: h gets "x" (28 % 4 == 0). Over
/// "x"=8: gcd(28, 8) = 4: h gets "x":(1)4, the rest goes to w only where h is
/// exhausted, so here it is not exact. A dimension of one factor takes any
/// axes, divisible or not.
FactorShardings projectToFactors(const Mesh &mesh, const ShardingRule &rule,
                                 const TensorFactors &tensor,
                                 const Layout &layout);
/// The layout of a tensor whose factors have these axes. Factors after one
/// that is not fully sharded contribute only where the digits stay exact.
Layout projectToTensor(const Mesh &mesh, const ShardingRule &rule,
                       const TensorFactors &tensor,
                       llvm::ArrayRef<SubAxes> axes);

} // namespace weft

#endif // WEFT_DIALECTS_LAYOUT_SHARDINGRULE_H
