//===- LayoutTable.cpp - the layout every value should have ---------------===//

#include "weft/passes/sharding/propagation/LayoutTable.h"

#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/Ports.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

LayoutTable::LayoutTable(func::FuncOp function, MeshAttr mesh)
    : function(function), flow(function), meshAttribute(mesh),
      meshValue(mesh.getMesh()) {
  size_t count = function.getBody().front().getOperations().size();
  ruled.reserve(count);
  indices.reserve(count);
  entries.reserve(count + function.getNumArguments());
  addBlock(function.getBody().front(), {});
}

/// Adds ops in program order, those of regions behind the op that contains
/// them.
void LayoutTable::addBlock(Block &block, llvm::ArrayRef<SubAxis> bound) {
  auto add = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    Entry &entry = entryOf(value);
    entry.layout = Layout::replicated(type.getRank());
    entry.forbiddenAxes.assign(bound.begin(), bound.end());
  };
  llvm::for_each(block.getArguments(), add);
  for (Operation &op : block) {
    if (op.hasTrait<ObservesLayout>())
      continue; // it accepts any layout
    indices[&op] = ruled.size();
    ruled.push_back(OpWithRule::get(&op));
    llvm::for_each(op.getResults(), add);
    if (ruled.back().source)
      sources.insert(op.result_begin(), op.result_end());
    if (hasRegionFlow(&op))
      for (Region &region : op.getRegions())
        addBlock(region.front(), bound);
    else if (FixedLayoutsOpInterface says = freeRegionOf(&op))
      addBlock(op.getRegion(0).front(),
               boundAxes(meshValue, says.getFreeAxes()));
  }
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

/// The layout without axes of size 1, which split nothing.
static Layout withoutUnitAxes(const Mesh &mesh, Layout layout) {
  auto isUnit = [](const SubAxis &axis) { return axis.size == 1; };
  for (SubAxes &dim : layout.dims)
    llvm::erase_if(dim, isUnit);
  llvm::erase_if(layout.partial, isUnit);
  return normalise(mesh, layout);
}

std::optional<Layout> LayoutTable::annotation(Attribute attribute, Type type,
                                              const llvm::Twine &what) {
  auto layout = dyn_cast_or_null<LayoutAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto fail = [&](const llvm::Twine &why) -> std::optional<Layout> {
    emitError(function.getLoc())
        << "@" << function.getName() << ": " << what << ": " << why;
    return std::nullopt;
  };
  if (!layout || !tensor)
    return fail("the annotation is no layout of a ranked tensor");
  if (layout.getMesh() != meshAttribute)
    return fail("the layout's mesh is not the module's weft.mesh; use one "
                "mesh for all annotations");
  Layout value = layout.getLayout();
  if (int64_t(value.dims.size()) != tensor.getRank())
    return fail("layout has " + llvm::Twine(value.dims.size()) +
                " dimensions, the tensor " + llvm::Twine(tensor.getRank()) +
                "; give each dimension a list of axes");
  std::string why = invalidReason(meshValue, value, tensor.getRank());
  if (!why.empty())
    return fail(why);
  return withoutUnitAxes(meshValue, value);
}

void LayoutTable::fix(Value value, const Layout &layout, bool isState,
                      Operation *by) {
  auto it = entries.find(flow.leader(value));
  if (it == entries.end() || it->second.fixed || sources.contains(value))
    return;
  if (journal)
    journal->record({.value = it->first, .op = by}, it->second.layout, layout);
  it->second.layout.dims = layout.dims;
  it->second.fixed = true;
  it->second.isState = isState;
}

void LayoutTable::leavePartial(Value value, const Layout &layout) {
  auto it = entries.find(value);
  if (!layout.isPartial() || it == entries.end())
    return;
  it->second.forbiddenAxes.append(layout.partial);
  partials[value] = layout;
}

