//===- WhyLayout.cpp - why a value is laid out as it is -------------------===//

#include "weft/compiler/explain/WhyLayout.h"

#include "weft/base/Text.h"
#include "weft/compiler/explain/Explain.h"
#include "weft/compiler/explain/Provenance.h"
#include "weft/dialects/weft/PortName.h"
#include "weft/passes/sharding/Provenance.h"
#include "weft/passes/sharding/propagation/Annotations.h"
#include "weft/passes/sharding/propagation/LayoutPropagation.h"
#include "weft/passes/sharding/propagation/LayoutSearch.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;

namespace {
/// A function whose layouts are propagated with a journal.
class LayoutHistory {
public:
  LayoutHistory(func::FuncOp function, MeshAttr mesh, const TargetRates &rates)
      : function(function), names(function), table(function, mesh, rates) {
    table.keep(&journal);
  }
  /// Propagates, and finds alternatives to the layouts of these values.
  LogicalResult run(ArrayRef<Value> asked);

  /// Visits named tensors in program order.
  void each(llvm::function_ref<void(Value)> visit);
  std::vector<std::string> namesOf(Value value) const;
  WhyLayout explain(Value value, llvm::StringRef name);

private:
  static LogicalResult start(LayoutTable &table, Value without);
  void addNextBest(Value value, WhyLayout &out) const;
  const LayoutReason *reasonOf(Value value, unsigned dim, const SubAxis &axis);
  /// Follows an axis to its origin; returns the annotated value, or null.
  Value follow(const LayoutReason *reason, AxisOrigin &origin);
  std::string step(const LayoutReason &reason) const;
  std::string annotationText(const LayoutReason &reason) const;
  std::string opText(Operation *op) const;

  mutable func::FuncOp function;
  Provenance names;
  LayoutJournal journal;
  LayoutTable table;
  llvm::DenseMap<Value, LayoutSearch::Alternative> nextBest;
  int64_t price = 0; ///< the price of all layouts, in picoseconds
};
} // namespace

LogicalResult LayoutHistory::start(LayoutTable &table, Value without) {
  if (failed(Annotations(table, without).enter()))
    return failure();
  LayoutPropagation(table).run();
  return success();
}

LogicalResult LayoutHistory::run(ArrayRef<Value> asked) {
  if (failed(start(table, {})))
    return failure();
  LayoutSearch search(table);
  for (Value value : asked)
    search.ask(value);
  search.run();
  price = search.proof() ? search.proof()->price : 0;
  for (auto [value, other] : llvm::zip(asked, search.alternatives()))
    if (other)
      nextBest.try_emplace(value, *other);
  return success();
}

void LayoutHistory::addNextBest(Value value, WhyLayout &out) const {
  auto found = nextBest.find(value);
  if (found == nextBest.end())
    return;
  out.nextBest = toCommandText(table.mesh(), found->second.layout);
  out.nextPrice = found->second.price;
  out.price = price;
}

void LayoutHistory::each(llvm::function_ref<void(Value)> visit) {
  auto see = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()) && table.knows(value) &&
        !table.isSource(value)) // Sources are made in every layout.
      visit(value);
  };
  llvm::for_each(function.getArguments(), see);
  function.walk([&](Operation *op) { llvm::for_each(op->getResults(), see); });
}

/// Adds the names of an argument or result: its name in the program's text and
/// the name of its array in files.
static void addNames(DictionaryAttr attributes,
                     std::vector<std::string> &names) {
  for (StringRef attribute : {kSourceNameAttr, kNameAttr})
    if (auto name =
            attributes ? attributes.getAs<StringAttr>(attribute) : StringAttr())
      names.push_back(name.str());
}

std::vector<std::string> LayoutHistory::namesOf(Value value) const {
  std::vector<std::string> found{names.describe(value)};
  Operation *def = value.getDefiningOp();
  if (!def || !isBackward(def->getLoc()))
    found.push_back(names.path(value));
  if (def)
    llvm::append_range(found, linesOf(def->getLoc()));
  for (OpOperand &use : value.getUses())
    if (use.getOwner() == function.getBody().front().getTerminator())
      addNames(function.getResultAttrDict(use.getOperandNumber()), found);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &function.getBody().front())
    addNames(function.getArgAttrDict(argument.getArgNumber()), found);
  return found;
}

/// The reason for an axis of a value. Values that a loop passes on are recorded
/// under their leader.
const LayoutReason *LayoutHistory::reasonOf(Value value, unsigned dim,
                                            const SubAxis &axis) {
  const LayoutReason *reason = journal.last(value, dim, axis);
  return reason ? reason : journal.last(table.flow().leader(value), dim, axis);
}

