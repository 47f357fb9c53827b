//===- BatchFlow.cpp - how a batch flows through a step -------------------===//

#include "weft/passes/training/BatchFlow.h"

#include "weft/base/PortRole.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/gradients/ReverseMode.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace weft;

BatchFlow::BatchFlow(func::FuncOp function, BatchFlowOptions options)
    : function(function), options(options), flow(function) {}

static std::optional<Role> roleOf(func::FuncOp function, unsigned argument) {
  auto text = function.getArgAttrOfType<StringAttr>(argument, kRoleAttr);
  return text ? roleNamed(text.getValue()) : std::nullopt;
}

bool BatchFlow::isBatch(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!argument || !type || type.getRank() == 0 ||
      argument.getOwner() != &function.getBody().front())
    return false;
  std::optional<Role> role = roleOf(function, argument.getArgNumber());
  return role && holdsBatch(*role);
}

BatchPart BatchFlow::part(Value value) const {
  if (ahead.contains(value))
    return {};
  if (isBatch(value))
    return BatchPart::ofRows({0, 1, 1});
  auto it = parts.find(flow.leader(value));
  return it == parts.end() ? BatchPart() : it->second;
}

void BatchFlow::set(Value value, const BatchPart &part) {
  BatchPart &old = parts[flow.leader(value)];
  isChanged |= !(old == part);
  old = part;
}

bool BatchFlow::isNested(Operation *op) const {
  return op->getParentOp() != function;
}

LogicalResult BatchFlow::run() {
  findWeights();
  do {
    if (isRestarted)
      parts.clear();
    isChanged = isRestarted = false;
    divided.clear();
    laterOps.clear();
    if (failed(visit(function.getBody().front())))
      return failure();
  } while (isChanged || isRestarted);
  return success();
}

