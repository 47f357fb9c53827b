//===- BufferAssignment.cpp - where each value lives ----------------------===//

#include "weft/passes/planning/BufferAssignment.h"

#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/UpdatedOperand.h"

using namespace mlir;
using namespace weft;

MemRefType weft::bufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

BufferAssignment::BufferAssignment(func::FuncOp function, bool shares)
    : function(function), shares(shares) {
  int64_t next = 0;
  number(function.getBody().front(), next);
  for (BlockArgument argument : function.getArguments())
    put(argument, {PlaceKind::Argument, argument.getArgNumber()});
  assignResults(function);
  assignBlock(function.getBody().front());
}

void BufferAssignment::number(Block &block, int64_t &next) {
  for (Operation &op : block) {
    starts[&op] = next++;
    for (Region &region : op.getRegions())
      number(region.front(), next);
    ends[&op] = op.getNumRegions() == 0 ? starts[&op] : next++;
    // A collective uses its operands until the wait for it.
    if (Operation *collective = plan::awaitedBy(&op))
      ends[collective] = ends[op.getOperand(0).getDefiningOp()] = starts[&op];
  }
}

int64_t BufferAssignment::lastUse(Value value) const {
  Operation *def = value.getDefiningOp();
  int64_t last = def ? starts.lookup(def) : -1;
  for (Operation *user : value.getUsers())
    last = std::max(
        last,
        ends.lookup(value.getParentBlock()->findAncestorOpInBlock(*user)));
  return last;
}

void BufferAssignment::put(Value value, Place place) {
  places[value] = place;
  held[{static_cast<unsigned>(place.kind), place.index}].push_back(value);
  if (place.kind == PlaceKind::Arena)
    arena[place.index].values.push_back(value);
}

static func::FuncOp kernelOf(func::CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
}

OpOperand *weft::changedOperand(OpResult result) {
  auto call = dyn_cast<func::CallOp>(result.getOwner());
  func::FuncOp kernel = call ? kernelOf(call) : nullptr;
  std::optional<unsigned> argument =
      kernel ? updatedArgument(kernel, result.getResultNumber()) : std::nullopt;
  return argument ? &call->getOpOperand(*argument) : nullptr;
}

/// The results to which the condition passes the carried value unchanged when
/// the loop ends.
static SmallVector<OpResult> resultsOfCarried(PlannedLoopOpInterface loop,
                                              unsigned index) {
  SmallVector<OpResult> results;
  Value carried = loop.getConditionBlock().getArgument(index);
  for (auto [value, result] :
       llvm::zip_equal(loop.getPassedOn(), loop->getResults()))
    if (value == carried)
      results.push_back(result);
  return results;
}

/// Whether each iteration passes the carried value on unchanged.
static bool isInvariant(PlannedLoopOpInterface loop, unsigned index) {
  Value yielded = loop.getBodyBlock().getTerminator()->getOperand(index);
  return llvm::any_of(resultsOfCarried(loop, index), [&](OpResult result) {
    return yielded == loop.getBodyBlock().getArgument(result.getResultNumber());
  });
}

/// Whether the use is the initial value of a carried value that the loop
/// returns as `result`.
static bool carriesInto(OpOperand &use, Value result) {
  auto loop = dyn_cast<PlannedLoopOpInterface>(use.getOwner());
  return loop && llvm::is_contained(
                     resultsOfCarried(loop, use.getOperandNumber()), result);
}

/// The operand in whose memory the result may be computed from the start: an
/// operand whose elements the op changes, or the initial value of a loop.
static OpOperand *sourceOf(OpResult result) {
  auto loop = dyn_cast<PlannedLoopOpInterface>(result.getOwner());
  if (!loop)
    return changedOperand(result);
  for (OpOperand &init : loop->getOpOperands())
    if (carriesInto(init, result))
      return &init;
  return nullptr;
}

void BufferAssignment::putFrom(Value value, Place place,
                               llvm::function_ref<bool(Value)> mayHold) {
  put(value, place);
  while (OpOperand *source = sourceOf(cast<OpResult>(value))) {
    Value before = source->get();
    Operation *def = before.getDefiningOp();
    if (!def || isa<PlannedDataOpInterface>(def) || places.count(before) ||
        !mayOverwrite(before, value) || !mayHold(before))
      return;
    put(before, place);
    value = before;
  }
}

void BufferAssignment::putInArena(Value value) {
  arena.push_back({bufferType(value.getType()), value.getLoc(), nullptr, {}});
  arena.back().shared = shared(value);
  put(value, {PlaceKind::Arena, static_cast<unsigned>(arena.size() - 1)});
}

