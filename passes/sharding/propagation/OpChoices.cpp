//===- OpChoices.cpp - the shardings that an op may run with ---------------===//

#include "weft/passes/sharding/propagation/OpChoices.h"

#include "weft/passes/sharding/FreeRegions.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

static bool isInOrder(const SubAxes &axes) {
  return llvm::is_sorted(axes, [](const SubAxis &a, const SubAxis &b) {
    return std::pair(a.axis, a.skip) < std::pair(b.axis, b.skip);
  });
}

OpChoices::OpChoices(const LayoutTable &table, ShardingPrices &pricing,
                     MoveCosts &costs)
    : table(table), pricing(pricing), costs(costs), mesh(table.mesh()) {
  auto isOther = [](const SubAxes &axes) { return !isInOrder(axes); };
  for (const OpWithRule &op : table.ops())
    for (const Layout *layout : table.layoutsOf(op))
      hasOtherOrder |= layout && llvm::any_of(layout->dims, isOther);
}

SubAxes OpChoices::allowedAxes(const OpWithRule &piece) const {
  SubAxes allowed;
  for (const SubAxis &axis : allAxes(mesh)) {
    auto bars = [&](unsigned tensor) {
      const LayoutEntry *entry = table.find(piece.value(tensor));
      return entry && llvm::any_of(entry->forbiddenAxes, [&](const SubAxis &x) {
               return overlaps(x, axis);
             });
    };
    if (axis.size > 1 && !fixes(piece.place, axis.axis) &&
        llvm::none_of(llvm::seq(piece.numTensors()), bars))
      allowed.push_back(axis);
  }
  return allowed;
}

/// Whether the factor can be split over the axes and one more, evenly.
static bool takes(const OpWithRule &piece, unsigned factor, const SubAxes &axes,
                  const SubAxis &more) {
  return piece.isShardable(factor) &&
         piece.rule.factors[factor].size % (shardCount(axes) * more.size) == 0;
}

std::vector<FactorAxes> OpChoices::assignments(const OpWithRule &piece) const {
  std::vector<FactorAxes> all{FactorAxes(piece.rule.factors.size())};
  for (const SubAxis &axis : allowedAxes(piece)) {
    std::vector<FactorAxes> more;
    for (const FactorAxes &axes : all)
      for (unsigned factor = 0; factor < axes.size(); ++factor) {
        if (!takes(piece, factor, axes[factor], axis))
          continue;
        size_t last = axes[factor].size();
        for (size_t at = hasOtherOrder ? 0 : last; at <= last; ++at) {
          FactorAxes next = axes;
          next[factor].insert(next[factor].begin() + at, axis);
          more.push_back(std::move(next));
        }
      }
    if (all.size() + more.size() > kMostChoices)
      return {};
    llvm::append_range(all, more);
  }
  return all;
}

/// The operands that pass on summands together: all of an op that adds them, or
/// the one of an op that is linear in it and does not make it larger.
static llvm::SmallVector<unsigned> passingOperands(const OpWithRule &piece) {
  llvm::SmallVector<unsigned> joint;
  if (piece.rule.results.size() != 1 || piece.op->getNumResults() != 1)
    return joint;
  for (auto [operand, linearity] : llvm::enumerate(piece.rule.linearity))
    if (has(linearity, Linearity::JointlyLinear))
      joint.push_back(operand);
  if (joint.size() == piece.numOperands() && !joint.empty())
    return joint;
  joint.clear();
  auto elements = [&](unsigned tensor) {
    return cast<RankedTensorType>(piece.value(tensor).getType())
        .getNumElements();
  };
  if (piece.numOperands() == 1 && !piece.rule.linearity.empty() &&
      has(piece.rule.linearity.front(),
          Linearity::Linear | Linearity::Moving) &&
      elements(1) <= elements(0))
    joint.push_back(0);
  return joint;
}

/// Appends the partial axes to a layout; false if it uses one of them.
static bool leavePartial(const Mesh &mesh, Layout &layout,
                         const SubAxes &partial) {
  for (const SubAxis &axis : partial) {
    auto clashes = [&](const SubAxis &x) { return overlaps(x, axis); };
    if (llvm::any_of(layout.partial, clashes) ||
        llvm::any_of(layout.dims, [&](const SubAxes &dim) {
          return llvm::any_of(dim, clashes);
        }))
      return false;
    layout.partial.push_back(axis);
  }
  layout = normalise(mesh, layout);
  return true;
}

/// Adds variants of each choice in which the op passes on summands over the
/// axes.
void OpChoices::addPassed(const OpWithRule &piece, const SubAxes &axes,
                          std::vector<OpSharding> &choices) const {
  llvm::SmallVector<unsigned> operands = passingOperands(piece);
  if (operands.empty())
    return;
  size_t count = choices.size();
  for (size_t i = 0; i < count; ++i)
    for (unsigned subset = 1; subset < 1u << std::min<size_t>(axes.size(), 4);
         ++subset) {
      OpSharding passed = choices[i];
      SubAxes partial;
      for (unsigned axis = 0; axis < axes.size() && axis < 4; ++axis)
        if (subset >> axis & 1)
          partial.push_back(axes[axis]);
      Layout &result = passed.results.front();
      bool fits = (!result.isPartial() || result.reduce == ReduceKind::Sum) &&
                  leavePartial(mesh, result, partial);
      for (unsigned operand : operands)
        fits = fits && !passed.operands[operand].isPartial() &&
               leavePartial(mesh, passed.operands[operand], partial);
      for (const SubAxes &list : passed.axes)
        for (const SubAxis &axis : list)
          fits = fits && llvm::none_of(partial, [&](const SubAxis &x) {
                   return overlaps(x, axis);
                 });
      if (fits)
        choices.push_back(std::move(passed));
    }
}

