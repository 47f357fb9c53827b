//===- RuleVerification.cpp - do an op's layouts follow its rule? ---------===//

#include "weft/dialects/weft/RuleVerification.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/rules/RuleParts.h"

#include <vector>

using namespace mlir;
using namespace weft;

namespace {
/// A tensor of the op: its name ("operand 1"), its factors and its layout.
struct PlacedTensor {
  std::string name;
  unsigned index; ///< number among all operands, or all results
  const TensorFactors *factors;
  Layout layout;
};

/// The partial axes that operands pass on to the results.
struct PassedPartial {
  SubAxes axes;
  ReduceKind kind = ReduceKind::Sum;
};

class RuleCheck {
public:
  RuleCheck(Operation *op, const ShardingRule &rule [[clang::lifetimebound]])
      : op(op), rule(rule) {}
  std::string run();

private:
  std::string place(StringRef what, TypeRange types,
                    ArrayRef<TensorFactors> factors,
                    std::vector<PlacedTensor> &out);
  std::string checkTensor(const PlacedTensor &tensor);
  std::string join(const PlacedTensor &tensor, unsigned factor,
                   const SubAxes &axes);
  std::string passPartials(PassedPartial &passed);
  std::string checkFactors(ArrayRef<SubAxis> passed);
  std::string checkPartial(const PlacedTensor &tensor,
                           const PassedPartial &passed);
  bool isInit(unsigned operand) const {
    return llvm::is_contained(rule.inits, operand);
  }
  std::string text(ArrayRef<SubAxis> axes) const;
  std::string factorName(unsigned factor) const {
    return "factor " + std::to_string(factor) + " of size " +
           std::to_string(rule.factors[factor].size);
  }

  Operation *op;
  const ShardingRule &rule;
  MeshAttr meshAttr;
  Mesh mesh;
  std::vector<PlacedTensor> operands, results;
  /// The axes of each factor, and the tensor that determined them.
  SmallVector<SubAxes> axes;
  SmallVector<const PlacedTensor *> source;
};
} // namespace

std::string RuleCheck::text(ArrayRef<SubAxis> list) const {
  Layout layout = Layout::replicated(1);
  layout.dims[0].assign(list.begin(), list.end());
  return StringRef(toString(mesh, layout)).drop_front().drop_back().str();
}

/// Collects all ranked tensors of one side with their layouts.
std::string RuleCheck::place(StringRef what, TypeRange types,
                             ArrayRef<TensorFactors> factors,
                             std::vector<PlacedTensor> &out) {
  for (auto [index, type] : llvm::enumerate(types)) {
    if (!isa<RankedTensorType>(type))
      continue;
    std::string name = (what + " " + Twine(index)).str();
    if (index >= factors.size())
      return "the rule has no factors for " + name;
    LayoutAttr layout = getLayout(type);
    if (!layout)
      return name + " has no layout, but other tensors of the op have";
    if (!meshAttr)
      meshAttr = layout.getMesh();
    if (layout.getMesh() != meshAttr)
      return name + " lies on another mesh than the tensors before it";
    out.push_back({name, static_cast<unsigned>(index), &factors[index],
                   layout.getLayout()});
    const PlacedTensor &first =
        operands.empty() ? out.front() : operands.front();
    if (first.layout.part != out.back().layout.part)
      return name + " is on " +
             describe(layout.getMesh().getMesh().axes, out.back().layout.part) +
             ", but " + first.name + " on " +
             describe(layout.getMesh().getMesh().axes, first.layout.part) +
             ": reshard one of them";
  }
  return {};
}

std::string RuleCheck::join(const PlacedTensor &tensor, unsigned factor,
                            const SubAxes &list) {
  if (!source[factor]) {
    source[factor] = &tensor;
    axes[factor] = list;
    return {};
  }
  if (axes[factor] == list)
    return {};
  return factorName(factor) + " has axes " + text(axes[factor]) + " in " +
         source[factor]->name + ", but " + text(list) + " in " + tensor.name;
}

std::string RuleCheck::checkTensor(const PlacedTensor &tensor) {
  for (auto [dim, factors] : llvm::enumerate(*tensor.factors))
    if (factors.empty() && !tensor.layout.dims[dim].empty())
      return "dim " + std::to_string(dim) + " of " + tensor.name +
             " cannot be sharded, but has axes " +
             text(tensor.layout.dims[dim]);
  FactorShardings found =
      projectToFactors(mesh, rule, *tensor.factors, tensor.layout);
  if (!found.exact)
    return "the axes of " + tensor.name +
           " cannot be told apart by factors: " + toString(mesh, tensor.layout);
  for (const DimFactors &factors : *tensor.factors)
    for (unsigned factor : factors)
      if (std::string reason =
              join(tensor, factor, normalise(mesh, found.axes[factor]));
          !reason.empty())
        return reason;
  return {};
}

/// Checks that no axis is used twice in one part of the rule, and no factor of
/// kind Replicated is sharded.
std::string RuleCheck::checkFactors(ArrayRef<SubAxis> passed) {
  SmallVector<unsigned> part = partsOfFactors(rule);
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    if (rule.factors[factor].kind == FactorKind::Replicated &&
        !axes[factor].empty())
      return factorName(factor) + " cannot be sharded, but has axes " +
             text(axes[factor]);
    for (const SubAxis &sub : axes[factor]) {
      auto clashes = [&](const SubAxis &other) { return overlaps(sub, other); };
      for (unsigned other = 0; other < factor; ++other)
        if (part[other] == part[factor] && llvm::any_of(axes[other], clashes))
          return factorName(factor) + " and " + factorName(other) +
                 " both use axis \"" + mesh.axes[sub.axis].name + "\"";
      if (llvm::any_of(passed, clashes))
        return factorName(factor) + " uses axis \"" + mesh.axes[sub.axis].name +
               "\", over which an operand is partial";
    }
  }
  return {};
}

