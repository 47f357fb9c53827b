//===- CollRules.cpp - collectives on shards of their operands --------------===//
//
// In a region that leaves axes free a collective over the other axes works on
// the shards along the free ones: dimensions that it does not cut or join pass.
//
//   all_gather %a dim 0 over ["x"] : 4x16 -> 8x16     ([4, k], [8, k])
//                                                      k=16 may lie over "y"
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"

using namespace mlir;
using namespace weft;
using namespace weft::coll;

/// Each operand becomes the result of its number; the dimensions `whole`, which
/// may change their size, cannot be sharded.
static ShardingRule movingRule(Operation *op, ArrayRef<int64_t> whole) {
  ShardingRule rule;
  auto add = [&](int64_t size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return static_cast<unsigned>(rule.factors.size() - 1);
  };
  for (auto [operand, result] : llvm::zip_equal(op->getOperandTypes(), op->getResultTypes())) {
    auto from = cast<RankedTensorType>(operand), to = cast<RankedTensorType>(result);
    TensorFactors &before = rule.operands.emplace_back();
    TensorFactors &after = rule.results.emplace_back();
    for (int64_t dim = 0; dim < from.getRank(); ++dim) {
      bool moved = llvm::is_contained(whole, dim);
      unsigned factor = add(from.getDimSize(dim), moved ? FactorKind::Whole : FactorKind::Pass);
      before.push_back({factor});
      after.push_back({moved ? add(to.getDimSize(dim), FactorKind::Whole) : factor});
    }
  }
  return rule;
}

/// A scalar, whatever else is sharded.
ShardingRule CoordinateOp::getShardingRule() {
  ShardingRule rule;
  rule.results.emplace_back();
  return rule;
}

ShardingRule AllReduceOp::getShardingRule() { return movingRule(*this, {}); }

ShardingRule CollectivePermuteOp::getShardingRule() { return movingRule(*this, {}); }

ShardingRule coll::SliceOp::getShardingRule() {
  return movingRule(*this, static_cast<int64_t>(getDim()));
}

ShardingRule AllGatherOp::getShardingRule() {
  return movingRule(*this, static_cast<int64_t>(getDim()));
}

ShardingRule ReduceScatterOp::getShardingRule() {
  return movingRule(*this, static_cast<int64_t>(getDim()));
}

ShardingRule AllToAllOp::getShardingRule() {
  return movingRule(*this, {static_cast<int64_t>(getSplit()), static_cast<int64_t>(getConcat())});
}
