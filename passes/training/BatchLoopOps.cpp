//===- BatchLoopOps.cpp - the ops of one microbatch -----------------------===//

#include "weft/passes/training/BatchLoop.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace weft;

Type BatchLoop::localType(Value value) const {
  BatchPart part = flow.part(value);
  if (part.kind != BatchPart::Rows)
    return value.getType();
  return typeOfRows(value.getType(), part.rows, rows.share());
}

RankedTensorType BatchLoop::wideType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  bool isShort =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isShort ? tensor.clone(Float32Type::get(type.getContext())) : tensor;
}

/// Whether the op adds up numbers in its result's type, and only the sum over
/// all microbatches is used.
bool BatchLoop::addsUpOnlyOutside(Operation &op) const {
  auto accumulating = dyn_cast<AccumulatesOpInterface>(&op);
  return accumulating && accumulating.accumulates() &&
         op.getParentOp() == function && op.getNumResults() == 1 &&
         flow.part(op.getResult(0)).kind == BatchPart::Summand &&
         llvm::none_of(op.getUsers(),
                       [&](Operation *user) { return flow.isDivided(user); });
}

void BatchLoop::build(Operation &op) {
  if (hasRegionFlow(&op) && flow.isDivided(&op))
    return buildRegions(op);
  if (!flow.isDivided(&op)) {
    builder.clone(op, local);
    return;
  }
  auto partOf = [&](Value value) { return flow.part(value); };
  if (auto division = divideByOperands(&op, rows.batch, partOf))
    buildDivided(op, *division);
  else if (auto passing = passSummands(
               &op, [&](Value value) { return flow.partBesideLoss(value); }))
    buildSum(op, *passing);
}

void BatchLoop::buildDivided(Operation &op, const OpDivision &division) {
  SmallVector<Value> operands;
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    auto at = division.operands[number];
    if (!at && division.isReduced &&
        llvm::is_contained(division.inits, number)) {
      operands.push_back(summand(operand, division.reduce));
      continue;
    }
    Value value = at ? rowsOf(operand, *at) : whole(operand);
    operands.push_back(
        at && division.isReduced ? masked(value, *at, division.reduce) : value);
  }
  SmallVector<Type> types = llvm::map_to_vector(
      op.getResults(), [&](Value result) { return localType(result); });
  if (addsUpOnlyOutside(op))
    types.front() = wideType(types.front());
  auto built = cast<ShardingRuleOpInterface>(op).buildLocal(
      builder, operands, types, RowPlacement(types));
  local.map(op.getResults(), built);
}

void BatchLoop::buildSum(Operation &op, const SummandPassing &passing) {
  IRMapping operands;
  for (auto [operand, joins] :
       llvm::zip_equal(op.getOperands(), passing.joins)) {
    bool isSummand =
        joins || flow.partBesideLoss(operand).kind == BatchPart::Summand;
    operands.map(operand, isSummand ? summand(operand, passing.result.reduce)
                                    : whole(operand));
  }
  local.map(op.getResult(0), builder.clone(op, operands)->getResult(0));
}

/// What an operand of a loop or branch, or of the end of its region, passes on.
Value BatchLoop::passOn(OpOperand &operand) {
  Value value = operand.get(), target = flow.regions().target(operand);
  BatchPart part = target ? flow.part(target) : BatchPart();
  switch (part.kind) {
  case BatchPart::Rows:
    return rowsOf(value, part.rows);
  case BatchPart::Summand:
    return summand(value, part.reduce);
  default:
    return whole(value);
  }
}

/// Builds a region whose last argument is the number of the microbatch.
BlockArgument BatchLoop::buildRegion(Region &from, Region &into) {
  OpBuilder::InsertionGuard guard(builder);
  Block &block = into.emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  for (BlockArgument argument : from.getArguments())
    local.map(argument,
              block.addArgument(localType(argument), argument.getLoc()));
  BlockArgument round =
      block.addArgument(rows.round.getType(), rows.round.getLoc());
  llvm::SaveAndRestore inside(rows.round, Value(round));
  for (Operation &inner : from.front().without_terminator())
    build(inner);
  Operation *end = from.front().getTerminator();
  OperationState state(end->getLoc(), end->getName());
  for (OpOperand &operand : end->getOpOperands())
    state.addOperands(passOn(operand));
  state.addAttributes(end->getAttrs());
  builder.create(state);
  return round;
}

void BatchLoop::buildRegions(Operation &op) {
  OperationState state(op.getLoc(), op.getName());
  for (OpOperand &operand : op.getOpOperands())
    state.addOperands(passOn(operand));
  for (Value result : op.getResults())
    state.addTypes(localType(result));
  state.addAttributes(op.getAttrs());
  SmallVector<BlockArgument> rounds;
  for (Region &region : op.getRegions())
    rounds.push_back(buildRegion(region, *state.addRegion()));
  bool isUsed = llvm::any_of(
      rounds, [](BlockArgument round) { return !round.use_empty(); });
  bool isLoop = cast<RegionBranchOpInterface>(op).hasLoop();
  for (BlockArgument round : rounds) {
    Block *block = round.getOwner();
    if (!isUsed)
      block->eraseArgument(round.getArgNumber());
    else if (isLoop)
      block->getTerminator()->insertOperands(
          block->getTerminator()->getNumOperands(), {round});
  }
  if (isUsed)
    state.addOperands(rows.round);
  if (isUsed && isLoop)
    state.addTypes(rows.round.getType());
  Operation *copy = builder.create(state);
  local.map(op.getResults(), copy->getResults().take_front(op.getNumResults()));
}
