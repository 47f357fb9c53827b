//===- RoundMoves.cpp - moves that some rounds of a loop make -------------===//

#include "weft/passes/sharding/RoundMoves.h"

#include "weft/dialects/weft/local/AbsentElement.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/passes/sharding/PartGroups.h"

using namespace mlir;
using namespace weft;

/// The rounds in which the branch is taken that gives what is moved, in a loop
/// whose stages read nothing else; nothing if there is no such branch.
static std::optional<TakenRounds> roundsOfMove(ReshardOp move) {
  if (!move->getParentOp()->hasAttr(kOrderedAttr))
    return std::nullopt;
  Operation *def = move.getInput().getDefiningOp();
  while (auto before = dyn_cast_or_null<ReshardOp>(def))
    def = before.getInput().getDefiningOp();
  bool isOfBody = def && def->getBlock() == move->getBlock();
  return isOfBody ? takenRounds(def) : std::nullopt;
}

/// tensor<i1>: whether the branch is taken, computed on all devices at the begin
/// of the loop's body.
Value RoundMoves::isTaken(OpBuilder &builder, Value counter,
                          TakenRounds rounds) {
  Value &value =
      known[{counter.getAsOpaquePointer(), rounds.first, rounds.count}];
  if (value)
    return value;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(counter.getParentBlock());
  LocalBuilder b{builder, counter.getLoc()};
  Value at = b.asI64(counter);
  Value begun = b.compare(CompareKind::GE, at, b.integer(rounds.first));
  Value goesOn =
      b.compare(CompareKind::LT, at, b.integer(rounds.first + rounds.count));
  return value = AndOp::create(builder, b.loc, begun, goesOn);
}

Value RoundMoves::build(OpBuilder &builder, ReshardOp move, Value value,
                        llvm::function_ref<Value(Value)> build) {
  std::optional<TakenRounds> rounds = roundsOfMove(move);
  Value counter = counters.lookup(move->getParentOp());
  if (!rounds || !counter)
    return build(value);
  Location loc = move.getLoc();
  Value condition = isTaken(builder, counter, *rounds);
  auto *moves = new Block(), *stays = new Block();
  for (Block *block : {moves, stays})
    block->addArgument(value.getType(), loc);
  RankedTensorType type;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(moves);
    Value moved = build(moves->getArgument(0));
    type = cast<RankedTensorType>(moved.getType());
    YieldOp::create(builder, loc, moved);
    builder.setInsertionPointToEnd(stays);
    Value zeros = ConstantOp::create(builder, loc, splatData(0, type));
    YieldOp::create(builder, loc, zeros);
  }
  auto choice = CaseOp::create(builder, loc, TypeRange{type}, condition,
                               ValueRange{value}, /*branchesCount=*/2);
  choice.getBranches()[0].push_back(moves);
  choice.getBranches()[1].push_back(stays);
  setTakenRounds(choice, *rounds);
  return choice->getResult(0);
}
