//===- Provenance.cpp - why a value moves, for people ---------------------===//

#include "weft/passes/sharding/Provenance.h"

#include "weft/dialects/weft/PortName.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/gradients/ReverseMode.h"
#include "weft/passes/sharding/RegionFlow.h"

#include "llvm/ADT/DenseSet.h"
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

static constexpr llvm::StringLiteral kGradientPrefix = "gradient of ",
                                     kUpdatePrefix = "update of ";

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
  StringAttr name = shownName(attributes);
  return name ? name.getValue() : llvm::StringRef();
}

namespace {
/// The ops of the forward part: those from whose results gradients are computed
/// and that are none themselves. A program whose gradients were made elsewhere
/// does not mark them; there, the ops behind results other than weights and slots
/// are the forward part.
class ForwardPart {
public:
  explicit ForwardPart(func::FuncOp function);
  bool contains(Operation *op) const { return ops.contains(op); }
  bool marksGradients() const { return marked; }

private:
  void need(Operation *op);
  llvm::DenseSet<Operation *> ops;
  llvm::DenseSet<Value> needed;
  bool marked = false;
};
} // namespace

/// Adds everything that the op and its regions read.
void ForwardPart::need(Operation *op) {
  op->walk([&](Operation *inner) {
    needed.insert(inner->operand_begin(), inner->operand_end());
  });
}

static bool isUpdated(StringAttr role) {
  return role && (role == "weight" || role == "slot");
}

/// The results with new values of weights and slots, by their roles or by those
/// of the arguments whose memory they reuse.
static llvm::DenseSet<int64_t> updatedResults(func::FuncOp function) {
  llvm::DenseSet<int64_t> updated;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (isUpdated(function.getResultAttrOfType<StringAttr>(i, kRoleAttr)))
      updated.insert(i);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto result = function.getArgAttrOfType<IntegerAttr>(i, kDonatedAttr);
        result &&
        isUpdated(function.getArgAttrOfType<StringAttr>(i, kRoleAttr)))
      updated.insert(result.getInt());
  return updated;
}

ForwardPart::ForwardPart(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Operation &op : body)
    if (isGradient(&op)) {
      marked = true;
      need(&op);
    }
  llvm::DenseSet<int64_t> updated = updatedResults(function);
  Operation *end = body.getTerminator();
  for (unsigned i = 0; !marked && i < end->getNumOperands(); ++i)
    if (!updated.contains(i))
      needed.insert(end->getOperand(i));
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (!isGradient(&op) && llvm::any_of(op.getResults(), [&](Value result) {
          return needed.contains(result);
        })) {
      ops.insert(&op);
      need(&op);
    }
}

void Provenance::nameBackwards(std::vector<Named> values,
                               llvm::function_ref<bool(Operation *)> mayName) {
  RegionFlow flow(function);
  for (size_t next = 0; next < values.size(); ++next) { // nearest values first
    auto [value, name] = values[next];
    Operation *def = value.getDefiningOp();
    if (def && hasRegionFlow(def)) {
      // The summands of a loop's sum, such as gradients of microbatches, take
      // the name of the sum.
      if (names.try_emplace(value, name).second)
        for (OpOperand *source : flow.sources(flow.leader(value)))
          values.push_back({source->get(), name});
      continue;
    }
    if (!def || !mayName(def) || !names.try_emplace(value, name).second ||
        !OpWithRule::get(def).elementwise)
      continue;
    for (Value operand : def->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        values.push_back({operand, name});
  }
}

std::vector<Provenance::Named> Provenance::updatedWeights() {
  Operation *end = function.getBody().front().getTerminator();
  std::vector<Named> found;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto result = donatedResult(function, index);
    auto role = function.getArgAttrOfType<StringAttr>(index, kRoleAttr);
    llvm::StringRef name = portName(function.getArgAttrDict(index));
    if (result && role && role == "weight" && !name.empty())
      found.push_back(
          {end->getOperand(*result), kGradientPrefix.str() + name.str()});
  }
  return found;
}

