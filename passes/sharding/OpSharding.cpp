//===- OpSharding.cpp - layouts of one op's tensors, by its factors -------===//

#include "weft/passes/sharding/OpSharding.h"
#include "weft/dialects/plan/LocalArrays.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/rules/RuleParts.h"

#include "weft/passes/sharding/FetchedOperands.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Ops and rules
//===----------------------------------------------------------------------===//

static bool isElementwise(const ShardingRule &rule) {
  if (rule.results.empty() || rule.operands.empty())
    return false;
  for (const Factor &factor : rule.factors)
    if (factor.kind != FactorKind::Pass)
      return false;
  auto same = [&](const TensorFactors &t) { return t == rule.results.front(); };
  return llvm::all_of(rule.operands, same) && llvm::all_of(rule.results, same);
}

static bool isSource(const ShardingRule &rule) {
  for (const TensorFactors &operand : rule.operands)
    for (const DimFactors &dim : operand)
      if (!dim.empty())
        return false;
  for (const Factor &factor : rule.factors)
    if (factor.kind != FactorKind::Pass && factor.kind != FactorKind::Position)
      return false;
  return true;
}

/// The rule of an op that cannot be sharded: no dimension has a factor.
static ShardingRule replicatedRule(Operation *op) {
  ShardingRule rule;
  auto add = [](auto &out, TypeRange types) {
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      out.push_back(TensorFactors(tensor ? tensor.getRank() : 0));
    }
  };
  add(rule.operands, op->getOperandTypes());
  add(rule.results, op->getResultTypes());
  return rule;
}

MeshPart weft::placeByTypes(Operation *op) {
  for (TypeRange types :
       {TypeRange(op->getResultTypes()), TypeRange(op->getOperandTypes())})
    for (Type type : types)
      if (LayoutAttr layout = getLayout(type))
        return layout.getLayout().part;
  return {};
}

void OpWithRule::put(const MeshPart &on) {
  place = on;
  for (OpWithRule &part : parts)
    part.put(on);
}

OpWithRule OpWithRule::get(Operation *op) {
  OpWithRule ruled;
  ruled.op = op;
  auto known = dyn_cast<ShardingRuleOpInterface>(op);
  if (!known) {
    ruled.rule = replicatedRule(op);
    ruled.isReplicated = true;
    ruled.put(placeByTypes(op));
    return ruled;
  }
  ruled.rule = known.getShardingRule();
  ruled.source = isMemoryEffectFree(op) && isSource(ruled.rule);
  ruled.partOfFactor = partsOfFactors(ruled.rule);
  for (RulePart &split : splitRule(ruled.rule, ruled.partOfFactor)) {
    OpWithRule &part = ruled.parts.emplace_back();
    part.op = op;
    part.rule = std::move(split.rule);
    part.elementwise = isElementwise(part.rule);
    part.source = ruled.source;
    part.partOfFactor.resize(part.rule.factors.size());
    part.tensorNumbers = std::move(split.tensors);
    part.factorNumbers = std::move(split.factors);
  }
  ruled.elementwise =
      ruled.parts.empty()
          ? isElementwise(ruled.rule)
          : llvm::all_of(ruled.parts, [](const OpWithRule &part) {
              return part.elementwise;
            });
  ruled.put(placeByTypes(op));
  return ruled;
}

Value OpWithRule::value(unsigned tensor) const {
  unsigned operands = op->getNumOperands(), number = numberInOp(tensor);
  return number < operands ? op->getOperand(number)
                           : Value(op->getResult(number - operands));
}

const TensorFactors &OpWithRule::factors(unsigned tensor) const {
  return isOperand(tensor) ? rule.operands[tensor]
                           : rule.results[tensor - numOperands()];
}

bool OpWithRule::isShardable(unsigned factor) const {
  switch (rule.factors[factor].kind) {
  case FactorKind::Pass:
  case FactorKind::Position:
  case FactorKind::Reduce:
  case FactorKind::Lookup:
  case FactorKind::Scan:
  case FactorKind::Select:
    return true;
  case FactorKind::Window:
  case FactorKind::Shift:
    return isFetchable(rule, factor);
  case FactorKind::Replicated:
    return false;
  }
  return false;
}