Layout LayoutTable::annotated(Value value) const {
  Layout layout = get(value);
  if (auto it = partials.find(value); it != partials.end()) {
    layout.partial = it->second.partial;
    layout.reduce = it->second.reduce;
  }
  return layout;
}

static bool isStateRole(Attribute role) {
  auto text = dyn_cast_or_null<StringAttr>(role);
  return text && (text == "weight" || text == "slot" || text == "state" ||
                  text == "metric_state");
}

LogicalResult LayoutTable::seedArguments() {
  donatedArguments.resize(function.getNumResults());
  for (BlockArgument arg : function.getArguments()) {
    unsigned index = arg.getArgNumber();
    bool isState = isStateRole(function.getArgAttr(index, kRoleAttr));
    if (auto it = entries.find(arg); it != entries.end())
      it->second.isState = isState;
    Attribute attribute = function.getArgAttr(index, kLayoutAttr);
    if (attribute && arg != ignored) {
      auto layout = annotation(attribute, arg.getType(),
                               "argument " + llvm::Twine(index));
      if (!layout)
        return failure();
      fix(arg, *layout, isState, /*by=*/nullptr);
      leavePartial(arg, *layout);
    }
    if (entries.contains(arg) && failed(seedOptions(arg)))
      return failure();
    if (auto result =
            function.getArgAttrOfType<IntegerAttr>(index, kDonatedAttr)) {
      if (result.getInt() < 0 || result.getInt() >= function.getNumResults())
        return function.emitError()
               << "argument " << index << " is donated to result "
               << result.getInt() << ", the function has "
               << function.getNumResults();
      donatedArguments[result.getInt()] = arg;
    }
  }
  return success();
}

LogicalResult LayoutTable::seedResults() {
  results.resize(function.getNumResults());
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    Value donatedArgument = donatedArguments[index];
    Attribute attribute = function.getResultAttr(index, kLayoutAttr);
    if (attribute && end->getOperand(index) != ignored) {
      results[index] = annotation(attribute, function.getResultTypes()[index],
                                  "result " + llvm::Twine(index));
      if (!results[index])
        return failure();
    } else if (donatedArgument && !entries.lookup(donatedArgument).isOpen()) {
      results[index] = annotated(donatedArgument);
    }
    if (results[index] && donatedArgument &&
        !entries.lookup(donatedArgument).isOpen() &&
        *results[index] != annotated(donatedArgument))
      return function.emitError()
             << "result " << index << " reuses the memory of an argument "
             << "laid out " << toString(meshValue, annotated(donatedArgument))
             << ", but is annotated " << toString(meshValue, *results[index]);
    bool isState = donatedArgument && entries.lookup(donatedArgument).isState;
    if (!results[index])
      continue;
    fix(end->getOperand(index), *results[index], isState, end);
    if (auto it = entries.find(end->getOperand(index));
        it != entries.end() && !it->second.mustDivide.empty())
      it->second.extend(*results[index]);
  }
  return success();
}

LogicalResult LayoutTable::seedConstraints() {
  for (const OpWithRule &op : ruled)
    if (auto constrain = dyn_cast<ConstrainOp>(op.op);
        constrain && constrain.getResult() != ignored) {
      auto layout = annotation(constrain.getLayout(), constrain.getType(),
                               "weft.constrain");
      if (!layout)
        return failure();
      fix(constrain.getResult(), *layout, /*isState=*/false, op.op);
      leavePartial(constrain.getResult(), *layout);
      if (failed(checkBound(op.op, *layout)) ||
          failed(seedOptions(constrain.getResult())))
        return failure();
    }
  return success();
}

LogicalResult LayoutTable::seed(Value without) {
  ignored = without;
  if (failed(seedArguments()) || failed(seedConstraints()) ||
      failed(seedFixedLayouts()) || failed(joinGroups()))
    return failure();
  return seedResults();
}

bool LayoutTable::isFree(Value value) const {
  auto it = entries.find(value);
  return it != entries.end() && !it->second.fixed && !it->second.group &&
         !isa<BlockArgument>(value) && !sources.contains(value) &&
         flow.members(value).empty();
}

