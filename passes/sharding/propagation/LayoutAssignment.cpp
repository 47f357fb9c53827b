//===- LayoutAssignment.cpp - from the table to types and reshards --------===//

#include "weft/passes/sharding/propagation/LayoutAssignment.h"

#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/TypedData.h"
#include "weft/passes/sharding/FreeRegions.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

LayoutAssignment::LayoutAssignment(func::FuncOp function,
                                   const LayoutTable &table,
                                   std::vector<OpSharding> shardings)
    : function(function), table(table), mesh(table.mesh()),
      provenance(function), shardings(std::move(shardings)),
      pricing(table.mesh()) {
  indexOf.reserve(table.ops().size());
  actual.reserve(table.ops().size() + function.getNumArguments());
  for (auto [index, op] : llvm::enumerate(table.ops()))
    indexOf[op.op] = index;
}

void LayoutAssignment::setLayout(Value value, const Layout &layout) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  Type laidOut = withLayout(type, LayoutAttr::get(table.meshAttr(), layout));
  if (auto data = value.getDefiningOp<TypedDataOpInterface>())
    data.setResultType(laidOut);
  else
    value.setType(laidOut);
  actual[value] = layout;
}

const Layout *LayoutAssignment::layoutOf(Value value) const {
  auto it = actual.find(value);
  return it == actual.end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// Partial values
//===----------------------------------------------------------------------===//

Layout LayoutAssignment::requirement(OpOperand &use) const {
  return shardings[indexOf.lookup(use.getOwner())]
      .operands[use.getOperandNumber()];
}

const Layout &LayoutAssignment::reducedLayout(Value value) {
  // The layout is chosen once, for all uses, so that they share the reduced
  // value.
  auto [it, fresh] = reduced.try_emplace(value);
  if (fresh)
    it->second = chooseReduced(value);
  return it->second;
}

Layout LayoutAssignment::chooseReduced(Value value) const {
  std::optional<Layout> common;
  for (OpOperand &use : value.getUses()) {
    if (!indexOf.contains(use.getOwner()))
      continue;
    Layout wanted = requirement(use);
    if (wanted.isPartial() || (common && *common != wanted))
      return summedLayout(value);
    common = wanted;
  }
  return common ? *common : summedLayout(value);
}

Layout LayoutAssignment::summedLayout(Value value) const {
  // The table does not know the result of an inserted reshard, which may have
  // partial axes.
  Layout layout = table.knows(value) ? table.get(value) : *layoutOf(value);
  layout.partial.clear();
  return layout;
}

bool LayoutAssignment::isUsedOnlyBy(Value value, Operation *op) const {
  // A use before this one may have reduced the value.
  return !reduced.contains(value) &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return user == op || !indexOf.contains(user);
         });
}

const Layout *LayoutAssignment::commonPartial(const OpWithRule &op,
                                              const OpSharding &sharding,
                                              llvm::ArrayRef<unsigned> operands,
                                              const Layout *wanted) const {
  const Layout *common = nullptr;
  for (unsigned operand : operands) {
    Value value = op.op->getOperand(operand);
    const Layout *layout = layoutOf(value);
    bool fits =
        layout && layout->isPartial() && layout->reduce == ReduceKind::Sum &&
        layout->dims == sharding.operands[operand].dims &&
        layout->part == op.place &&
        (wanted ? samePartial(*layout, *wanted) : isUsedOnlyBy(value, op.op));
    if (!fits || (common && !samePartial(*common, *layout)))
      return nullptr;
    common = layout;
  }
  for (const SubAxes &axes : sharding.axes)
    for (const SubAxis &axis : axes)
      if (common && llvm::any_of(common->partial, [&](const SubAxis &x) {
            return overlaps(x, axis);
          }))
        return nullptr;
  return common;
}

std::optional<Layout> LayoutAssignment::wantedPartial(Value value) const {
  std::optional<Layout> common;
  for (OpOperand &use : value.getUses()) {
    if (!indexOf.contains(use.getOwner()))
      continue;
    Layout wanted = requirement(use);
    if (!wanted.isPartial() || (common && !samePartial(*common, wanted)))
      return std::nullopt;
    common = wanted;
  }
  return common;
}

static int64_t elements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

