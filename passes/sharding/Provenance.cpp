//===- Provenance.cpp - why a value moves, for people ---------------------===//

#include "weft/passes/sharding/Provenance.h"

#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/gradients/ReverseMode.h"
#include "weft/passes/sharding/RegionFlow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;
using namespace mlir;

StringAttr weft::joinReasons(llvm::ArrayRef<StringAttr> reasons) {
  MLIRContext *context = nullptr;
  llvm::SetVector<llvm::StringRef> clauses;
  for (StringAttr reason : reasons) {
    if (!reason)
      continue;
    context = reason.getContext();
    llvm::SmallVector<llvm::StringRef> listed;
    reason.getValue().split(listed, "; ");
    clauses.insert(listed.begin(), listed.end());
  }
  return context ? StringAttr::get(context, llvm::join(clauses, "; "))
                 : StringAttr();
}

static bool isGradientName(NameLoc name) {
  return name.getName().getValue() == kGradientOf;
}

/// The layer of an op, or of the op whose gradient it is.
static llvm::StringRef layerOf(Operation *op) {
  llvm::StringRef layer;
  op->getLoc()->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    if (!name || isGradientName(name))
      return WalkResult::advance();
    layer = name.getName();
    return WalkResult::interrupt();
  });
  return layer;
}

static bool isGradient(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name && isGradientName(name);
}

static llvm::StringRef portName(DictionaryAttr attributes) {
  if (!attributes)
    return {};
  auto name = attributes.getAs<StringAttr>(kNameAttr);
  return name ? name.getValue() : llvm::StringRef();
}

/// Names the values from which elementwise ops of its shape compute the value,
/// back to the first one that another op computes.
void Provenance::nameBackwards(Value value, const std::string &name) {
  llvm::SmallVector<Value> stack{value};
  while (!stack.empty()) {
    Value next = stack.pop_back_val();
    Operation *def = next.getDefiningOp();
    if (!def || !names.try_emplace(next, name).second ||
        !OpWithRule::get(def).elementwise)
      continue;
    for (Value operand : def->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        stack.push_back(operand);
  }
}

Provenance::Provenance(func::FuncOp function) : function(function) {
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto result = donatedResult(function, index);
    auto role = function.getArgAttrOfType<StringAttr>(index, kRoleAttr);
    llvm::StringRef name = portName(function.getArgAttrDict(index));
    if (result && role && role == "weight" && !name.empty())
      nameBackwards(end->getOperand(*result), "gradient of " + name.str());
  }
  for (unsigned index = 0; index < end->getNumOperands(); ++index) {
    llvm::StringRef name = portName(function.getResultAttrDict(index));
    auto role = function.getResultAttrOfType<StringAttr>(index, kRoleAttr);
    // A model's output is described by its layer, whose name is clearer.
    bool isOutput = role && role == "output";
    if (!name.empty() && !isOutput)
      nameBackwards(end->getOperand(index), name.str());
  }
}

/// The op, such as a loop, whose region takes the value as an argument; null
/// for a function's arguments and results of ops.
static Operation *holderOf(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  Operation *holder = arg ? arg.getOwner()->getParentOp() : nullptr;
  return isa_and_nonnull<func::FuncOp>(holder) ? nullptr : holder;
}

std::string Provenance::describe(Value value) const {
  if (Operation *holder = holderOf(value)) {
    llvm::StringRef layer = layerOf(holder);
    return "region argument of " +
           (layer.empty() ? holder->getName().getStringRef() : layer).str();
  }
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto name =
        function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr);
    return name ? name.str() : "argument " + std::to_string(arg.getArgNumber());
  }
  if (auto it = names.find(value); it != names.end())
    return it->second;
  Operation *def = value.getDefiningOp();
  llvm::StringRef layer = layerOf(def);
  if (layer.empty())
    return "result of " + def->getName().getStringRef().str();
  return (isGradient(def) ? "gradient in " : "output of ") + layer.str();
}

std::string Provenance::path(Value value) const {
  static constexpr llvm::StringLiteral gradient = "gradient of ";
  if (Operation *holder = holderOf(value))
    return layerOf(holder).str();
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto name = dyn_cast<NameLoc>(arg.getLoc());
    return name ? name.getName().str() : describe(value);
  }
  if (auto it = names.find(value); it != names.end()) {
    llvm::StringRef name = it->second;
    name.consume_front(gradient);
    return name.str();
  }
  llvm::StringRef layer = layerOf(value.getDefiningOp());
  return layer.empty() ? "" : layer.str() + "/output";
}