FactorAxes OpWithRule::project(const Mesh &mesh, unsigned tensor,
                               const Layout &layout) const {
  FactorAxes axes = projectToFactors(mesh, rule, factors(tensor), layout).axes;
  for (auto [factor, list] : llvm::enumerate(axes)) {
    if (!isShardable(factor))
      list.clear();
    llvm::erase_if(list,
                   [&](const SubAxis &sub) { return fixes(place, sub.axis); });
  }
  return axes;
}

bool weft::samePartial(const Layout &a, const Layout &b) {
  return a.partial == b.partial && (a.partial.empty() || a.reduce == b.reduce);
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Whether a factor of the part uses the axis.
static bool isUsed(const OpWithRule &op, unsigned part, const FactorAxes &axes,
                   const SubAxis &axis) {
  auto clashes = [&](const SubAxis &other) { return overlaps(axis, other); };
  for (auto [factor, list] : llvm::enumerate(axes))
    if (op.partOfFactor[factor] == part && llvm::any_of(list, clashes))
      return true;
  return false;
}

bool weft::mergeInto(const OpWithRule &op, FactorAxes &axes,
                     const FactorAxes &more) {
  bool complete = true;
  for (auto [factor, list] : llvm::enumerate(more)) {
    SubAxes &mine = axes[factor];
    size_t common = std::min(mine.size(), list.size());
    if (!std::equal(mine.begin(), mine.begin() + common, list.begin())) {
      complete = false;
      continue;
    }
    for (const SubAxis &axis : llvm::ArrayRef(list).drop_front(common)) {
      if (isUsed(op, op.partOfFactor[factor], axes, axis)) {
        complete = false;
        break;
      }
      mine.push_back(axis);
    }
  }
  return complete;
}

static int64_t sizeInBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getNumElements() * bytesOf(type.getElementType()) : 0;
}

/// The axes of a piece's factors, those of large tensors first.
static FactorAxes mergePiece(const Mesh &mesh, const OpWithRule &op,
                             const TensorLayouts &layouts) {
  llvm::SmallVector<unsigned> order(
      llvm::to_vector(llvm::seq<unsigned>(0, op.numTensors())));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-sizeInBytes(op.value(a)), a) <
           std::pair(-sizeInBytes(op.value(b)), b);
  });
  FactorAxes axes(op.rule.factors.size());
  for (unsigned tensor : order)
    if (layouts[tensor])
      mergeInto(op, axes, op.project(mesh, tensor, *layouts[tensor]));
  return axes;
}

TensorLayouts weft::layoutsOf(const OpWithRule &piece,
                              const TensorLayouts &all) {
  if (piece.tensorNumbers.empty())
    return all;
  TensorLayouts layouts;
  for (unsigned number : piece.tensorNumbers)
    layouts.push_back(all[number]);
  return layouts;
}