void LayoutAssignment::delayReductions(const OpWithRule &op,
                                       OpSharding &sharding) {
  auto isPartial = [](const Layout &layout) { return layout.isPartial(); };
  if (op.rule.linearity.empty() || op.op->getNumResults() != 1 ||
      llvm::any_of(sharding.operands, isPartial))
    return;
  llvm::SmallVector<unsigned> joint;
  std::optional<unsigned> single;
  for (auto [operand, linearity] : llvm::enumerate(op.rule.linearity)) {
    if (has(linearity, Linearity::JointlyLinear))
      joint.push_back(operand);
    const Layout *layout = layoutOf(op.op->getOperand(operand));
    if (has(linearity, Linearity::Linear | Linearity::Moving) && layout &&
        layout->isPartial())
      single = operand;
  }
  // If uses of the result take summands, the operands are not reduced first,
  // which would save nothing.
  std::optional<Layout> asked = wantedPartial(op.op->getResult(0));
  const Layout *wanted = asked ? &*asked : nullptr;
  const Layout *partial = nullptr;
  if (joint.size() > 1 && joint.size() == op.op->getNumOperands())
    partial = commonPartial(op, sharding, joint, wanted);
  else if (single &&
           (wanted || (op.op->getNumOperands() == 1 && !op.elementwise &&
                       elements(op.op->getResult(0)) <=
                           elements(op.op->getOperand(*single)))))
    partial = commonPartial(op, sharding, joint = {*single}, wanted);
  Layout &result = sharding.results.front();
  if (!partial || (result.isPartial() && result.reduce != partial->reduce))
    return;
  Layout common = *partial;
  for (unsigned operand : joint) {
    sharding.operands[operand].partial = common.partial;
    sharding.operands[operand].reduce = common.reduce;
  }
  llvm::append_range(result.partial, common.partial);
  result.reduce = common.reduce;
  result = normalise(mesh, result);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The operands of a source, scalars, on the part of the mesh where a copy of it
/// runs.
llvm::SmallVector<Value>
LayoutAssignment::operandsOn(const OpWithRule &source,
                             const OpSharding &sharding) {
  llvm::SmallVector<Value> operands;
  for (auto [index, value] : llvm::enumerate(source.op->getOperands())) {
    const Layout *now = layoutOf(value);
    const Layout &wanted = sharding.operands[index];
    Value from = origin.lookup(value);
    if (!now || *now == wanted)
      operands.push_back(value);
    else if (from && table.isSource(from))
      operands.push_back(repeatSource(from, wanted));
    else // A copy that was moved before may be after the source.
      operands.push_back(insertReshard(value, wanted, source, index));
  }
  return operands;
}

Value LayoutAssignment::repeatSource(Value value, const Layout &layout) {
  auto key = std::make_pair(
      value, Attribute(LayoutAttr::get(table.meshAttr(), layout)));
  if (Value known = converted.lookup(key))
    return known;
  Operation *def = value.getDefiningOp();
  const OpWithRule &op = table.ops()[indexOf.lookup(def)];
  unsigned result = cast<OpResult>(value).getResultNumber();
  unsigned tensor = op.op->getNumOperands() + result;
  OpWithRule placed = op;
  placed.put(layout.part);
  OpSharding sharding =
      applyAxes(mesh, placed, placed.project(mesh, tensor, layout));
  llvm::SmallVector<Value> operands = operandsOn(op, sharding);
  Operation *copy = OpBuilder(def).clone(*def);
  copy->setOperands(operands);
  for (auto [index, produced] : llvm::enumerate(sharding.results))
    setLayout(copy->getResult(index), produced);
  Value repeated = copy->getResult(result);
  origin[repeated] = value;
  converted[key] = repeated;
  return repeated;
}

Value LayoutAssignment::convert(Value value, const Layout &to,
                                const OpWithRule &op, unsigned operand) {
  if (*layoutOf(value) == to)
    return value;
  auto key =
      std::make_pair(value, Attribute(LayoutAttr::get(table.meshAttr(), to)));
  if (Value known = converted.lookup(key))
    return known;
  if (table.knows(value))
    for (const Layout &copy : table.find(value)->copies)
      if (copy != to && isCheaperFrom(value, copy, to))
        moveCopy(value, copy, op, operand);
  return moveCopy(value, to, op, operand);
}

Value LayoutAssignment::moveCopy(Value value, const Layout &to,
                                 const OpWithRule &op, unsigned operand) {
  Value &known =
      converted[{value, Attribute(LayoutAttr::get(table.meshAttr(), to))}];
  if (!known) {
    known = insertReshard(cheapestSource(value, to), to, op, operand);
    copies[value].push_back(known);
  }
  return known;
}

bool LayoutAssignment::isCheaperFrom(Value value, const Layout &from,
                                     const Layout &to) {
  Value source = cheapestSource(value, to);
  return movesLess(pricing.between(value, from, to),
                   pricing.between(value, *layoutOf(source), to));
}

Value LayoutAssignment::cheapestSource(Value value, const Layout &to) {
  Value source = value;
  Price least = pricing.between(value, *layoutOf(value), to);
  for (Value copy : copies.lookup(value)) {
    Price price = pricing.between(value, *layoutOf(copy), to);
    if (!movesLess(price, least))
      continue;
    least = price;
    source = copy;
  }
  return source;
}

Value LayoutAssignment::insertReshard(Value value, const Layout &to,
                                      const OpWithRule &op, unsigned operand) {
  const Layout &from = *layoutOf(value);
  auto attr = LayoutAttr::get(table.meshAttr(), to);
  Value known = origin.lookup(value);
  std::string reason =
      provenance.reason(mesh, known ? known : value, from, to, op, operand);
  // The reshard is put where all later uses in the value's block can use it.
  OpBuilder builder(userInBlockOf(value, op.op));
  auto type = withLayout(cast<RankedTensorType>(value.getType()), attr);
  Location loc = value.getDefiningOp() ? value.getLoc() : op.op->getLoc();
  if (std::string path = provenance.path(known ? known : value); !path.empty())
    loc = NameLoc::get(builder.getStringAttr(path), loc);
  Value moved = ReshardOp::create(builder, loc, type, value,
                                  builder.getStringAttr(reason));
  ++numReshards;
  actual[moved] = to;
  origin[moved] = known ? known : value;
  return moved;
}

void LayoutAssignment::require(const OpWithRule &op, unsigned operand,
                               const Layout &layout) {
  Value value = op.op->getOperand(operand);
  if (!isa<RankedTensorType>(value.getType()))
    return;
  if (table.isSource(value)) {
    value = repeatSource(value, layout);
  } else {
    const Layout *now = layoutOf(value);
    if (now->isPartial() && !samePartial(*now, layout)) {
      // A value that a reshard made partial still has its source, which may be
      // without partial axes.
      auto made = value.getDefiningOp<ReshardOp>();
      bool wasSummed = made && !layoutOf(made.getInput())->isPartial();
      value = wasSummed ? made.getInput()
                        : convert(value, reducedLayout(value), op, operand);
    }
  }
  // A value becomes partial from copies only: dimensions that the new partial
  // axes split are gathered first.
  if (layout.isPartial() && !samePartial(*layoutOf(value), layout)) {
    Layout copies = layout;
    copies.partial.clear();
    value = convert(value, copies, op, operand);
  }
  op.op->setOperand(operand, convert(value, layout, op, operand));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void LayoutAssignment::assignConstrain(unsigned index) {
  const OpWithRule &op = table.ops()[index];
  require(op, 0, shardings[index].operands[0]);
  // Uses of the constraint become uses of its operand, which has its layout by
  // now.
  op.op->getResult(0).replaceAllUsesWith(op.op->getOperand(0));
  dead.push_back(op.op);
}

void LayoutAssignment::assign(unsigned index) {
  const OpWithRule &op = table.ops()[index];
  OpSharding sharding = shardings[index];
  // A source is repeated for each layout, and its operands are replicated.
  if (!op.source)
    delayReductions(op, sharding);
  for (unsigned i = 0; i < op.op->getNumOperands(); ++i)
    require(op, i, sharding.operands[i]);
  if (op.source) {
    dead.push_back(op.op);
    return;
  }
  for (auto [i, layout] : llvm::enumerate(sharding.results))
    setLayout(op.op->getResult(i), layout);
  if (hasRegionFlow(op.op) || freeRegionOf(op.op))
    for (Region &region : op.op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (isa<RankedTensorType>(argument.getType()))
          setLayout(argument, table.get(argument));
}

/// Records the layouts that observers see. This precedes the erasure of
/// sources, whose users have copies of them.
void LayoutAssignment::answerObservers() {
  SmallVector<Attribute> answers;
  SmallVector<Operation *> observers;
  function.walk([&](Operation *op) {
    if (op->hasTrait<ObservesLayout>())
      observers.push_back(op);
  });
  for (Operation *op : observers) {
    Value value = op->getOperand(0);
    const Layout *layout =
        table.isSource(value) ? &table.get(value) : layoutOf(value);
    Attribute name = op->getAttr("name");
    if (name && layout && layout->isPartial())
      layout = &reducedLayout(value);
    Builder builder(op->getContext());
    if (name && layout) {
      Attribute answer = builder.getArrayAttr(
          {name, LayoutAttr::get(table.meshAttr(), *layout)});
      if (!llvm::is_contained(answers, answer))
        answers.push_back(answer);
    }
    op->erase();
  }
  if (!answers.empty())
    function->setAttr(kObservedAttr,
                      ArrayAttr::get(function.getContext(), answers));
}

void LayoutAssignment::finish() {
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      op->erase();
  Operation *end = function.getBody().front().getTerminator();
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.getBody().front().getArgumentTypes(),
      end->getOperandTypes()));
}

void LayoutAssignment::run() {
  for (BlockArgument arg : function.getArguments())
    if (isa<RankedTensorType>(arg.getType()))
      setLayout(arg, table.annotated(arg));
  for (auto [index, op] : llvm::enumerate(table.ops())) {
    if (isa<ConstrainOp>(op.op))
      assignConstrain(index);
    else if (isa<func::ReturnOp>(op.op))
      for (unsigned i = 0; i < op.op->getNumOperands(); ++i)
        require(op, i, shardings[index].operands[i]);
    else
      assign(index);
  }
  answerObservers();
  finish();
}