std::vector<OpSharding> OpChoices::list(const OpWithRule &piece,
                                        const OpSharding &now) const {
  std::vector<OpSharding> choices{now};
  bool conflict = false;
  TensorLayouts layouts;
  for (unsigned tensor = 0; tensor < piece.numTensors(); ++tensor) {
    Value value = piece.value(tensor);
    layouts.push_back(hasLayout(value) ? &table.get(value) : nullptr);
  }
  std::vector<FactorAxes> all = listCandidates(mesh, piece, layouts, conflict);
  llvm::append_range(all, assignments(piece));
  for (const FactorAxes &axes : all) {
    OpSharding next = applyAxes(mesh, piece, axes);
    bool isKnown = llvm::any_of(choices, [&](const OpSharding &known) {
      return known.axes == next.axes;
    });
    if (!isKnown)
      choices.push_back(std::move(next));
  }
  addPassed(piece, allowedAxes(piece), choices);
  return choices;
}

bool OpChoices::hasLayout(Value value) const {
  return isa<RankedTensorType>(value.getType()) && table.knows(value) &&
         !table.isSource(value);
}

static void append(std::vector<int64_t> &key, llvm::ArrayRef<SubAxis> axes) {
  key.push_back(axes.size());
  for (const SubAxis &sub : axes)
    key.insert(key.end(), {int64_t(sub.axis), sub.skip, sub.size});
}

/// What the choices depend on. Attributes and types are equal if their
/// addresses are; a region is equal to itself only.
OpChoices::Key OpChoices::keyOf(const OpWithRule &piece,
                                const OpSharding &now) const {
  Key key;
  auto add = [&](const void *address) {
    key.push_back(reinterpret_cast<int64_t>(address));
  };
  Operation *op = piece.op;
  add(op->getName().getAsOpaquePointer());
  add(op->getAttrDictionary().getAsOpaquePointer());
  add(op->getNumRegions() == 0 ? nullptr : op);
  FixedLayoutsOpInterface region = freeRegionAround(op);
  add(region ? region.getOperation() : nullptr);
  for (Type type : op->getOperandTypes())
    add(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    add(type.getAsOpaquePointer());
  for (unsigned tensor = 0; tensor < piece.numTensors(); ++tensor) {
    key.push_back(piece.numberInOp(tensor));
    Value value = piece.value(tensor);
    key.push_back(hasLayout(value));
    if (const LayoutEntry *entry = table.find(value)) {
      append(key, entry->forbiddenAxes);
      for (const SubAxes &axes : entry->layout.dims)
        append(key, axes);
      for (auto [axis, coordinate] : entry->layout.part)
        key.insert(key.end(), {axis, coordinate});
      key.push_back(-1);
    }
  }
  for (const SubAxes &axes : now.axes)
    append(key, axes);
  for (auto [axis, coordinate] : piece.place)
    key.insert(key.end(), {axis, coordinate});
  return key;
}

/// The different numbers of a list, and the place of each among them.
static std::vector<unsigned> distinct(llvm::ArrayRef<unsigned> numbers,
                                      std::vector<unsigned> &places) {
  std::vector<unsigned> all;
  for (unsigned number : numbers) {
    auto known = llvm::find(all, number);
    places.push_back(known - all.begin());
    if (known == all.end())
      all.push_back(number);
  }
  return all;
}

void OpChoices::addTensors(const OpWithRule &piece, ChoiceList &list) {
  for (unsigned tensor = 0; tensor < piece.numTensors(); ++tensor) {
    ChoiceList::Tensor &own = list.tensors.emplace_back();
    Value value = piece.value(tensor);
    if (!hasLayout(value))
      continue;
    own.space = &costs.spaceOf(table.flow().leader(value));
    std::vector<unsigned> numbers, places;
    for (const OpSharding &choice : list.choices)
      numbers.push_back(own.space->number(
          piece.isOperand(tensor)
              ? choice.operands[tensor]
              : choice.results[tensor - piece.numOperands()]));
    own.layouts = distinct(numbers, own.placeOf);
    for (unsigned &number : numbers)
      number = own.space->number(withoutSummands(own.space->layout(number)));
    own.reduced = distinct(numbers, places);
  }
}

const ChoiceList &OpChoices::of(const OpWithRule &piece,
                                const OpSharding &now) {
  auto [entry, fresh] = lists.try_emplace(keyOf(piece, now));
  ChoiceList &made = entry->second;
  if (!fresh)
    return made;
  made.choices = list(piece, now);
  TensorLayouts none(piece.numTensors());
  Price before = pricing.of(piece, made.choices.front(), none).work;
  for (const OpSharding &choice : made.choices) {
    OpPrice price = pricing.of(piece, choice, none);
    made.rest.push_back(price.rest + workBeside(price.work, before));
  }
  addTensors(piece, made);
  return made;
}