FactorAxes weft::mergeFactors(const Mesh &mesh, const OpWithRule &op,
                              const TensorLayouts &layouts) {
  if (op.parts.empty())
    return mergePiece(mesh, op, layouts);
  FactorAxes axes(op.rule.factors.size());
  for (const OpWithRule &part : op.parts) {
    FactorAxes merged = mergePiece(mesh, part, layoutsOf(part, layouts));
    for (auto [factor, list] : llvm::enumerate(merged))
      axes[part.factorNumbers[factor]] = std::move(list);
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

/// Cuts each factor's axes to those that this tensor's layout can express.
/// Returns whether none was cut.
static bool cutToTensor(const Mesh &mesh, const OpWithRule &op, unsigned tensor,
                        FactorAxes &axes) {
  const TensorFactors &factors = op.factors(tensor);
  Layout layout = projectToTensor(mesh, op.rule, factors, axes);
  FactorAxes back = projectToFactors(mesh, op.rule, factors, layout).axes;
  bool isAll = true;
  for (const DimFactors &dim : factors)
    for (unsigned factor : dim) {
      SubAxes wanted = normalise(mesh, axes[factor]);
      if (back[factor] == wanted)
        continue;
      axes[factor] = back[factor];
      isAll = false;
    }
  return isAll;
}

static bool has(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor, [&](const DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

/// Whether sharding the factor makes results that lack it partial.
static bool isReduced(const Factor &factor) {
  return factor.kind == FactorKind::Reduce || factor.kind == FactorKind::Lookup;
}

/// Adds the partial axes of a result, or of an operand with a result's layout:
/// those of reduced factors that it lacks.
static void addPartial(const OpWithRule &op, const TensorFactors &tensor,
                       const FactorAxes &axes, Layout &layout) {
  for (auto [index, factor] : llvm::enumerate(op.rule.factors))
    if (isReduced(factor) && !axes[index].empty() && !has(tensor, index)) {
      llvm::append_range(layout.partial, axes[index]);
      layout.reduce = factor.reduce;
    }
}

/// All results have one kind of reduction: factors of another kind lose their
/// axes.
static void keepOneReduceKind(const OpWithRule &op, FactorAxes &axes) {
  std::optional<ReduceKind> kind;
  for (auto [index, factor] : llvm::enumerate(op.rule.factors)) {
    bool stays =
        llvm::all_of(op.rule.results, [&, index = index](auto &result) {
          return has(result, index);
        });
    if (!isReduced(factor) || stays || axes[index].empty())
      continue;
    if (kind && *kind != factor.reduce)
      axes[index].clear();
    else
      kind = factor.reduce;
  }
}

OpSharding weft::applyAxes(const Mesh &mesh, const OpWithRule &op,
                           FactorAxes axes) {
  keepOneReduceKind(op, axes);
  bool stable = false;
  while (!stable) {
    stable = true;
    for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor)
      stable &= cutToTensor(mesh, op, tensor, axes);
  }
  OpSharding sharding;
  for (const auto &[index, factors] : llvm::enumerate(op.rule.operands)) {
    Layout layout = projectToTensor(mesh, op.rule, factors, axes);
    if (llvm::is_contained(op.rule.inits, index))
      addPartial(op, factors, axes, layout);
    layout.part = op.place;
    sharding.operands.push_back(normalise(mesh, layout));
  }
  for (const TensorFactors &factors : op.rule.results) {
    Layout layout = projectToTensor(mesh, op.rule, factors, axes);
    addPartial(op, factors, axes, layout);
    layout.part = op.place;
    sharding.results.push_back(normalise(mesh, layout));
  }
  sharding.axes = std::move(axes);
  return sharding;
}

/// The op as a collective that works on shards; null for other ops.
static plan::PlanInstructionOpInterface collectiveOnShards(Operation *op) {
  return isa<ShardingRuleOpInterface>(op)
             ? dyn_cast<plan::PlanInstructionOpInterface>(op)
             : plan::PlanInstructionOpInterface();
}

std::optional<SubAxes> weft::linksUsedBy(const OpWithRule &op) {
  plan::PlanInstructionOpInterface sends = collectiveOnShards(op.op);
  if (!sends)
    return std::nullopt;
  LayoutAttr group = sends.getCommunicatingGroup();
  const Mesh mesh = group.getMesh().getMesh();
  SubAxes axes = plan::groupAxes(group);
  return linksOf(sends.getCommunication().getCommunication(), {mesh, axes});
}

int64_t weft::bytesSentBy(const OpWithRule &op, const OpSharding &sharding) {
  plan::PlanInstructionOpInterface sends = collectiveOnShards(op.op);
  if (!sends)
    return 0;
  std::vector<LocalArray> held, received;
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    auto type = dyn_cast<RankedTensorType>(op.value(tensor).getType());
    if (!type)
      continue;
    bool isOperand = op.isOperand(tensor);
    const Layout &layout = isOperand
                               ? sharding.operands[tensor]
                               : sharding.results[tensor - op.numOperands()];
    LocalArray array = plan::localArray(type);
    array.shape = localShape(layout, type.getShape());
    (isOperand ? held : received).push_back(std::move(array));
  }
  LayoutAttr group = sends.getCommunicatingGroup();
  const Mesh mesh = group.getMesh().getMesh();
  SubAxes axes = plan::groupAxes(group);
  return bytesSent(sends.getCommunication().getCommunication(), {mesh, axes},
                   held, received);
}

bool weft::nothingSplit(const TensorLayouts &layouts) {
  return llvm::all_of(layouts, [](const Layout *layout) {
    return !layout || layout->isReplicated();
  });
}