/// The part of the mesh whose devices run the op.
static MeshPart partOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto part = dyn_cast<PlannedPartOpInterface>(op))
      return part.getPlaceOfPart().getLayout().part;
  return {};
}

/// The part of the mesh whose devices compute the value. What an exchange between
/// parts receives counts as held by all devices, as no collective has a source
/// and a target in shared memory.
static MeshPart partOf(Value value) {
  Operation *def = value.getDefiningOp();
  return partOf(def ? def : value.getParentBlock()->getParentOp());
}

SmallVector<Lifetime> BufferAssignment::lifetimes() const {
  SmallVector<Lifetime> result;
  for (const ArenaBuffer &buffer : arena) {
    Lifetime lifetime;
    lifetime.bytes = bufferBytes(buffer.type);
    if (buffer.launch) {
      lifetime.first = lifetime.last = starts.lookup(buffer.launch);
      lifetime.part = partOf(buffer.launch);
      result.push_back(lifetime);
      continue;
    }
    lifetime.first = std::numeric_limits<int64_t>::max();
    if (buffer.exchanging) {
      lifetime.first = starts.lookup(buffer.exchanging);
      lifetime.last = ends.lookup(buffer.exchanging);
    }
    if (!buffer.values.empty())
      lifetime.part = partOf(buffer.values.front());
    for (Value held : buffer.values) {
      if (partOf(held) != lifetime.part)
        lifetime.part.clear();
      Operation *def = held.getDefiningOp();
      // A loop's carried values are live from its start to its end.
      Operation *holder = def ? def : held.getParentBlock()->getParentOp();
      lifetime.first = std::min(lifetime.first, starts.lookup(holder));
      lifetime.last = std::max(lifetime.last, lastUse(held));
      if (!def && isa<PlannedLoopOpInterface>(holder))
        lifetime.last = std::max(lifetime.last, ends.lookup(holder));
    }
    result.push_back(lifetime);
  }
  return result;
}

LayoutAttr BufferAssignment::shared(Value value) const {
  if (!shares)
    return {};
  if (Operation *op = value.getDefiningOp())
    return op->getAttrOfType<LayoutAttr>(plan::kSharedAttr);
  auto argument = cast<BlockArgument>(value);
  if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return {};
  return shared(Place{PlaceKind::Argument, argument.getArgNumber()});
}

LayoutAttr BufferAssignment::shared(Place place) const {
  if (!shares)
    return {};
  func::FuncOp its = function;
  switch (place.kind) {
  case PlaceKind::Argument:
    return its.getArgAttrOfType<LayoutAttr>(place.index, plan::kSharedAttr);
  case PlaceKind::Result:
    return its.getResultAttrOfType<LayoutAttr>(place.index, plan::kSharedAttr);
  case PlaceKind::Arena:
    return arena[place.index].shared;
  case PlaceKind::Constant:
    return {};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Rules for sharing a buffer
//===----------------------------------------------------------------------===//

/// Whether the region may write its result in the memory of its argument.
bool BufferAssignment::mayBranchTake(Region &branch, BlockArgument argument,
                                     unsigned result) const {
  Operation *end = branch.front().getTerminator();
  Value yielded = end->getOperand(result);
  if (yielded == argument)
    return true;
  Operation *def = yielded.getDefiningOp();
  if (def && def->getBlock() == &branch.front() &&
      !isa<PlannedDataOpInterface>(def))
    return mayOverwrite(argument, yielded);
  // The value is copied there at the end.
  return !llvm::is_contained(end->getOperands(), argument);
}

/// The operands that a branch, or code of a part of the mesh, passes to all of
/// its regions; nothing for other ops.
static std::optional<OperandRange> passedToRegions(Operation *op) {
  if (auto choice = dyn_cast<PlannedBranchOpInterface>(op))
    return choice.getPassed();
  if (isa<PlannedPartOpInterface>(op))
    return op->getOperands();
  return std::nullopt;
}

bool BufferAssignment::mayTake(OpOperand &use, Value result) const {
  Operation *op = use.getOwner();
  unsigned number = cast<OpResult>(result).getResultNumber();
  if (isa<PlannedLoopOpInterface>(op))
    return carriesInto(use, result);
  if (std::optional<OperandRange> passed = passedToRegions(op)) {
    unsigned first = passed->getBeginOperandIndex();
    return use.getOperandNumber() >= first &&
           llvm::all_of(op->getRegions(), [&](Region &branch) {
             return mayBranchTake(
                 branch, branch.getArgument(use.getOperandNumber() - first),
                 number);
           });
  }
  if (auto instruction = dyn_cast<plan::PlanInstructionOpInterface>(op))
    return instruction.worksInPlace() && use.getOperandNumber() == number;
  if (OpOperand *changed = changedOperand(cast<OpResult>(result)))
    return changed == &use;
  auto call = dyn_cast<func::CallOp>(op);
  func::FuncOp kernel = call ? kernelOf(call) : nullptr;
  return kernel && mayWorkInPlace(kernel);
}

/// Calls the function with each use of the value, and of results of loops that
/// are this value since no iteration changes it.
static bool allUsesOf(Value value,
                      llvm::function_ref<bool(OpOperand &)> holds) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (!holds(use))
      return false;
    auto loop = dyn_cast<PlannedLoopOpInterface>(use.getOwner());
    if (!loop || !isInvariant(loop, use.getOperandNumber()))
      return true;
    return llvm::all_of(
        resultsOfCarried(loop, use.getOperandNumber()),
        [&](OpResult result) { return allUsesOf(result, holds); });
  });
}

