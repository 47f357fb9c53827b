//===- BufferAssignment.cpp - where each value lives -----------------------===//

#include "weft/passes/planning/BufferAssignment.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/Weft.h"

using namespace mlir;
using namespace weft;

BufferAssignment::BufferAssignment(func::FuncOp function) {
  int64_t next = 0;
  for (Operation &op : function.getBody().front())
    positions[&op] = next++;
  for (BlockArgument argument : function.getArguments())
    places[argument] = {PlaceKind::Argument, argument.getArgNumber()};
  assignResults(function);
  assignArena(function);
}

int64_t BufferAssignment::lastUse(Value value) const {
  int64_t last = value.getDefiningOp() ? position(value.getDefiningOp()) : -1;
  for (Operation *user : value.getUsers())
    last = std::max(last, position(user));
  return last;
}

/// Does the op store an element of a result only after all its loads of the
/// same element of its operands?
static bool readsBeforeItWrites(Operation *op) {
  if (isa<coll::AllReduceOp>(op))
    return true;
  auto call = dyn_cast<func::CallOp>(op);
  if (!call)
    return false;
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, call.getCalleeAttr());
  auto kind = kernel ? kernel->getAttrOfType<StringAttr>("weft.kernel") : nullptr;
  return kind && kind.getValue() == "elementwise";
}

bool BufferAssignment::mayOverwrite(Value donated, Value replacement) const {
  Operation *producer = replacement.getDefiningOp();
  if (!producer || isa<ConstantOp>(producer) ||
      donated.getType() != replacement.getType())
    return false;
  int64_t when = position(producer);
  for (Operation *user : donated.getUsers())
    if (position(user) > when ||
        (user == producer && !readsBeforeItWrites(producer)))
      return false;
  return true;
}

/// Results of the function claim the buffers their callers bind.
void BufferAssignment::assignResults(func::FuncOp function) {
  auto results = function.getBody().front().getTerminator()->getOperands();
  donors.assign(results.size(), std::nullopt);
  for (BlockArgument argument : function.getArguments())
    if (auto donated = function.getArgAttrOfType<IntegerAttr>(
            argument.getArgNumber(), kDonatedAttr))
      donors[donated.getInt()] = argument.getArgNumber();

  for (auto [index, value] : llvm::enumerate(results)) {
    Operation *producer = value.getDefiningOp();
    if (places.count(value) || !producer || isa<ConstantOp>(producer))
      continue; // an argument, a constant, or returned twice: copied at the end
    if (!donors[index]) {
      places[value] = {PlaceKind::Result, static_cast<unsigned>(index)};
      continue;
    }
    if (mayOverwrite(function.getArgument(*donors[index]), value))
      places[value] = {PlaceKind::Argument, *donors[index]};
  }
}

void BufferAssignment::assignArena(func::FuncOp function) {
  for (Operation &op : function.getBody().front())
    for (Value result : op.getResults()) {
      if (places.count(result))
        continue;
      if (isa<ConstantOp>(op)) {
        places[result] = {PlaceKind::Constant, 0};
        continue;
      }
      // An all-reduce of an arena value that dies in it works in place.
      if (auto reduce = dyn_cast<coll::AllReduceOp>(op)) {
        Value input =
            reduce.getInputs()[cast<OpResult>(result).getResultNumber()];
        if (place(input).kind == PlaceKind::Arena &&
            lastUse(input) == position(&op) && input.hasOneUse()) {
          places[result] = place(input);
          continue;
        }
      }
      places[result] = {PlaceKind::Arena, static_cast<unsigned>(arena.size())};
      arena.push_back(result);
    }
}
