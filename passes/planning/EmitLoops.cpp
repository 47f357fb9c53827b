//===- EmitLoops.cpp - loops and branches of a plan -----------------------===//
//
//   weft.while (%i, %x) times 100 ...      where kernels are launches, with a
//                                          body of 30 instructions:
//   body 0 to 99                           one after the other
//
//   weft.while (%i, %x) times 10000 ...
//   body 0 to 63                           what 136 leaves of 10,000
//   plan.label "loop 0" rounds 73
//   condition; plan.jump_unless "end 1"    the host reads it 74 times
//   body 0 to 135
//   plan.jump "loop 0"
//
//===----------------------------------------------------------------------===//

#include "weft/passes/planning/ProgramEmitter.h"

#include "weft/dialects/weft/CountedLoop.h"
#include "weft/layout/Sizes.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace weft {

void ProgramEmitter::emitJumpUnless(Location loc, Value condition,
                                    StringRef label) {
  if (!equal)
    equal.emplace(function, mesh);
  MeshAxes differs = equal->differs(condition);
  bool isEqual = llvm::none_of(differs.set_bits(), [&](unsigned axis) {
    return mesh.getMesh().axes[axis].size > 1;
  });
  plan::JumpUnlessOp::create(builder, loc, buffer(condition),
                             builder.getStringAttr(label), isEqual);
}

/// The bodies of the loop in the plan if no condition is needed between them:
/// its rounds are known, and the condition changes nothing. 0 otherwise.
int64_t ProgramEmitter::bodiesOf(PlannedLoopOpInterface loop) {
  int64_t exchanged = assignment.exchange(loop).rounds(),
          rounds = roundsOf(loop).value_or(0),
          ofBody = assignment.instructions(loop) / exchanged,
          most = std::min(rounds, unrolled / std::max<int64_t>(ofBody, 1));
  ValueRange passedOn = loop.getPassedOn();
  if (rounds % exchanged != 0 ||
      passedOn != ValueRange(loop.getConditionBlock().getArguments()))
    return 0;
  int64_t bodies = most / exchanged * exchanged;
  return bodies > exchanged ? bodies : 0;
}

/// Emits bodies one after the other, and the condition once before each set of
/// them. The rounds that are left over come first.
LogicalResult ProgramEmitter::emitUnrolled(PlannedLoopOpInterface loop,
                                           int64_t bodies) {
  Location loc = loop.getLoc();
  int64_t rounds = *roundsOf(loop), sets = rounds / bodies, outside = times,
          room = unrolled;
  const BufferExchange &exchange = assignment.exchange(loop);
  unrolled /= bodies;
  ++unrolledLoops;
  exchanging.push_back({&exchange, 0});
  auto emitBodies = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (failed(emitBody(loop)))
        return failure();
    return success();
  };
  if (failed(emitBodies(rounds % bodies)))
    return failure();
  StringAttr start, end;
  if (sets > 1) {
    start = builder.getStringAttr(label("loop"));
    end = builder.getStringAttr(label("end"));
    plan::LabelOp::create(builder, loc, start, builder.getI64IntegerAttr(sets));
    times = saturatingMultiply(outside, sets + 1);
    if (failed(emitBlock(loop.getConditionBlock())))
      return failure();
    emitJumpUnless(loc, loop.getDecision(), end);
    times = saturatingMultiply(outside, sets);
  }
  if (failed(emitBodies(bodies)))
    return failure();
  if (sets > 1) {
    plan::JumpOp::create(builder, loc, start);
    plan::LabelOp::create(builder, loc, end, IntegerAttr());
  }
  Moves moves = movesOfResults(loop);
  exchanging.pop_back();
  times = outside;
  unrolled = room;
  emitMoves(loc, std::move(moves));
  return success();
}

LogicalResult ProgramEmitter::emitWhile(PlannedLoopOpInterface loop) {
  Location loc = loop.getLoc();
  const BufferExchange &exchange = assignment.exchange(loop);
  emitMoves(loc,
            movesBetween(buffers(loop->getOperands()),
                         buffers(loop.getConditionBlock().getArguments())));
  if (int64_t bodies = bodiesOf(loop))
    return emitUnrolled(loop, bodies);
  StringAttr start = builder.getStringAttr(label("loop"));
  StringAttr end = builder.getStringAttr(label("end"));
  SmallVector<StringAttr> exits{end};
  while (exits.size() < exchange.rounds())
    exits.push_back(builder.getStringAttr(label("exchanged")));
  std::optional<int64_t> rounds = roundsOf(loop);
  plan::LabelOp::create(
      builder, loc, start,
      rounds ? builder.getI64IntegerAttr(*rounds / exchange.rounds())
             : IntegerAttr());
  SmallVector<Moves> atExit;
  exchanging.push_back({&exchange, 0});
  for (StringAttr exit : exits)
    if (failed(emitRound(loop, exit, atExit.emplace_back())))
      return failure();
  exchanging.pop_back();
  plan::JumpOp::create(builder, loc, start);
  for (unsigned round = exits.size(); round-- > 0;) {
    plan::LabelOp::create(builder, loc, exits[round], IntegerAttr());
    emitMoves(loc, std::move(atExit[round]));
    if (round > 0)
      plan::JumpOp::create(builder, loc, end);
  }
  return success();
}

