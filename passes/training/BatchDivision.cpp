//===- BatchDivision.cpp - one op on a part of the batch ------------------===//

#include "weft/passes/training/BatchDivision.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

namespace {
/// A factor that has the batch: outer x batch x inner.
struct BatchFactor {
  unsigned factor;
  int64_t outer, inner;
  bool operator==(const BatchFactor &) const = default;
};
} // namespace

/// The factor of a tensor's dimension that has the batch, or nothing if it is
/// spread over several.
static std::optional<BatchFactor> factorOf(const ShardingRule &rule,
                                           const TensorFactors &tensor,
                                           const BatchRows &rows,
                                           int64_t batch) {
  if (rows.dim >= tensor.size())
    return std::nullopt;
  int64_t after = 1;
  for (unsigned factor : llvm::reverse(tensor[rows.dim])) {
    int64_t size = rule.factors[factor].size;
    if (rows.inner % after == 0 && after * size % (rows.inner * batch) == 0) {
      int64_t inner = rows.inner / after;
      return BatchFactor{factor, size / (inner * batch), inner};
    }
    after *= size;
  }
  return std::nullopt;
}

/// Where the tensor has the factor; nothing if nowhere or twice.
static SmallVector<BatchRows, 1> placesOf(const ShardingRule &rule,
                                          const TensorFactors &tensor,
                                          const BatchFactor &batch) {
  SmallVector<BatchRows, 1> places;
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    int64_t outer = batch.outer, inner = batch.inner;
    bool isFound = false;
    for (unsigned factor : factors) {
      if (factor == batch.factor)
        isFound = true;
      else
        (isFound ? inner : outer) *= rule.factors[factor].size;
    }
    if (isFound)
      places.push_back({static_cast<unsigned>(dim), outer, inner});
  }
  return places;
}

/// The division of an op along one factor.
static std::optional<OpDivision> divideAlong(const ShardingRule &rule,
                                             const BatchFactor &batch) {
  const Factor &factor = rule.factors[batch.factor];
  bool isMapped = llvm::any_of(rule.positions, [&](const PositionMap &map) {
    return map.factor == batch.factor;
  });
  OpDivision division;
  division.isReduced = factor.kind == FactorKind::Reduce;
  division.reduce = factor.reduce;
  division.inits = rule.inits;
  if (isMapped || (!division.isReduced && factor.kind != FactorKind::Pass))
    return std::nullopt;
  for (const TensorFactors &tensor : rule.operands) {
    auto places = placesOf(rule, tensor, batch);
    if (places.size() > 1)
      return std::nullopt;
    division.operands.push_back(places.empty() ? std::nullopt
                                               : std::optional(places.front()));
  }
  for (const TensorFactors &tensor : rule.results) {
    auto places = placesOf(rule, tensor, batch);
    if (places.size() != (division.isReduced ? 0 : 1))
      return std::nullopt;
    division.results.push_back(division.isReduced
                                   ? BatchPart::ofSummand(factor.reduce)
                                   : BatchPart::ofRows(places.front()));
  }
  return division;
}

std::optional<OpDivision> weft::divideByOperands(Operation *op, int64_t batch,
                                                 PartOf partOf) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return std::nullopt;
  ShardingRule rule = ruled.getShardingRule();
  std::optional<BatchFactor> factor;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    BatchPart part = partOf(operand);
    if (part.kind != BatchPart::Rows)
      continue;
    auto found = factorOf(rule, rule.operands[number], part.rows, batch);
    if (!found || (factor && *factor != *found))
      return std::nullopt;
    factor = found;
  }
  return factor ? divideAlong(rule, *factor) : std::nullopt;
}

std::optional<OpDivision>
weft::divideByResult(OpResult result, const BatchRows &rows, int64_t batch) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(result.getOwner());
  if (!ruled)
    return std::nullopt;
  ShardingRule rule = ruled.getShardingRule();
  auto factor =
      factorOf(rule, rule.results[result.getResultNumber()], rows, batch);
  if (!factor)
    return std::nullopt;
  auto division = divideAlong(rule, *factor);
  if (division && division->isReduced)
    return std::nullopt;
  return division;
}

std::optional<SummandPassing> weft::passSummands(Operation *op, PartOf partOf) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || op->getNumResults() != 1)
    return std::nullopt;
  ShardingRule rule = ruled.getShardingRule();
  if (rule.linearity.size() != op->getNumOperands())
    return std::nullopt;
  std::optional<ReduceKind> kind;
  bool isJoint = false;
  unsigned summands = 0;
  for (auto [operand, linearity] :
       llvm::zip_equal(op->getOperands(), rule.linearity)) {
    BatchPart part = partOf(operand);
    if (part.kind != BatchPart::Summand)
      continue;
    auto passed = passedReduction(linearity, part.reduce);
    if (!passed || (kind && *kind != *passed))
      return std::nullopt;
    kind = passed;
    ++summands;
    isJoint |= has(linearity, Linearity::JointlyLinear);
  }
  if (!kind || (summands > 1 && !isJoint))
    return std::nullopt;
  SummandPassing passing{BatchPart::ofSummand(*kind), {}};
  for (auto [operand, linearity] :
       llvm::zip_equal(op->getOperands(), rule.linearity)) {
    bool joins = has(linearity, Linearity::JointlyLinear);
    if (partOf(operand).kind == BatchPart::Summand && isJoint && !joins)
      return std::nullopt;
    passing.joins.push_back(isJoint && joins);
  }
  return passing;
}

RankedTensorType weft::typeOfRows(Type type, const BatchRows &at,
                                  int64_t share) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[at.dim] = at.outer * share * at.inner;
  return tensor.clone(shape);
}
