//===- OpSharding.h - layouts of one op's tensors, by its factors ---------===//
//
// Worked example: the contraction ([b, k], [k, n]) -> ([b, n]) reduce={k} with
// operands [data, model] and [-, -]. The table says
//
//   operand 0: b=data, k=model;  operand 1, result: nothing yet
//
// `mergeFactors` gives b=data, k=model, so propagation puts [model, -] on
// operand 1 if that is free, and [data, -] on the result. `chooseSharding`
// (ChooseSharding.h) chooses the op's sharding: it requires [data, model] and
// [model, -] and produces [data, -] partial over model.
//
// An axis shards one factor only of an op, or of each part of an op whose
// operands have nothing to do with each other (RuleParts.h). The functions below
// treat each part as an op of its own.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_OPSHARDING_H
#define WEFT_PASSES_SHARDING_OPSHARDING_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

using FactorAxes = llvm::SmallVector<SubAxes, 4>;

/// An op and its rule, or a part of an op and of its rule; tensors are numbered
/// operands first, then results.
struct OpWithRule {
  mlir::Operation *op = nullptr;
  ShardingRule rule;
  /// Whether, in each part, all tensors have the same dimensions and every
  /// factor passes.
  bool elementwise = false;
  /// Whether no operand has a factor, so that any block of the results is
  /// computed at no cost: constants, iota, broadcast scalars, random bits.
  bool source = false;
  /// Whether no factor takes axes, as where there is no rule.
  bool isReplicated = false;
  /// The devices that run the op: its tensors are on this part of the mesh, and
  /// its factors are not sharded over axes that the part fixes.
  MeshPart place;
  /// The part of each factor.
  llvm::SmallVector<unsigned> partOfFactor;
  /// The parts of an op with several parts.
  std::vector<OpWithRule> parts;
  /// The numbers of a part's tensors and factors in the op; for a whole op
  /// empty, as the numbers are the same.
  llvm::SmallVector<unsigned> tensorNumbers, factorNumbers;

  /// The op with its rule. An op without a rule gets a rule that keeps all
  /// tensors replicated. The op's place is that of its tensors' layouts.
  static OpWithRule get(mlir::Operation *op);

  /// The parts, or this op if it has only one.
  llvm::ArrayRef<OpWithRule> pieces() const {
    return parts.empty() ? llvm::ArrayRef(*this) : llvm::ArrayRef(parts);
  }
  unsigned numOperands() const { return rule.operands.size(); }
  unsigned numTensors() const { return numOperands() + rule.results.size(); }
  /// The number of a tensor in the op.
  unsigned numberInOp(unsigned tensor) const {
    return tensorNumbers.empty() ? tensor : tensorNumbers[tensor];
  }
  mlir::Value value(unsigned tensor) const;
  const TensorFactors &factors(unsigned tensor) const;
  bool isOperand(unsigned tensor) const { return tensor < numOperands(); }
  /// Whether axes may be put on this factor: not on replicated ones, and on
  /// those of windows and shifts only if isFetchable().
  bool isShardable(unsigned factor) const;
  /// Says on which devices the op, with its parts, runs.
  void put(const MeshPart &on);
  /// The tensor's axes on shardable factors, without those that the place
  /// fixes.
  FactorAxes project(const Mesh &mesh, unsigned tensor,
                     const Layout &layout) const;
};

/// The part of the mesh that the tensors of an op with layouts are on.
MeshPart placeByTypes(mlir::Operation *op);

/// Whether both are partial over the same axes and kind, or neither is.
bool samePartial(const Layout &a, const Layout &b);

/// The axes of an op's factors, and the layouts that follow.
struct OpSharding {
  FactorAxes axes;
  llvm::SmallVector<Layout, 3> operands; ///< required
  llvm::SmallVector<Layout, 1> results;  ///< produced; partial where a sharded
                                         ///< factor was reduced
};

/// The layouts that the table has for an op's tensors; null for tensors without
/// one.
using TensorLayouts = llvm::SmallVector<const Layout *, 4>;
/// Whether none of the layouts splits anything. Then nothing propagates, and
/// every device computes the op. This holds for most ops of most programs.
bool nothingSplit(const TensorLayouts &layouts);

/// The layouts of one piece's tensors.
TensorLayouts layoutsOf(const OpWithRule &piece, const TensorLayouts &all);

/// Adds to `axes` those of `more` for each factor, without using an axis for
/// two factors of one part. Returns false if some of `more` was left out.
bool mergeInto(const OpWithRule &op, FactorAxes &axes, const FactorAxes &more);

/// The axes of all tensors together, those of large tensors first.
FactorAxes mergeFactors(const Mesh &mesh, const OpWithRule &op,
                        const TensorLayouts &layouts);

/// Required and produced layouts under the axes, which are cut down to those
/// that every tensor of the op can be sharded by.
OpSharding applyAxes(const Mesh &mesh, const OpWithRule &op, FactorAxes axes);

/// Bytes that the op, or the part, itself sends on its shards: 0 except for
/// collectives in regions.
int64_t bytesSentBy(const OpWithRule &op, const OpSharding &sharding);
/// The axes along which these bytes are sent; nothing for other ops.
std::optional<SubAxes> linksUsedBy(const OpWithRule &op);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_OPSHARDING_H
