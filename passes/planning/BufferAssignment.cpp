//===- BufferAssignment.cpp - where each value lives ----------------------===//

#include "weft/passes/planning/BufferAssignment.h"

#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Ports.h"

using namespace mlir;
using namespace weft;

MemRefType weft::bufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

BufferAssignment::BufferAssignment(func::FuncOp function) {
  int64_t next = 0;
  number(function.getBody().front(), next);
  for (BlockArgument argument : function.getArguments())
    places[argument] = {PlaceKind::Argument, argument.getArgNumber()};
  assignResults(function);
  assignBlock(function.getBody().front());
}

void BufferAssignment::number(Block &block, int64_t &next) {
  for (Operation &op : block) {
    starts[&op] = next++;
    for (Region &region : op.getRegions())
      number(region.front(), next);
    ends[&op] = op.getNumRegions() == 0 ? starts[&op] : next++;
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
  if (place.kind == PlaceKind::Arena)
    arena[place.index].values.push_back(value);
}

void BufferAssignment::putInArena(Value value) {
  arena.push_back({bufferType(value.getType()), value.getLoc(), nullptr, {}});
  put(value, {PlaceKind::Arena, static_cast<unsigned>(arena.size() - 1)});
}

SmallVector<Lifetime> BufferAssignment::lifetimes() const {
  SmallVector<Lifetime> result;
  for (const ArenaBuffer &buffer : arena) {
    Lifetime lifetime;
    lifetime.bytes = bufferBytes(buffer.type);
    if (buffer.launch) {
      lifetime.first = lifetime.last = starts.lookup(buffer.launch);
      result.push_back(lifetime);
      continue;
    }
    lifetime.first = std::numeric_limits<int64_t>::max();
    for (Value held : buffer.values) {
      Operation *def = held.getDefiningOp();
      // A loop's carried values are live from its start to its end.
      Operation *holder = def ? def : held.getParentBlock()->getParentOp();
      lifetime.first = std::min(lifetime.first, starts.lookup(holder));
      lifetime.last = std::max(lifetime.last, lastUse(held));
      if (!def && isa<WhileOp>(holder))
        lifetime.last = std::max(lifetime.last, ends.lookup(holder));
    }
    result.push_back(lifetime);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Rules for sharing a buffer
//===----------------------------------------------------------------------===//

static func::FuncOp kernelOf(func::CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
}

/// Whether the op stores an element of a result only after all its loads of the
/// same element of its operands.
static bool readsBeforeItWrites(Operation *op) {
  if (auto instruction = dyn_cast<plan::PlanInstructionOpInterface>(op))
    return instruction.worksInPlace();
  auto call = dyn_cast<func::CallOp>(op);
  func::FuncOp kernel = call ? kernelOf(call) : nullptr;
  return kernel && mayWorkInPlace(kernel);
}

/// The results to which the condition passes the carried value unchanged when
/// the loop ends.
static SmallVector<OpResult> resultsOfCarried(WhileOp loop, unsigned index) {
  SmallVector<OpResult> results;
  Value carried = loop.getCondition().getArgument(index);
  auto end = cast<ConditionOp>(loop.getCondition().front().getTerminator());
  for (auto [value, result] :
       llvm::zip_equal(end.getValues(), loop->getResults()))
    if (value == carried)
      results.push_back(result);
  return results;
}

/// Whether the use is the initial value of a carried value that the loop
/// returns as `result`.
static bool carriesInto(OpOperand &use, Value result) {
  auto loop = dyn_cast<WhileOp>(use.getOwner());
  return loop && llvm::is_contained(
                     resultsOfCarried(loop, use.getOperandNumber()), result);
}

bool BufferAssignment::mayOverwrite(Value donated, Value replacement) const {
  Operation *producer = replacement.getDefiningOp();
  if (!producer || isa<ConstantOp>(producer) ||
      donated.getType() != replacement.getType())
    return false;
  int64_t when = starts.lookup(producer);
  for (OpOperand &use : donated.getUses()) {
    Operation *user = use.getOwner();
    if (user == producer
            ? !readsBeforeItWrites(producer) && !carriesInto(use, replacement)
            : starts.lookup(user) > when)
      return false;
  }
  return true;
}

bool BufferAssignment::diesIn(Value value, Operation *op) const {
  Place where = place(value);
  Operation *def = value.getDefiningOp();
  if (where.kind != PlaceKind::Arena || !def || !value.hasOneUse() ||
      def->getBlock() != op->getBlock())
    return false;
  return llvm::all_of(arena[where.index].values, [&](Value held) {
    return held == value || lastUse(held) < starts.lookup(op);
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
    if (places.count(value) || !producer || isa<ConstantOp>(producer))
      continue; // an argument, a constant, or returned twice: copied at the end
    if (!donatedArguments[index]) {
      places[value] = {PlaceKind::Result, static_cast<unsigned>(index)};
      continue;
    }
    if (mayOverwrite(function.getArgument(*donatedArguments[index]), value))
      places[value] = {PlaceKind::Argument, *donatedArguments[index]};
  }
}

void BufferAssignment::assignBlock(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<WhileOp>(op))
      assignWhile(loop);
    else if (auto choice = dyn_cast<CaseOp>(op))
      assignCase(choice);
    else
      assignOp(op);
  }
}

void BufferAssignment::assignOp(Operation &op) {
  for (OpResult result : op.getResults()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      places[result] = {PlaceKind::Constant,
                        static_cast<unsigned>(constantOps.size())};
      constantOps.push_back(constant);
      continue;
    }
    if (places.count(result))
      continue;
    // An instruction whose operand is in the arena and dies there may work in
    // place.
    auto instruction = dyn_cast<plan::PlanInstructionOpInterface>(op);
    Value input = instruction && instruction.worksInPlace()
                      ? op.getOperand(result.getResultNumber())
                      : Value();
    if (input && diesIn(input, &op))
      put(result, place(input));
    else
      putInArena(result);
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    assignScratch(call);
}

/// Assigns scratch memory, which is live during the launch only.
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

/// Whether each iteration passes the carried value on unchanged.
static bool isInvariant(WhileOp loop, unsigned index) {
  Value yielded = loop.getBody().front().getTerminator()->getOperand(index);
  return llvm::any_of(resultsOfCarried(loop, index), [&](OpResult result) {
    return yielded == loop.getBody().getArgument(result.getResultNumber());
  });
}

void BufferAssignment::assignCarried(WhileOp loop, unsigned index) {
  Value carried = loop.getCondition().getArgument(index);
  if (isInvariant(loop, index)) {
    put(carried, place(loop.getInits()[index])); // the body only reads it
    return;
  }
  for (OpResult result : resultsOfCarried(loop, index)) {
    auto known = places.find(result);
    auto hasIt = [&](Value other) {
      return places.count(other) && place(other) == known->second;
    };
    if (known == places.end() ||
        llvm::any_of(loop.getCondition().getArguments().take_front(index),
                     hasIt))
      continue;
    put(carried, known->second);
    return;
  }
  Value init = loop.getInits()[index];
  if (diesIn(init, loop))
    put(carried, place(init));
  else
    putInArena(carried);
}

bool BufferAssignment::mayReplaceCarried(WhileOp loop, unsigned index) const {
  Value yielded = loop.getBody().front().getTerminator()->getOperand(index);
  Operation *def = yielded.getDefiningOp();
  if (!def || isa<ConstantOp>(def) ||
      def->getBlock() != &loop.getBody().front() || places.count(yielded))
    return false;
  return llvm::all_of(resultsOfCarried(loop, index), [&](OpResult result) {
    return mayOverwrite(loop.getBody().getArgument(result.getResultNumber()),
                        yielded);
  });
}

void BufferAssignment::assignWhile(WhileOp loop) {
  for (unsigned index = 0; index < loop.getInits().size(); ++index)
    assignCarried(loop, index);
  assignBlock(loop.getCondition().front());
  auto end = cast<ConditionOp>(loop.getCondition().front().getTerminator());
  for (auto [value, argument, result] : llvm::zip_equal(
           end.getValues(), loop.getBody().getArguments(), loop.getResults())) {
    put(argument, place(value));
    if (!places.count(result))
      put(result, place(value));
  }
  auto yielded = loop.getBody().front().getTerminator()->getOperands();
  for (auto [index, value] : llvm::enumerate(yielded))
    if (mayReplaceCarried(loop, index))
      put(value, place(loop.getCondition().getArgument(index)));
  assignBlock(loop.getBody().front());
}

void BufferAssignment::assignCase(CaseOp choice) {
  for (Value result : choice.getResults())
    if (!places.count(result))
      putInArena(result);
  for (Region &branch : choice.getBranches()) {
    for (auto [argument, input] :
         llvm::zip_equal(branch.getArguments(), choice.getInputs()))
      put(argument, place(input));
    Block &block = branch.front();
    for (auto [value, result] : llvm::zip_equal(
             block.getTerminator()->getOperands(), choice.getResults())) {
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == &block && !isa<ConstantOp>(def) &&
          !places.count(value))
        put(value, place(result));
    }
    assignBlock(block);
  }
}