bool BufferAssignment::mayOverwrite(Value donated, Value replacement) const {
  Operation *producer = replacement.getDefiningOp();
  if (!producer || isa<PlannedDataOpInterface>(producer) ||
      donated.getType() != replacement.getType())
    return false;
  int64_t when = starts.lookup(producer);
  return allUsesOf(donated, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user == producer ? mayTake(use, replacement)
                            : lastRead(user) <= when;
  });
}

bool BufferAssignment::isWritable(Place place) const {
  switch (place.kind) {
  case PlaceKind::Argument:
    return llvm::is_contained(donatedArguments, place.index);
  case PlaceKind::Result:
  case PlaceKind::Arena:
    return true;
  case PlaceKind::Constant:
    return false;
  }
  return false;
}

bool BufferAssignment::takesPlace(OpOperand &use, Value result) const {
  Operation *op = use.getOwner();
  Value value = use.get();
  auto found = places.find(value);
  if (found == places.end() || !isWritable(found->second) ||
      shared(found->second) != shared(result) || !mayOverwrite(value, result))
    return false;
  Place where = found->second;
  auto others = held.find({static_cast<unsigned>(where.kind), where.index});
  return llvm::all_of(others->second, [&](Value other) {
    Operation *here = other.getParentBlock()->findAncestorOpInBlock(*op);
    if (other == value || other == result || !here)
      return true;
    Operation *def = other.getDefiningOp();
    if (def == op) // This is another result of the op.
      return false;
    bool isEarlier = !def || starts.lookup(def) < starts.lookup(here);
    if (here != op) // The value is from around the op's loop or branch.
      return !isEarlier || lastUse(other) <= ends.lookup(here);
    return isEarlier ? lastUse(other) < starts.lookup(op)
                     : mayOverwrite(result, other);
  });
}

//===----------------------------------------------------------------------===//
// Straight lines
//===----------------------------------------------------------------------===//

/// Assigns results of the function to the buffers that callers bind.
void BufferAssignment::assignResults(func::FuncOp function) {
  auto results = function.getBody().front().getTerminator()->getOperands();
  donatedArguments.assign(results.size(), std::nullopt);
  for (BlockArgument argument : function.getArguments())
    if (auto result = donatedResult(function, argument.getArgNumber()))
      donatedArguments[*result] = argument.getArgNumber();

  for (auto [index, value] : llvm::enumerate(results)) {
    Operation *producer = value.getDefiningOp();
    if (places.count(value) || !producer ||
        isa<PlannedDataOpInterface>(producer))
      continue; // Arguments, constants and values returned twice are copied last.
    std::optional<unsigned> donated = donatedArguments[index];
    Place place = donated
                      ? Place{PlaceKind::Argument, *donated}
                      : Place{PlaceKind::Result, static_cast<unsigned>(index)};
    auto mayHold = [&](Value any) {
      return shared(any) == shared(place) &&
             (!donated || mayOverwrite(function.getArgument(*donated), any));
    };
    if (mayHold(value))
      putFrom(value, place, mayHold);
  }
}

void BufferAssignment::assignBlock(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<PlannedLoopOpInterface>(op))
      assignWhile(loop);
    else if (std::optional<OperandRange> passed = passedToRegions(&op))
      assignRegions(&op, *passed);
    else
      assignOp(op);
  }
}