LogicalResult BatchFlow::visit(Block &block) {
  for (Operation &op : block) {
    if (isRestarted)
      break;
    bool isEnd = op.hasTrait<OpTrait::IsTerminator>();
    if (isEnd && !isNested(&op))
      continue;
    if (failed(hasRegionFlow(&op) || isEnd ? visitRegions(&op) : visitOp(&op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

LogicalResult BatchFlow::join(Value value, const BatchPart &part,
                              Operation *where) {
  BatchPart old = this->part(value);
  if (part.kind == BatchPart::Whole || old == part)
    return success();
  if (old.kind != BatchPart::Whole)
    return where->emitError(
               "a value of a loop or branch has rows of a batch of ")
           << options.batch
           << " at one time and not at another, which microbatches cannot "
              "divide; run the whole batch, without --microbatches";
  set(value, part);
  return success();
}

/// Joins the parts of an op with regions, or of what a region passes on.
LogicalResult BatchFlow::visitRegions(Operation *op) {
  auto has = [&](ValueRange values, BatchPart::Kind kind) {
    return llvm::any_of(values,
                        [&](Value value) { return part(value).kind == kind; });
  };
  bool isLate = has(op->getOperands(), BatchPart::Later);
  bool isOnRows = has(op->getOperands(), BatchPart::Rows);
  if (isLate && !isOnRows && !isNested(op))
    return wait(op);
  for (OpOperand &operand : op->getOpOperands()) {
    BatchPart part = this->part(operand.get());
    Value target = flow.target(operand);
    bool isMissing = part.kind == BatchPart::Later ||
                     (!target && part.kind != BatchPart::Whole);
    if (failed(isMissing ? provide(operand.get(), op)
               : target  ? join(target, part, op)
                         : success()))
      return failure();
  }
  for (Region &region : op->getRegions())
    if (failed(visit(region.front())))
      return failure();
  if (has(op->getResults(), BatchPart::Rows) ||
      has(op->getResults(), BatchPart::Summand))
    divided.insert(op);
  return success();
}

/// Makes a whole value of a region one whose rows can be computed there.
LogicalResult BatchFlow::takeRows(Value value, const BatchRows &rows,
                                  Operation *user) {
  if (part(value).kind != BatchPart::Whole)
    return success();
  auto result = dyn_cast<OpResult>(value);
  if (!result || hasRegionFlow(result.getOwner()))
    return join(value, BatchPart::ofRows(rows), user);
  auto division = divideByResult(result, rows, options.batch);
  if (!division)
    return result.getOwner()->emitError("computes all rows of a batch of ")
           << options.batch
           << " within a loop or branch, which microbatches cannot divide; run "
              "the whole batch, without --microbatches";
  for (auto [operand, at] :
       llvm::zip_equal(result.getOwner()->getOperands(), division->operands))
    if (at && failed(takeRows(operand, *at, user)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult BatchFlow::visitOp(Operation *op) {
  if (op->getNumResults() == 1 && ahead.contains(op->getResult(0)))
    return success();
  bool isOnRows = false, isOnSummands = false, isLate = false;
  for (Value operand : op->getOperands()) {
    BatchPart::Kind kind = part(operand).kind;
    isOnRows |= kind == BatchPart::Rows;
    isOnSummands |= kind == BatchPart::Summand;
    isLate |= kind == BatchPart::Later;
  }
  if (isOnRows)
    return divide(op);
  bool usesOwn = llvm::any_of(op->getOperands(),
                              [&](Value operand) { return isOwn(operand); });
  if (usesOwn && onLoss.contains(op->getResult(0)))
    return passWithOwn(op);
  if (isLate)
    return wait(op);
  return isOnSummands ? passOrWait(op) : success();
}

/// A gradient from sums over the batch and from statistics: a summand of each
/// microbatch, by its own statistics.
LogicalResult BatchFlow::passWithOwn(Operation *op) {
  for (Value operand : op->getOperands())
    if (!isOwn(operand))
      passEarly(operand);
  auto passing =
      passSummands(op, [&](Value value) { return partBesideLoss(value); });
  if (isRestarted)
    return success();
  if (!passing)
    return refuse(op->getResult(0), op);
  divided.insert(op);
  set(op->getResult(0), passing->result);
  return success();
}

BatchPart BatchFlow::partBesideLoss(Value value) const {
  return isOwn(value) ? BatchPart() : part(value);
}

LogicalResult BatchFlow::wait(Operation *op) {
  laterOps.insert(op);
  for (Value result : op->getResults())
    set(result, BatchPart::later());
  return success();
}

/// Adds summands of one microbatch where that leaves fewer values to add up
/// over microbatches, or where a loop does it.
LogicalResult BatchFlow::passOrWait(Operation *op) {
  auto partOf = [&](Value value) { return part(value); };
  auto passing = passSummands(op, partOf);
  unsigned summands = llvm::count_if(op->getOperands(), [&](Value operand) {
    return part(operand).kind == BatchPart::Summand && operand.hasOneUse();
  });
  if (passing && (isNested(op) || summands > 1 || early.contains(op))) {
    divided.insert(op);
    set(op->getResult(0), passing->result);
    return success();
  }
  if (!isNested(op))
    return wait(op);
  return op->emitError("takes a sum over a batch of ")
         << options.batch
         << " within a loop or branch, which microbatches do not have; run the "
            "whole batch, without --microbatches";
}

LogicalResult BatchFlow::divide(Operation *op) {
  auto partOf = [&](Value value) { return part(value); };
  auto division = divideByOperands(op, options.batch, partOf);
  if (!division && !isNested(op))
    return wait(op);
  if (!division)
    return op->emitError("combines samples of a batch of ")
           << options.batch
           << " within a loop or branch, which microbatches cannot divide; run "
              "the whole batch, without --microbatches";
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    BatchPart::Kind kind = part(operand).kind;
    bool isInit =
        division->isReduced && llvm::is_contained(division->inits, number);
    if (isInit && kind == BatchPart::Summand)
      continue;
    bool isMissing = kind == BatchPart::Later || kind == BatchPart::Summand;
    if (isMissing && failed(provide(operand, op)))
      return failure();
    auto rows = division->operands[number];
    if (rows && isNested(op) && failed(takeRows(operand, *rows, op)))
      return failure();
  }
  divided.insert(op);
  for (auto [result, part] :
       llvm::zip_equal(op->getResults(), division->results))
    set(result, part);
  return success();
}

//===----------------------------------------------------------------------===//
// Values of the whole batch that rows need
//===----------------------------------------------------------------------===//

/// Marks the values that depend on a weight, or on an argument of an unknown
/// role, and gradients and losses: those that depend on labels or their weights.
void BatchFlow::findWeights() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    std::optional<Role> role = roleOf(function, argument.getArgNumber());
    if (!role || *role == Role::Weight)
      onWeights.insert(argument);
    if (role == Role::Label || role == Role::SampleWeight)
      onLoss.insert(argument);
  }
  // Without labels, gradients cannot be told from statistics.
  if (onLoss.empty() && llvm::any_of(block.getArguments(), [&](Value argument) {
        unsigned number = cast<BlockArgument>(argument).getArgNumber();
        return roleOf(function, number) == Role::Weight &&
               donatedResult(function, number);
      }))
    isUnlabelled = true;
  for (Operation &op : block)
    for (llvm::DenseSet<Value> *values : {&onWeights, &onLoss})
      if (llvm::any_of(op.getOperands(),
                       [&](Value value) { return values->contains(value); }))
        values->insert(op.result_begin(), op.result_end());
}

bool BatchFlow::isOwn(Value value) const {
  if (estimated.empty() || onLoss.contains(value) ||
      part(value).kind == BatchPart::Whole)
    return false;
  llvm::SetVector<Value> sources;
  addSources(value, sources);
  return llvm::all_of(sources,
                      [&](Value source) { return estimated.contains(source); });
}

/// Makes a value that is computed from sums over the batch, by linear ops, a
/// summand of each microbatch, as it is combined with the microbatch's own
/// statistics.
void BatchFlow::passEarly(Value value) {
  llvm::SetVector<Value> work;
  work.insert(value);
  for (size_t i = 0; i < work.size(); ++i) {
    Operation *op = work[i].getDefiningOp();
    if (part(work[i]).kind != BatchPart::Later || !op ||
        !early.insert(op).second)
      continue;
    isRestarted = true;
    work.insert(op->operand_begin(), op->operand_end());
  }
}

/// Whether the op takes rows or, in a loop or branch, may do so.
static bool takesRows(Operation *op, PartOf partOf) {
  return hasRegionFlow(op) || llvm::any_of(op->getOperands(), [&](Value value) {
           return partOf(value).kind == BatchPart::Rows;
         });
}

void BatchFlow::addSources(Value value, llvm::SetVector<Value> &sources) const {
  auto partOf = [&](Value of) { return part(of); };
  llvm::SetVector<Value> work;
  work.insert(value);
  for (size_t i = 0; i < work.size(); ++i) {
    Value next = work[i];
    if (partOf(next).kind == BatchPart::Whole)
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || takesRows(op, partOf))
      sources.insert(next);
    else
      work.insert(op->operand_begin(), op->operand_end());
  }
}

bool BatchFlow::canEstimate(Value source) const {
  BatchPart part = this->part(source);
  if (part.kind != BatchPart::Summand || !source.getDefiningOp())
    return false;
  switch (part.reduce) {
  case ReduceKind::Sum:
    return isa<FloatType>(getElementTypeOrSelf(source.getType()));
  case ReduceKind::Prod:
    return false;
  default:
    return true;
  }
}

LogicalResult BatchFlow::provide(Value value, Operation *user) {
  llvm::SetVector<Value> sources;
  addSources(value, sources);
  for (Value source : sources) {
    bool isInner = isNested(user) || !source.getDefiningOp();
    if (!isInner && !onWeights.contains(source)) {
      ahead.insert(source);
      isRestarted = true;
    } else if (isInner || isUnlabelled || !options.allowStatistics ||
               !canEstimate(source)) {
      return refuse(source, user);
    } else if (estimated.insert(source).second) {
      isRestarted = true;
    }
  }
  return success();
}

/// The name of the layer in an op's location: bn of "gradient of"("bn").
static StringRef layerOf(Location loc) {
  StringRef name;
  loc->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner))
      if (named.getName() != kGradientOf) {
        name = named.getName();
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return name;
}

LogicalResult BatchFlow::refuse(Value source, Operation *user) const {
  Operation *op = source.getDefiningOp() ? source.getDefiningOp() : user;
  bool hasEstimate = !isNested(user) && !options.allowStatistics &&
                     !isUnlabelled && canEstimate(source);
  StringRef layer = layerOf(op->getLoc());
  auto error = op->emitError();
  if (!layer.empty())
    error << "in " << layer << ", ";
  error << op->getName() << " combines all samples of a batch of "
        << options.batch << " in a value that each sample needs again, but "
        << "each of " << options.rounds << " microbatches has "
        << (options.batch + options.rounds - 1) / options.rounds
        << " samples; run the whole batch, without --microbatches";
  if (hasEstimate)
    error << ", or let each microbatch use its own statistics, with "
             "--allow-microbatch-statistics";
  error.attachNote(user->getLoc()) << "needed here";
  return failure();
}
