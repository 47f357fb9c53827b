//===- CollRules.cpp - collectives on shards of their operands ------------===//
//
// In a region that leaves axes free, a collective over the other axes works on
// shards along the free axes. These can shard every dimension that the
// collective does not cut or join.
//
//   all_gather %a dim 0 over ["x"] : 4x16 -> 8x16     ([4, k], [8, k])
//                                                      "y" may shard k=16
//
// Summands along "y" pass through: an op that only moves elements can move
// summands, and sums of summands along "x" are summands of the sum. So
// reduce_scatter on "x"=2 of a partial sum along "y" leaves half the elements
// to be summed along "y".
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"

using namespace mlir;
using namespace weft;
using namespace weft::coll;

/// The rule that maps each operand to the result of the same index. The
/// dimensions `replicated`, whose size may change, are not sharded.
static ShardingRule movingRule(Operation *op, ArrayRef<int64_t> replicated,
                               Linearity linearity = Linearity::Moving) {
  ShardingRule rule;
  rule.linearity.assign(op->getNumOperands(), linearity);
  auto add = [&](int64_t size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return static_cast<unsigned>(rule.factors.size() - 1);
  };
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperandTypes(), op->getResultTypes())) {
    auto from = cast<RankedTensorType>(operand),
         to = cast<RankedTensorType>(result);
    TensorFactors &before = rule.operands.emplace_back();
    TensorFactors &after = rule.results.emplace_back();
    for (int64_t dim = 0; dim < from.getRank(); ++dim) {
      bool moved = llvm::is_contained(replicated, dim);
      unsigned factor = add(from.getDimSize(dim),
                            moved ? FactorKind::Replicated : FactorKind::Pass);
      before.push_back({factor});
      after.push_back(
          {moved ? add(to.getDimSize(dim), FactorKind::Replicated) : factor});
    }
  }
  return rule;
}

/// The rule of a scalar without factors, so any axes may be free.
ShardingRule CoordinateOp::getShardingRule() {
  ShardingRule rule;
  rule.results.emplace_back();
  return rule;
}

/// The linearity of a collective that combines devices' values: a sum of one
/// operand is linear, so partial sums may pass through.
static Linearity combining(Operation *op, ReduceKind kind) {
  bool passes = kind == ReduceKind::Sum && op->getNumOperands() == 1;
  return passes ? Linearity::Linear : Linearity::None;
}

ShardingRule AllReduceOp::getShardingRule() {
  return movingRule(*this, {}, combining(*this, getKind()));
}

ShardingRule CollectivePermuteOp::getShardingRule() {
  return movingRule(*this, {});
}

ShardingRule coll::SliceOp::getShardingRule() {
  return movingRule(*this, static_cast<int64_t>(getDim()));
}

ShardingRule AllGatherOp::getShardingRule() {
  return movingRule(*this, static_cast<int64_t>(getDim()));
}

ShardingRule ReduceScatterOp::getShardingRule() {
  return movingRule(*this, static_cast<int64_t>(getDim()),
                    combining(*this, getKind()));
}

ShardingRule AllToAllOp::getShardingRule() {
  return movingRule(*this, {static_cast<int64_t>(getSplit()),
                            static_cast<int64_t>(getConcat())});
}