/// Emits the condition and the body of the present iteration, and finds the
/// moves for a loop that ends in it.
LogicalResult ProgramEmitter::emitRound(PlannedLoopOpInterface loop,
                                        StringAttr exit, Moves &atExit) {
  auto [exchange, round] = exchanging.back();
  int64_t outside = times, bodies = exchange->rounds();
  auto timesOf = [&, before = int64_t(round)](std::optional<int64_t> rounds) {
    return saturatingMultiply(
        outside, rounds ? llvm::divideCeil(*rounds - before, bodies) : 0);
  };
  std::optional<int64_t> rounds = roundsOf(loop);
  // The condition runs once more than the body.
  times = timesOf(rounds ? std::optional(saturatingAdd(*rounds, 1)) : rounds);
  if (failed(emitBlock(loop.getConditionBlock())))
    return failure();
  emitJumpUnless(loop.getLoc(), loop.getDecision(), exit);
  atExit = movesOfResults(loop);
  times = timesOf(rounds);
  if (failed(emitBody(loop)))
    return failure();
  times = outside;
  return success();
}

/// Emits the body of the present iteration, and the moves to the next.
LogicalResult ProgramEmitter::emitBody(PlannedLoopOpInterface loop) {
  Block &body = loop.getBodyBlock();
  if (failed(emitBlock(body)))
    return failure();
  SmallVector<Value> yielded = buffers(body.getTerminator()->getOperands());
  auto &[exchange, round] = exchanging.back();
  round = (round + 1) % exchange->rounds();
  emitMoves(
      loop.getLoc(),
      movesBetween(yielded, buffers(loop.getConditionBlock().getArguments())));
  return success();
}

/// The moves that bring the results to their places if the loop ends before the
/// present iteration.
ProgramEmitter::Moves
ProgramEmitter::movesOfResults(PlannedLoopOpInterface loop) {
  SmallVector<Value> left = buffers(loop.getPassedOn());
  auto inLoop = exchanging.pop_back_val();
  Moves moves;
  for (auto [source, result] : llvm::zip_equal(left, loop->getResults()))
    if (source != buffer(result) && !result.use_empty())
      moves.push_back({source, buffer(result)});
  exchanging.push_back(inLoop);
  return moves;
}

LogicalResult ProgramEmitter::emitPart(PlannedPartOpInterface part) {
  Location loc = part.getLoc();
  LayoutAttr place = part.getPlaceOfPart();
  StringAttr end = builder.getStringAttr(label("end"));
  plan::JumpOutsideOp::create(builder, loc, place, end);
  llvm::SaveAndRestore within(inside, place.getLayout().part);
  Block &block = part->getRegion(0).front();
  if (failed(emitBlock(block)))
    return failure();
  emitMoves(loc, movesBetween(buffers(block.getTerminator()->getOperands()),
                              buffers(part->getResults())));
  plan::LabelOp::create(builder, loc, end, IntegerAttr());
  return success();
}

/// The times that the first region of a branch is run: as often as the branch,
/// or in the rounds in which it is taken, of those in the present body.
int64_t ProgramEmitter::timesTaken(Operation *choice) const {
  std::optional<TakenRounds> taken = takenRounds(choice);
  std::optional<int64_t> rounds = roundsAround(choice);
  if (!taken || !rounds || exchanging.empty())
    return times;
  int64_t bodies = exchanging.back().first->rounds(),
          round = exchanging.back().second;
  auto before = [&](int64_t end) { // of the body's rounds
    return end > round ? llvm::divideCeil(end - round, bodies) : 0;
  };
  int64_t all = before(*rounds);
  if (all == 0 || times % all != 0)
    return times;
  return times / all *
         (before(taken->first + taken->count) - before(taken->first));
}

LogicalResult ProgramEmitter::emitCase(PlannedBranchOpInterface choice) {
  Location loc = choice.getLoc();
  StringAttr other = builder.getStringAttr(label("else"));
  StringAttr end = builder.getStringAttr(label("end"));
  emitJumpUnless(loc, choice.getDecision(), other);
  for (Region &branch : choice->getRegions()) {
    llvm::SaveAndRestore restored(times);
    if (branch.getRegionNumber() == 0)
      times = timesTaken(choice);
    if (failed(emitBlock(branch.front())))
      return failure();
    emitMoves(loc, movesBetween(
                       buffers(branch.front().getTerminator()->getOperands()),
                       buffers(choice->getResults())));
    bool isFirst = branch.getRegionNumber() == 0;
    if (isFirst)
      plan::JumpOp::create(builder, loc, end);
    plan::LabelOp::create(builder, loc, isFirst ? other : end, IntegerAttr());
  }
  return success();
}

} // namespace weft