static std::string axisNames(const Mesh &mesh, llvm::ArrayRef<SubAxis> axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(axes, os, [&](const SubAxis &axis) {
    os << '"' << mesh.axes[axis.axis].name << '"';
    if (axis.size != mesh.axes[axis.axis].size)
      os << ":(" << axis.skip << ')' << axis.size;
  });
  return text;
}

static llvm::StringRef combined(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return "summed";
  case ReduceKind::Prod:
    return "multiplied";
  default:
    return "combined";
  }
}

static std::string consumerName(func::FuncOp function,
                                const OpWithRule &consumer, unsigned operand) {
  if (auto constrain = dyn_cast<ConstrainOp>(consumer.op))
    return constrain.getReason() ? constrain.getReason()->str()
                                 : "a constraint";
  if (isa<func::ReturnOp>(consumer.op)) {
    llvm::StringRef name = portName(function.getResultAttrDict(operand));
    return name.empty() ? "result " + std::to_string(operand) : name.str();
  }
  llvm::StringRef layer = layerOf(consumer.op);
  return layer.empty() ? consumer.op->getName().getStringRef().str()
                       : layer.str();
}

/// The axes of `a` that `b` does not use.
static SubAxes lost(const Layout &a, const Layout &b) {
  SubAxes axes;
  for (const SubAxes &dim : a.dims)
    for (const SubAxis &axis : dim) {
      bool kept = llvm::any_of(b.dims, [&](const SubAxes &other) {
        return llvm::is_contained(other, axis);
      });
      if (!kept)
        axes.push_back(axis);
    }
  return axes;
}

/// The reason why the op cannot have these axes on a dimension: "6 shards do
/// not divide 4 x 9", "no factor shards it".
static std::string whyReplicated(const OpWithRule &consumer,
                                 const DimFactors &factors, int64_t shards) {
  if (factors.empty())
    return "no factor shards it";
  std::string sizes;
  for (unsigned factor : factors) {
    if (consumer.rule.factors[factor].kind == FactorKind::Replicated)
      return "it is computed as a whole";
    if (!consumer.isShardable(factor))
      return "its " +
             stringifyFactorKind(consumer.rule.factors[factor].kind).str() +
             " factor has no known positions";
    sizes += (sizes.empty() ? "" : " x ") +
             std::to_string(consumer.rule.factors[factor].size);
  }
  return std::to_string(shards) + " shards do not divide " + sizes;
}

/// The clause ", which needs dimension 1 whole: no factor shards it" if the op
/// cannot work on shards of it under any layouts of its other tensors.
static std::string replicatedDims(const Mesh &mesh, const OpWithRule &consumer,
                                  unsigned operand, const Layout &from) {
  if (isa<ConstrainOp, func::ReturnOp>(consumer.op) ||
      isRuledByRegions(consumer.op))
    return "";
  OpSharding alone =
      applyAxes(mesh, consumer, consumer.project(mesh, operand, from));
  std::string text;
  for (auto [dim, axes] : llvm::enumerate(alone.operands[operand].dims))
    if (axes.empty() && !from.dims[dim].empty())
      text += (text.empty() ? ", which needs dimension " : ", dimension ") +
              std::to_string(dim) + " whole: " +
              whyReplicated(consumer, consumer.factors(operand)[dim],
                            shardCount(from.dims[dim]));
  return text;
}

std::string Provenance::reason(const Mesh &mesh, Value value,
                               const Layout &from, const Layout &to,
                               const OpWithRule &consumer,
                               unsigned operand) const {
  std::string text = describe(value) + " is ";
  if (from.isPartial() && !to.isPartial())
    return text + combined(from.reduce).str() + " over " +
           axisNames(mesh, from.partial);
  std::string purpose = " for " + consumerName(function, consumer, operand) +
                        replicatedDims(mesh, consumer, operand, from);
  SubAxes gathered = lost(from, to), sliced = lost(to, from);
  if (to.isPartial())
    return text + "kept on one coordinate of " + axisNames(mesh, to.partial) +
           purpose;
  if (!gathered.empty() && sliced.empty())
    return text + "gathered over " + axisNames(mesh, gathered) + purpose;
  if (gathered.empty() && !sliced.empty())
    return text + "sliced over " + axisNames(mesh, sliced) + purpose;
  return text + "moved from " + toString(mesh, from) + " to " +
         toString(mesh, to) + purpose;
}
