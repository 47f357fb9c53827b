//===- RuleParts.cpp - computations of one op that are independent --------===//

#include "weft/dialects/weft/rules/RuleParts.h"

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;

/// Joins all factors of a tensor with `node`.
static void joinTensor(llvm::IntEqClasses &classes, unsigned node,
                       const TensorFactors &tensor) {
  for (const DimFactors &dim : tensor)
    for (unsigned factor : dim)
      classes.join(node, factor);
}

llvm::SmallVector<unsigned> weft::partsOfFactors(const ShardingRule &rule) {
  unsigned numFactors = rule.factors.size();
  llvm::IntEqClasses classes(numFactors + rule.operands.size() +
                             rule.results.size());
  unsigned node = numFactors;
  for (const TensorFactors &operand : rule.operands)
    joinTensor(classes, node++, operand);
  for (const TensorFactors &result : rule.results) {
    joinTensor(classes, node, result);
    for (auto [index, factor] : llvm::enumerate(rule.factors))
      if (factor.kind == FactorKind::Reduce ||
          factor.kind == FactorKind::Lookup)
        classes.join(node, index);
    ++node;
  }
  classes.compress();
  llvm::SmallVector<bool> isSharded(classes.getNumClasses());
  for (auto [index, factor] : llvm::enumerate(rule.factors))
    isSharded[classes[index]] |= factor.kind != FactorKind::Replicated;
  constexpr unsigned none = ~0u;
  llvm::SmallVector<unsigned> numbers(classes.getNumClasses(), none), parts;
  unsigned count = 0;
  for (unsigned factor = 0; factor < numFactors; ++factor) {
    unsigned &number = numbers[classes[factor]];
    if (number == none)
      number = isSharded[classes[factor]] ? count++ : 0;
    parts.push_back(number);
  }
  return parts;
}

namespace {
/// Distributes a rule over its parts.
class RuleSplitter {
public:
  RuleSplitter(const ShardingRule &rule [[clang::lifetimebound]],
               llvm::ArrayRef<unsigned> partOfFactor)
      : rule(rule), partOfFactor(partOfFactor),
        parts(1 + *llvm::max_element(partOfFactor)) {
    auto hasNoFactor = [](const TensorFactors &tensor) {
      return llvm::all_of(tensor, [](auto &dim) { return dim.empty(); });
    };
    if (llvm::any_of(rule.operands, hasNoFactor) ||
        llvm::any_of(rule.results, hasNoFactor))
      parts.emplace_back();
  }

  std::vector<RulePart> split() {
    for (auto [index, factor] : llvm::enumerate(rule.factors)) {
      RulePart &part = parts[partOfFactor[index]];
      newFactor.push_back(part.factors.size());
      part.factors.push_back(index);
      part.rule.factors.push_back(factor);
    }
    for (auto [index, operand] : llvm::enumerate(rule.operands))
      addOperand(index, operand);
    for (auto [index, result] : llvm::enumerate(rule.results)) {
      RulePart &part = partOf(result);
      newResult.push_back(part.rule.results.size());
      part.rule.results.push_back(renumbered(result));
      part.tensors.push_back(rule.operands.size() + index);
    }
    llvm::for_each(rule.positions,
                   [&](const PositionMap &map) { addPositions(map); });
    return std::move(parts);
  }

private:
  RulePart &partOf(const TensorFactors &tensor) {
    for (const DimFactors &dim : tensor)
      if (!dim.empty())
        return parts[partOfFactor[dim.front()]];
    return parts.back();
  }
  TensorFactors renumbered(TensorFactors tensor) const {
    for (DimFactors &dim : tensor)
      for (unsigned &factor : dim)
        factor = newFactor[factor];
    return tensor;
  }
  void addOperand(unsigned index, const TensorFactors &operand) {
    RulePart &part = partOf(operand);
    unsigned number = part.rule.operands.size();
    newOperand.push_back(number);
    part.rule.operands.push_back(renumbered(operand));
    part.tensors.push_back(index);
    if (llvm::is_contained(rule.inits, index))
      part.rule.inits.push_back(number);
    if (!rule.linearity.empty())
      part.rule.linearity.push_back(rule.linearity[index]);
  }
  /// The value of absent positions concerns the whole op only.
  void addPositions(PositionMap map) {
    RulePart &part = parts[partOfFactor[map.factor]];
    map.operand = newOperand[map.operand];
    map.result = map.result < newResult.size() ? newResult[map.result] : 0;
    map.factor = newFactor[map.factor];
    map.fillOperand = -1;
    part.rule.positions.push_back(map);
  }

  const ShardingRule &rule;
  llvm::ArrayRef<unsigned> partOfFactor;
  std::vector<RulePart> parts;
  llvm::SmallVector<unsigned> newFactor, newOperand, newResult;
};
} // namespace

std::vector<RulePart> weft::splitRule(const ShardingRule &rule,
                                      llvm::ArrayRef<unsigned> partOfFactor) {
  if (llvm::all_of(partOfFactor, [](unsigned part) { return part == 0; }))
    return {};
  return RuleSplitter(rule, partOfFactor).split();
}
