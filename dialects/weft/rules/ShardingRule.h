//===- ShardingRule.h - the sharding rule of an op --------------*- C++ -*-===//
//
// A sharding rule describes an op as data; propagation, cost, partitioning and
// explanation use nothing else. Worked example, a contraction of 128x784 with
// 784x10:
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

#ifndef WEFT_DIALECTS_WEFT_RULES_SHARDINGRULE_H
#define WEFT_DIALECTS_WEFT_RULES_SHARDINGRULE_H

#include "weft/layout/Layout.h"

namespace weft {

/// The cost of a sharded factor; one partition strategy for each kind.
enum class FactorKind : uint8_t {
  Pass,     ///< elementwise, batch: no cost
  Position, ///< iota, rng: an offset from the coordinate
  Reduce,   ///< contraction, reduce: a partial result
  Window,   ///< convolution and pooling: halos
  Shift,    ///< slice, pad, concatenate: each device receives missing elements
  Lookup,   ///< gather, scatter: mask by range and a partial result
  Scan,     ///< cumulative ops: local, then an exclusive scan of one slice
  Select,   ///< sort, top-k: local select and merge
  Replicated, ///< this dimension is never sharded
};
llvm::StringRef stringifyFactorKind(FactorKind kind);

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::Pass;
  /// The combiner of partial results, for Reduce and Lookup. For Scan and
  /// Select padding is its neutral element.
  ReduceKind reduce = ReduceKind::Sum;
  /// The op itself ignores padding (the greatest element of a sort is NaN,
  /// which is the neutral element of no reduction).
  bool ownsPadding = false;
};

using DimFactors = llvm::SmallVector<unsigned, 1>;      ///< major to minor
using TensorFactors = llvm::SmallVector<DimFactors, 4>; ///< by dimension

/// Position p of a result's factor needs the operand positions q with
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
  int64_t modulus = 0; ///< 0 if positions do not wrap around
  /// The value at positions without an operand position: the neutral element of
  /// `fill` (nothing: the op does not read them), or the value of an operand
  /// (one element).
  std::optional<ReduceKind> fill = ReduceKind::Sum;
  int fillOperand = -1;
  /// The elements of each position of the operand's first dimension (4) and of
  /// the result's (9) in a reshape that does not align (9x4 to 4x9), else 0.
  /// The factor counts the elements of the block, which the op moves itself by
  /// LocalPlacement::fetch.
  int64_t operandUnit = 0, resultUnit = 0;
};

/// Properties of an op in one operand, joined by `|`. They tell how a partial
/// operand may pass through. neg of floats is `Linear | Falling`: the sum of
/// negatives is the negative of the sum, and the least negative that of the
/// maximum.
enum class Linearity : uint8_t {
  None = 0,          ///< a partial operand must be reduced first
  Linear = 1,        ///< linear in it while all other operands are replicated
                     ///< along the partial axes (mul, dot, reduce sum)
  JointlyLinear = 2, ///< linear in all such operands together (add, subtract)
  Rising = 4,        ///< never falls in it (relu, floor): a max stays a max
  Falling = 8,       ///< never rises (neg): a max becomes a min
  Moving = 16,       ///< only moves elements (reshape): any kind passes
};
constexpr Linearity operator|(Linearity a, Linearity b) {
  return static_cast<Linearity>(static_cast<unsigned>(a) |
                                static_cast<unsigned>(b));
}
constexpr bool has(Linearity all, Linearity one) {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}
/// The reduction of the results if `kind` combines the operand's summands, or
/// nothing if they must be combined before: max through neg is min.
std::optional<ReduceKind> passedReduction(Linearity linearity, ReduceKind kind);

struct ShardingRule {
  llvm::SmallVector<Factor, 4> factors;
  llvm::SmallVector<TensorFactors, 3> operands;
  llvm::SmallVector<TensorFactors, 1> results;
  llvm::SmallVector<PositionMap, 0> positions;
  /// Operands into which the op accumulates: if a reduce factor is sharded,
  /// coordinate 0 has their value and other devices have the neutral element.
  llvm::SmallVector<unsigned, 1> inits;
  /// Empty, which means None everywhere, or one entry for each operand.
  llvm::SmallVector<Linearity, 3> linearity;
};

/// The rule with one factor of one kind for each dimension, shared by position
/// by all operands and results: for elementwise ops (all shapes equal; scalars
/// of rank 0 have no factors).
ShardingRule elementwiseRule(llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> operandRanks,
                             unsigned numResults);

/// Factors of a reshape by greatest common blocks: 4x28x28 -> 4x784 gives b=4,
/// h=28, w=28. Dimensions that do not align (9x4 -> 4x9) share one factor of
/// kind Shift for the unaligned block (36).
ShardingRule reshapeRule(llvm::ArrayRef<int64_t> from,
                         llvm::ArrayRef<int64_t> to);

/// The rule's text, factors named i, j, ... in their order:
/// ([i, j], [j, k]) -> ([i, k]) {i=128, j=784, k=10} reduce={j}
std::string toString(const ShardingRule &rule);
/// The reason why the rule does not fit these shapes, or empty. A dimension is
/// the product of its factors, unless it has none or a factor whose size may
/// differ: of kind Window, Shift, Select or Replicated, or with a PositionMap.
/// `inits` and `linearity` fit the operands.
std::string invalidReason(const ShardingRule &rule,
                          llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                          llvm::ArrayRef<llvm::ArrayRef<int64_t>> results);

//===----------------------------------------------------------------------===//
// Projection between layouts of tensors and shardings of factors
//===----------------------------------------------------------------------===//

/// The axes of one tensor's factors; `exact` is false if some axes were left
/// out: their dimension has no factor, they do not divide its factors, or
/// another dimension with the same factor has others.
struct FactorShardings {
  llvm::SmallVector<SubAxes, 4> axes; ///< one list for each factor of the rule
  bool exact = true;
};
/// Splits a dimension's axes over its factors. {h=28, w=28} over "x"=4: h gets
/// "x" (28 % 4 == 0). Over "x"=8: gcd(28, 8) = 4, so h gets "x":(1)4; w would
/// get the rest only if h were exhausted, so this is not exact. The factor of a
/// dimension of one, and a last one of kind Shift, take any axes, divisible or
/// not.
FactorShardings projectToFactors(const Mesh &mesh, const ShardingRule &rule,
                                 const TensorFactors &tensor,
                                 const Layout &layout);
/// The layout of a tensor whose factors have these axes. Factors after one
/// that is not fully sharded, or not exactly, contribute nothing.
Layout projectToTensor(const Mesh &mesh, const ShardingRule &rule,
                       const TensorFactors &tensor,
                       llvm::ArrayRef<SubAxes> axes);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_RULES_SHARDINGRULE_H