/// The names of arguments by the results that reuse their memory.
static llvm::DenseMap<int64_t, llvm::StringRef>
donatedNames(func::FuncOp function) {
  llvm::DenseMap<int64_t, llvm::StringRef> names;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (auto result = donatedResult(function, index))
      names[*result] = portName(function.getArgAttrDict(index));
  return names;
}

std::vector<Provenance::Named> Provenance::namedResults() {
  Operation *end = function.getBody().front().getTerminator();
  llvm::DenseMap<int64_t, llvm::StringRef> donated = donatedNames(function);
  std::vector<Named> found;
  for (unsigned index = 0; index < end->getNumOperands(); ++index) {
    Value value = end->getOperand(index);
    llvm::StringRef name = portName(function.getResultAttrDict(index));
    auto role = function.getResultAttrOfType<StringAttr>(index, kRoleAttr);
    bool isUpdate = role && (role == "state" || role == "slot");
    if (role && role == "output") {
      // An output is described by its layer, whose name is clearer. Programs
      // without layers have at most names of results.
      Operation *def = value.getDefiningOp();
      if (!def || !layerOf(def).empty() ||
          !function.getResultAttr(index, kSourceNameAttr))
        continue;
      isUpdate = donated.contains(index);
      name = isUpdate ? donated.lookup(index) : name;
    }
    if (!name.empty())
      found.push_back(
          {value, (isUpdate ? kUpdatePrefix.str() : "") + name.str()});
  }
  return found;
}

Provenance::Provenance(func::FuncOp function) : function(function) {
  ForwardPart forward(function);
  // The optimizer computes further sums, such as norms of gradients.
  nameBackwards(updatedWeights(), [&](Operation *op) {
    return !forward.contains(op) &&
           (isGradient(op) || !forward.marksGradients() ||
            OpWithRule::get(op).elementwise);
  });
  nameBackwards(namedResults(), [](Operation *) { return true; });
}

/// The op, such as a loop, whose region takes the value as an argument; null
/// for a function's arguments and results of ops.
static Operation *holderOf(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  Operation *holder = arg ? arg.getOwner()->getParentOp() : nullptr;
  return isa_and_nonnull<func::FuncOp>(holder) ? nullptr : holder;
}

static int64_t elementCount(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

/// Whether an op outside of the layer takes the value, or a value that ops of the
/// layer compute from it element by element: the product, but not the maximum, of a
/// dense layer with a softmax.
static bool leavesLayer(Value value, llvm::StringRef layer) {
  constexpr size_t most = 64;
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t next = 0; next < reached.size() && next < most; ++next)
    for (Operation *user : reached[next].getUsers()) {
      if (isGradient(user))
        continue;
      if (layerOf(user) != layer)
        return true;
      for (Value result : user->getResults())
        if (elementCount(result) == elementCount(value))
          reached.insert(result);
    }
  return false;
}

std::string Provenance::describe(Value value) const {
  if (Operation *holder = holderOf(value)) {
    llvm::StringRef layer = layerOf(holder);
    return "region argument of " +
           (layer.empty() ? holder->getName().getStringRef() : layer).str();
  }
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    unsigned index = arg.getArgNumber();
    StringAttr name = shownName(function.getArgAttrDict(index));
    return name ? name.str() : "argument " + std::to_string(index);
  }
  if (auto it = names.find(value); it != names.end())
    return it->second;
  Operation *def = value.getDefiningOp();
  llvm::StringRef layer = layerOf(def);
  if (layer.empty())
    return "result of " + def->getName().getStringRef().str();
  return (isGradient(def)             ? "gradient in "
          : leavesLayer(value, layer) ? "output of "
                                      : "value in ") +
         layer.str();
}

std::string Provenance::path(Value value) const {
  if (Operation *holder = holderOf(value))
    return layerOf(holder).str();
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto name = dyn_cast<NameLoc>(arg.getLoc());
    return name ? name.getName().str() : describe(value);
  }
  if (auto it = names.find(value); it != names.end()) {
    llvm::StringRef name = it->second;
    if (!name.consume_front(kGradientPrefix))
      name.consume_front(kUpdatePrefix);
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
  if (from.part != to.part)
    return text + "on " + weft::describe(mesh.axes, from.part) + ", and " +
           weft::describe(mesh.axes, to.part) + " needs it" + purpose;
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
