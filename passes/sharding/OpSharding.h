//===- OpSharding.h - layouts of one op's tensors, by its factors ---------===//
//
// Worked example: the contraction ([b, k], [k, n]) -> ([b, n]) reduce={k} with
// operands [data, model] and [-, -]. The table says
//
//   operand 0: b=data, k=model;  operand 1, result: nothing yet
//
// `mergeFactors` gives b=data, k=model, so propagation puts [model, -] on
// operand 1 where it is free, and [data, -] on the result. `chooseSharding`
// (ChooseSharding.h) says what the op runs with: it requires [data, model] and [model, -]
// and produces [data, -] partial over model.
//
// An axis shards one factor of an op only.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_OPSHARDING_H
#define WEFT_PASSES_SHARDING_OPSHARDING_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

using FactorAxes = llvm::SmallVector<SubAxes, 4>;

/// An op and its rule; tensors are numbered operands first, then results.
struct OpWithRule {
  mlir::Operation *op = nullptr;
  ShardingRule rule;
  /// All tensors have the same dimensions and every factor passes.
  bool elementwise = false;
  /// No operand has a sharded factor, so it computes any block of its results
  /// for nothing: constants, iota, broadcast scalars, random bits.
  bool source = false;

  /// The rule of the op; one that keeps everything whole where it has none.
  static OpWithRule get(mlir::Operation *op);

  unsigned numTensors() const {
    return op->getNumOperands() + op->getNumResults();
  }
  mlir::Value value(unsigned tensor) const;
  const TensorFactors &factors(unsigned tensor) const;
  bool isOperand(unsigned tensor) const {
    return tensor < op->getNumOperands();
  }
  /// May axes be put on this factor without the op moving data itself?
  bool isShardable(unsigned factor) const;
  /// The tensor's axes on shardable factors.
  FactorAxes project(const Mesh &mesh, unsigned tensor,
                     const Layout &layout) const;
};

/// Are both summands of the same sums, or neither?
bool samePartial(const Layout &a, const Layout &b);

/// The axes with which an op runs, and the layouts that follow.
struct OpSharding {
  FactorAxes axes;
  llvm::SmallVector<Layout, 3> operands; ///< required
  llvm::SmallVector<Layout, 1> results;  ///< produced; partial where a sharded
                                         ///< factor was reduced
};

/// The layouts that the table has for an op's tensors; null where a tensor has
/// no say.
using TensorLayouts = llvm::SmallVector<const Layout *, 4>;
/// Does none of them split anything? Then nothing propagates, and the op is
/// computed whole: most ops of most programs, so they cost little.
bool nothingSplit(const TensorLayouts &layouts);

/// Adds to `axes` what `more` has for each factor, without using an axis for
/// two factors. Returns false where something of `more` was left out.
bool mergeInto(FactorAxes &axes, const FactorAxes &more);

/// The axes of all tensors together, those of large tensors first.
FactorAxes mergeFactors(const Mesh &mesh, const OpWithRule &op,
                        const TensorLayouts &layouts);

/// Required and produced layouts under the axes, which are cut down to what
/// every tensor of the op can express.
OpSharding applyAxes(const Mesh &mesh, const OpWithRule &op, FactorAxes axes);

/// Bytes that the op itself sends on its shards: nothing, but for collectives in
/// regions.
int64_t bytesSentBy(mlir::Operation *op, const OpSharding &sharding);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_OPSHARDING_H