/// The text of an axis: "data", or "model":(1)2.
static std::string quotedAxis(const Mesh &mesh, const SubAxis &axis) {
  const MeshAxis &full = mesh.axes[axis.axis];
  std::string text = "\"" + full.name + "\"";
  if (axis.size != full.size)
    text += ":(" + std::to_string(axis.skip) + ")" + std::to_string(axis.size);
  return text;
}

std::string LayoutHistory::opText(Operation *op) const {
  std::string text = op->getName().getStringRef().str();
  std::vector<std::string> paths = pathsOf(op->getLoc());
  std::vector<std::string> lines = linesOf(op->getLoc());
  if (!paths.empty())
    text += (isBackward(op->getLoc()) ? " of the gradient of " : " of ") +
            paths.front();
  if (!lines.empty())
    text += " (" + lines.front() + ")";
  return text;
}

/// The reason that the annotation states (layout_map "d1/kernel"), or else the
/// annotated op, result or value.
std::string LayoutHistory::annotationText(const LayoutReason &reason) const {
  auto textOf = [](Attribute attribute, const llvm::Twine &otherwise) {
    auto text = dyn_cast_or_null<StringAttr>(attribute);
    return text && !text.empty() ? text.str() : otherwise.str();
  };
  if (reason.op && !reason.op->hasTrait<OpTrait::IsTerminator>())
    return textOf(reason.op->getDiscardableAttr(kReasonAttr),
                  opText(reason.op));
  // Whether the annotation belongs to this value. Values that a loop passes on
  // are annotated outside of the loop.
  auto isMeant = [&](Value value) {
    return table.flow().leader(value) == reason.value;
  };
  for (OpOperand &operand :
       reason.op ? reason.op->getOpOperands() : MutableArrayRef<OpOperand>())
    if (isMeant(operand.get())) {
      unsigned result = operand.getOperandNumber();
      return textOf(function.getResultAttr(result, kReasonAttr),
                    "weft.layout of result " + llvm::Twine(result));
    }
  for (BlockArgument arg : function.getArguments())
    if (isMeant(arg))
      return textOf(function.getArgAttr(arg.getArgNumber(), kReasonAttr),
                    "weft.layout of " + names.describe(arg));
  return "weft.layout of " + names.describe(reason.value);
}

std::string LayoutHistory::step(const LayoutReason &reason) const {
  using Kind = LayoutReason::Kind;
  auto place = [&] {
    return reason.from ? "dimension " + std::to_string(reason.fromDim) +
                             " of " + names.describe(reason.from)
                       : std::string("another tensor has it");
  };
  switch (reason.kind) {
  case Kind::Annotation:
    return "annotated: " + annotationText(reason);
  case Kind::Rule:
    return "by " + opText(reason.op) + ", as " + place();
  case Kind::SameValue:
    return "the same as " + names.describe(reason.from) +
           (reason.op ? ", which " + opText(reason.op) + " passes on"
                      : ", of its group");
  case Kind::State:
    return "laid out as the state that it updates";
  case Kind::Price:
    return "chosen at " + opText(reason.op) + ": " +
           (reason.saved.bytes > 0
                ? grouped(reason.saved.bytes) + " bytes fewer arrive"
                : std::string("less time")) +
           " than with the layouts as they had spread";
  }
  llvm_unreachable("all kinds are listed");
}

Value LayoutHistory::follow(const LayoutReason *reason, AxisOrigin &origin) {
  std::set<const LayoutReason *> seen;
  while (reason && seen.insert(reason).second) {
    origin.steps.push_back(step(*reason));
    if (reason->kind == LayoutReason::Kind::Annotation)
      return reason->value;
    if (!reason->from)
      return {};
    bool isRule = reason->kind == LayoutReason::Kind::Rule;
    reason = reasonOf(reason->from, isRule ? reason->fromDim : reason->dim,
                      reason->axis);
  }
  return {};
}