/// Collects partial axes that reach the results by linearity.
std::string RuleCheck::passPartials(PassedPartial &passed) {
  const PlacedTensor *carrier = nullptr;
  // Whether the carrier is jointly linear: all such operands must be partial.
  bool together = false;
  auto linearityOf = [&](size_t index) {
    return index < rule.linearity.size() ? rule.linearity[index]
                                         : Linearity::None;
  };
  for (const PlacedTensor &operand : operands) {
    if (!operand.layout.isPartial() || isInit(operand.index))
      continue;
    Linearity linearity = linearityOf(operand.index);
    auto kind = passedReduction(linearity, operand.layout.reduce);
    if (!kind)
      return operand.name + " is partial (" +
             std::string(stringifyReduceKind(operand.layout.reduce)) +
             " over " + text(operand.layout.partial) +
             "), and the op does not pass that on: reshard it first";
    bool jointly = *kind == ReduceKind::Sum &&
                   has(linearity, Linearity::JointlyLinear) &&
                   !has(linearity, Linearity::Linear | Linearity::Moving);
    if (carrier && !(together && jointly &&
                     carrier->layout.partial == operand.layout.partial))
      return operand.name + " is partial over " + text(operand.layout.partial) +
             ", and " + carrier->name + " over " +
             text(carrier->layout.partial) + ": reshard one of them";
    carrier = &operand;
    together = jointly;
    passed = {operand.layout.partial, *kind};
  }
  if (!together)
    return {};
  for (const PlacedTensor &operand : operands)
    if (!isInit(operand.index) &&
        has(linearityOf(operand.index), Linearity::JointlyLinear) &&
        !operand.layout.isPartial())
      return carrier->name + " is partial over " + text(passed.axes) +
             ", but " + operand.name +
             " is not: each device would add all of it";
  return {};
}

/// Checks that a result, or an operand that is accumulated into, is partial
/// over the op's reduced axes and those that reach it by linearity.
std::string RuleCheck::checkPartial(const PlacedTensor &result,
                                    const PassedPartial &passed) {
  Layout expected = Layout::replicated(0);
  expected.partial.assign(passed.axes.begin(), passed.axes.end());
  expected.reduce = passed.kind;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    const Factor &data = rule.factors[factor];
    bool reduces =
        data.kind == FactorKind::Reduce || data.kind == FactorKind::Lookup;
    bool stays = llvm::any_of(*result.factors, [&](const DimFactors &dim) {
      return llvm::is_contained(dim, factor);
    });
    if (!reduces || stays || axes[factor].empty())
      continue;
    if (expected.isPartial() && expected.reduce != data.reduce)
      return result.name + " would be partial with two reductions, " +
             std::string(stringifyReduceKind(expected.reduce)) + " and " +
             std::string(stringifyReduceKind(data.reduce));
    expected.reduce = data.reduce;
    llvm::append_range(expected.partial, axes[factor]);
  }
  expected = normalise(mesh, expected);
  if (expected.partial != result.layout.partial)
    return result.name + " should be partial over " + text(expected.partial) +
           ", but is over " + text(result.layout.partial);
  if (expected.isPartial() && expected.reduce != result.layout.reduce)
    return result.name + " should be a partial " +
           std::string(stringifyReduceKind(expected.reduce)) +
           ", but is a partial " +
           std::string(stringifyReduceKind(result.layout.reduce));
  return {};
}

std::string RuleCheck::run() {
  std::string reason =
      place("operand", op->getOperandTypes(), rule.operands, operands);
  if (reason.empty())
    reason = place("result", op->getResultTypes(), rule.results, results);
  if (!reason.empty() || !meshAttr)
    return reason;
  mesh = meshAttr.getMesh();
  axes.resize(rule.factors.size());
  source.resize(rule.factors.size());
  for (const PlacedTensor &tensor :
       llvm::concat<const PlacedTensor>(operands, results))
    if (reason = checkTensor(tensor); !reason.empty())
      return reason;
  PassedPartial passed;
  if (reason = passPartials(passed); !reason.empty())
    return reason;
  if (reason = checkFactors(passed.axes); !reason.empty())
    return reason;
  for (const PlacedTensor &result : results)
    if (reason = checkPartial(result, passed); !reason.empty())
      return reason;
  for (const PlacedTensor &operand : operands)
    if (isInit(operand.index))
      if (reason = checkPartial(operand, passed); !reason.empty())
        return reason;
  return {};
}

std::string weft::layoutsDisagree(Operation *op) {
  auto sharded = dyn_cast<ShardingRuleOpInterface>(op);
  auto hasLayout = [](Type type) { return bool(getLayout(type)); };
  if (!sharded || !(llvm::any_of(op->getOperandTypes(), hasLayout) ||
                    llvm::any_of(op->getResultTypes(), hasLayout)))
    return {};
  ShardingRule rule = sharded.getShardingRule();
  return RuleCheck(op, rule).run();
}