Layout LayoutTable::asPort(Layout layout, Type type) const {
  if (!function->hasAttr(kFullPortsAttr))
    return layout;
  auto isPart = [&](const SubAxis &axis) {
    return axis.size != meshValue.axes[axis.axis].size;
  };
  for (auto [axes, size] :
       llvm::zip_equal(layout.dims, cast<RankedTensorType>(type).getShape())) {
    axes.erase(llvm::find_if(axes, isPart), axes.end());
    while (size % shardCount(axes) != 0)
      axes.pop_back();
  }
  return layout;
}

Layout LayoutTable::resultLayout(unsigned result) const {
  if (results[result])
    return *results[result];
  if (donatedArguments[result])
    return annotated(donatedArguments[result]);
  Value value = function.getBody().front().getTerminator()->getOperand(result);
  return asPort(get(value), value.getType());
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

TensorLayouts LayoutTable::layoutsOf(const OpWithRule &op) const {
  TensorLayouts layouts;
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    Value value = op.value(tensor);
    auto it = entries.find(flow.leader(value));
    bool silent = it == entries.end() || sources.contains(value);
    layouts.push_back(silent ? nullptr : &it->second.layout);
  }
  return layouts;
}

void LayoutTable::extendGroup(Value value,
                              llvm::SmallVectorImpl<Value> &changed) {
  const Entry &entry = entryOf(value);
  if (!entry.group)
    return;
  for (Value other : groups[entry.group]) {
    Layout before = entries[other].layout;
    if (other == value || !entries[other].extend(entry.layout))
      continue;
    changed.push_back(other);
    if (journal)
      journal->record({.kind = LayoutReason::Kind::SameValue,
                       .value = other,
                       .from = value},
                      before, entries[other].layout);
  }
}

void LayoutTable::grow(Value value, const Layout &wanted,
                       llvm::SmallVectorImpl<Value> &changed, Operation *by,
                       Value like) {
  if (sources.contains(value) || !entryOf(value).isOpen())
    return;
  Layout before = journal ? get(value) : Layout();
  if (!entryOf(value).extend(wanted))
    return;
  changed.push_back(value);
  if (journal && like)
    journal->record({.kind = LayoutReason::Kind::SameValue,
                     .value = flow.leader(value),
                     .op = by,
                     .from = like},
                    before, get(value));
  extendGroup(value, changed);
}

bool LayoutTable::update(const OpWithRule &op, const Round &round,
                         llvm::SmallVectorImpl<Value> &changed) {
  TensorLayouts layouts = layoutsOf(op);
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor)
    if (layouts[tensor] && !round.includes(entryOf(op.value(tensor))))
      layouts[tensor] = nullptr;
  if (nothingSplit(layouts))
    return false;
  FactorAxes axes = mergeFactors(meshValue, op, layouts);
  LayoutJournal::Snapshot before;
  if (journal)
    before = LayoutJournal::snapshotOf(layouts);
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    if (!layouts[tensor] || !entryOf(op.value(tensor)).isOpen())
      continue;
    Layout wanted =
        projectToTensor(meshValue, op.rule, op.factors(tensor), axes);
    grow(op.value(tensor), wanted, changed, op.op, /*like=*/{});
  }
  if (journal)
    journal->recordRule(meshValue, op, before, layouts);
  return !changed.empty();
}

void LayoutTable::updateFlow(Operation *op, const Round &round,
                             llvm::SmallVectorImpl<Value> &changed) {
  auto say = [&](Value speaker, Value listener) {
    if (round.includes(entryOf(speaker)))
      grow(listener, get(speaker), changed, op, speaker);
  };
  for (OpOperand &operand : op->getOpOperands()) {
    Value target = flow.target(operand);
    if (!target || sources.contains(operand.get()))
      continue;
    say(operand.get(), target);
    say(target, operand.get());
  }
}