WhyLayout LayoutHistory::explain(Value value, llvm::StringRef name) {
  const Mesh &mesh = table.mesh();
  const Layout &layout = table.get(value);
  auto type = cast<RankedTensorType>(value.getType());
  WhyLayout out;
  out.name = name.str();
  out.shape =
      llvm::join(llvm::map_range(type.getShape(),
                                 [](int64_t n) { return std::to_string(n); }),
                 "x");
  out.shape = out.shape.empty() ? "scalar" : out.shape;
  out.layout = toCommandText(mesh, layout);
  Value nearest;
  for (auto [dim, axes] : llvm::enumerate(layout.dims))
    for (const SubAxis &axis : axes) {
      AxisOrigin origin;
      origin.dim = unsigned(dim);
      origin.axis = quotedAxis(mesh, axis);
      Value annotated = follow(reasonOf(value, dim, axis), origin);
      nearest = nearest ? nearest : annotated;
      out.origins.push_back(std::move(origin));
    }
  for (unsigned dim = 0; dim < layout.dims.size(); ++dim)
    if (const LayoutReason *lost = journal.lastLost(value, dim);
        lost && !llvm::is_contained(layout.dims[dim], lost->axis))
      out.origins.push_back({.dim = dim,
                             .axis = quotedAxis(mesh, lost->axis),
                             .isLost = true,
                             .steps = {step(*lost)}});
  addNextBest(value, out);
  if (!nearest)
    return out;
  LayoutTable other(function, table.meshAttr(), table.rates());
  ScopedDiagnosticHandler silent(function.getContext(),
                                 [](Diagnostic &) { return success(); });
  if (succeeded(start(other, nearest))) {
    LayoutSearch(other).run();
    out.annotation = names.describe(nearest);
    out.layoutWithout = toCommandText(mesh, other.get(value));
  }
  return out;
}

std::vector<WhyLayout> weft::whyLayouts(ModuleOp module, llvm::StringRef name,
                                        llvm::StringRef target,
                                        std::set<std::string> &names) {
  std::vector<WhyLayout> out;
  const TargetRates *rates = ratesOf(target);
  auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  if (!mesh || !rates)
    return out;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || function.isPrivate())
      continue;
    LayoutHistory history(function, mesh, *rates);
    SmallVector<Value> meant;
    history.each([&](Value value) {
      std::vector<std::string> its = history.namesOf(value);
      names.insert(its.begin(), its.end());
      if (llvm::any_of(its, [&](llvm::StringRef its) {
            return its == name || (name.contains(':') && its.ends_with(name) &&
                                   its.drop_back(name.size()).ends_with("/"));
          }))
        meant.push_back(value);
    });
    if (failed(history.run(meant)))
      continue;
    std::set<std::pair<std::string, std::string>> shown;
    for (Value value : meant) {
      WhyLayout found = history.explain(value, name);
      if (shown.insert({found.shape, found.layout}).second)
        out.push_back(std::move(found));
    }
  }
  names.erase("");
  return out;
}

std::string weft::toText(const std::vector<WhyLayout> &values) {
  std::string out;
  for (const WhyLayout &value : values) {
    out += (out.empty() ? "" : "\n") + value.name + "  " + value.shape + "  " +
           value.layout + "\n\n";
    for (const AxisOrigin &origin : value.origins) {
      out += "  dimension " + std::to_string(origin.dim) + " is " +
             (origin.isLost ? "not " : "") + "split over " + origin.axis + "\n";
      for (const std::string &step : origin.steps)
        out += "    " + step + "\n";
    }
    if (value.origins.empty())
      out += "  nothing splits it\n";
    if (!value.annotation.empty())
      out += "  without the annotation of " + value.annotation + ": " +
             value.layoutWithout + "\n";
    if (!value.nextBest.empty())
      out += llvm::formatv("  the next best by price: {0}, {1:f3} ms for all "
                           "layouts instead of {2:f3}\n",
                           value.nextBest, double(value.nextPrice) / 1e9,
                           double(value.price) / 1e9)
                 .str();
  }
  return out;
}

llvm::json::Value weft::toJson(const std::vector<WhyLayout> &values) {
  llvm::json::Array out;
  for (const WhyLayout &value : values) {
    llvm::json::Array origins;
    for (const AxisOrigin &origin : value.origins)
      origins.push_back(
          llvm::json::Object{{"dimension", origin.dim},
                             {"axis", origin.axis},
                             {"lost", origin.isLost},
                             {"steps", llvm::json::Array(origin.steps)}});
    out.push_back(llvm::json::Object{{"name", value.name},
                                     {"shape", value.shape},
                                     {"layout", value.layout},
                                     {"origins", std::move(origins)},
                                     {"annotation", value.annotation},
                                     {"layout_without", value.layoutWithout},
                                     {"next_best", value.nextBest},
                                     {"next_best_ps", value.nextPrice},
                                     {"price_ps", value.price}});
  }
  return out;
}