void BufferAssignment::assignOp(Operation &op) {
  for (OpResult result : op.getResults()) {
    if (auto constant = dyn_cast<PlannedDataOpInterface>(op)) {
      put(result,
          {PlaceKind::Constant, static_cast<unsigned>(constantOps.size())});
      constantOps.push_back(constant);
      continue;
    }
    if (places.count(result))
      continue;
    auto instruction = dyn_cast<plan::PlanInstructionOpInterface>(op);
    OpOperand *input = instruction && instruction.worksInPlace()
                           ? &op.getOpOperand(result.getResultNumber())
                           : changedOperand(result);
    if (input && takesPlace(*input, result))
      put(result, place(input->get()));
    else
      putInArena(result);
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    assignScratch(call);
}

/// Assigns scratch memory, which is live only during the launch.
void BufferAssignment::assignScratch(func::CallOp call) {
  func::FuncOp kernel = kernelOf(call);
  int64_t bytes = kernel ? plan::scratchBytes(kernel) : 0;
  if (bytes <= 0)
    return;
  scratches[call] = arena.size();
  auto type = MemRefType::get({bytes}, IntegerType::get(call.getContext(), 8));
  arena.push_back({type, call.getLoc(), call, {}});
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

void BufferAssignment::assignCarried(PlannedLoopOpInterface loop,
                                     unsigned index) {
  Value carried = loop.getConditionBlock().getArgument(index);
  if (isInvariant(loop, index)) {
    put(carried, place(loop->getOperands()[index])); // The body only reads it.
    return;
  }
  for (OpResult result : resultsOfCarried(loop, index)) {
    auto known = places.find(result);
    auto hasIt = [&](Value other) {
      return places.count(other) && place(other) == known->second;
    };
    if (known == places.end() ||
        llvm::any_of(loop.getConditionBlock().getArguments().take_front(index),
                     hasIt))
      continue;
    put(carried, known->second);
    return;
  }
  OpOperand &init = loop->getOpOperand(index);
  SmallVector<OpResult> results = resultsOfCarried(loop, index);
  if (!results.empty() && llvm::all_of(results, [&](OpResult result) {
        return takesPlace(init, result);
      }))
    put(carried, place(init.get()));
  else
    putInArena(carried);
}

bool BufferAssignment::mayReplaceCarried(PlannedLoopOpInterface loop,
                                         unsigned index, Value value) const {
  Operation *def = value.getDefiningOp();
  if (!def || isa<PlannedDataOpInterface>(def) ||
      def->getBlock() != &loop.getBodyBlock())
    return false;
  return llvm::all_of(resultsOfCarried(loop, index), [&](OpResult result) {
    return mayOverwrite(
        loop.getBodyBlock().getArgument(result.getResultNumber()), value);
  });
}

void BufferAssignment::assignWhile(PlannedLoopOpInterface loop) {
  for (unsigned index = 0; index < loop->getOperands().size(); ++index)
    assignCarried(loop, index);
  assignBlock(loop.getConditionBlock());
  for (auto [value, argument, result] :
       llvm::zip_equal(loop.getPassedOn(), loop.getBodyBlock().getArguments(),
                       loop->getResults())) {
    put(argument, place(value));
    if (!places.count(result))
      put(result, place(value));
  }
  auto yielded = loop.getBodyBlock().getTerminator()->getOperands();
  for (auto [index, value] : llvm::enumerate(yielded)) {
    std::optional<unsigned> into = index;
    if (!mayReplaceCarried(loop, index, value))
      into = firstOfShifted(loop, index);
    if (into && mayReplaceCarried(loop, *into, value) && !places.count(value))
      putFrom(value, place(loop.getConditionBlock().getArgument(*into)),
              [&](Value any) { return mayReplaceCarried(loop, *into, any); });
  }
  assignBlock(loop.getBodyBlock());
  findExchange(loop);
}

void BufferAssignment::assignRegions(Operation *op, OperandRange passed) {
  for (OpResult result : op->getResults()) {
    if (places.count(result))
      continue;
    auto *input = llvm::find_if(op->getOpOperands(), [&](OpOperand &use) {
      return use.get().getType() == result.getType() && takesPlace(use, result);
    });
    if (input != op->getOpOperands().end())
      put(result, place(input->get()));
    else
      putInArena(result);
  }
  for (Region &branch : op->getRegions()) {
    for (auto [argument, input] :
         llvm::zip_equal(branch.getArguments(), passed))
      put(argument, place(input));
    Block &block = branch.front();
    for (auto [value, result] : llvm::zip_equal(
             block.getTerminator()->getOperands(), op->getResults())) {
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == &block &&
          !isa<PlannedDataOpInterface>(def) && !places.count(value))
        put(value, place(result));
    }
    assignBlock(block);
  }
}