void LayoutTable::run(const Round &round) {
  // The ops to visit: elementwise ops first, then in program order.
  std::set<std::pair<bool, unsigned>> worklist;
  auto push = [&](Operation *op) {
    auto it = indices.find(op);
    if (it == indices.end())
      return;
    const OpWithRule &known = ruled[it->second];
    bool passes = known.elementwise || flow.passesOn(op) || freeRegionOf(op) ||
                  freeRegionEndedBy(op);
    if (!known.source && (passes || !round.elementwiseOnly))
      worklist.insert({!passes, it->second});
  };
  auto pushNeighbours = [&](Value value) {
    if (Operation *def = value.getDefiningOp())
      push(def);
    else if (Operation *holder = value.getParentBlock()->getParentOp();
             freeRegionOf(holder))
      push(holder);
    llvm::for_each(value.getUsers(), push);
  };
  for (const OpWithRule &op : ruled)
    push(op.op);
  while (!worklist.empty()) {
    unsigned index = worklist.begin()->second;
    worklist.erase(worklist.begin());
    llvm::SmallVector<Value> changed;
    update(ruled[index], round, changed);
    updateFlow(ruled[index].op, round, changed);
    updateBorder(ruled[index].op, round, changed);
    for (Value value : changed) {
      pushNeighbours(value);
      Value leader = flow.leader(value);
      llvm::for_each(flow.members(leader), pushNeighbours);
      for (OpOperand *source : flow.sources(leader))
        push(source->getOwner());
    }
  }
}

void LayoutTable::closeAroundState() {
  llvm::EquivalenceClasses<void *> joined;
  for (const OpWithRule &op : ruled) {
    if (!op.elementwise || op.source || op.rule.results.front().empty())
      continue;
    void *first = op.op->getResult(0).getAsOpaquePointer();
    for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor)
      if (!sources.contains(op.value(tensor)))
        joined.unionSets(first, op.value(tensor).getAsOpaquePointer());
  }
  // The axes that the annotated values of a set with state have in common, if any.
  struct Agreement {
    bool holdsState = false, agrees = true;
    const Layout *layout = nullptr;
  };
  llvm::DenseMap<void *, Agreement> agreements;
  auto leaderOf = [&](Value value) {
    auto it = joined.findLeader(value.getAsOpaquePointer());
    return it == joined.member_end() ? nullptr : *it;
  };
  for (auto &[value, entry] : entries) {
    void *leader = entry.isOpen() ? nullptr : leaderOf(value);
    if (!leader)
      continue;
    Agreement &found = agreements[leader];
    found.holdsState |= entry.isState;
    found.agrees &= !found.layout || *found.layout == entry.layout;
    found.layout = &entry.layout;
  }
  for (auto &[value, entry] : entries) {
    auto found = agreements.find(leaderOf(value));
    if (found == agreements.end() || !found->second.holdsState)
      continue;
    if (found->second.agrees && entry.isUnannotated()) {
      if (journal)
        journal->record({.kind = LayoutReason::Kind::State, .value = value},
                        entry.layout, *found->second.layout);
      entry.layout = *found->second.layout;
    }
    entry.fixed = true;
  }
}

void LayoutTable::propagate() {
  std::set<int64_t> priorities{0};
  for (const auto &[value, entry] : entries)
    priorities.insert(entry.priority);
  for (int64_t priority : priorities) {
    run({priority, /*withState=*/false, /*elementwiseOnly=*/false});
    run({priority, /*withState=*/true, /*elementwiseOnly=*/true});
    if (priority == *priorities.rbegin())
      closeAroundState();
    run({priority, /*withState=*/true, /*elementwiseOnly=*/false});
  }
  for (BlockArgument arg : function.getArguments())
    if (auto it = entries.find(arg); it != entries.end() && !it->second.fixed)
      it->second.layout = asPort(it->second.layout, arg.getType());
}
