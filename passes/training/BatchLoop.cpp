//===- BatchLoop.cpp - a loop over microbatches ---------------------------===//

#include "weft/passes/training/BatchLoop.h"
#include "weft/passes/training/Passes.h"

#include "weft/dialects/weft/local/AbsentElement.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace weft;

namespace {
/// Ops compute rows as they compute blocks: none of another microbatch is
/// needed.
class RowPlacement : public LocalPlacement {
public:
  explicit RowPlacement(TypeRange types) : types(types) {}
  Value resultOffset(OpBuilder &, Location, unsigned, unsigned) const override {
    return {};
  }
  ArrayRef<int64_t> globalShape(unsigned result) const override {
    return cast<RankedTensorType>(types[result]).getShape();
  }

private:
  TypeRange types;
};
} // namespace

static Value combine(OpBuilder &builder, Location loc, ReduceKind kind, Value a,
                     Value b) {
  switch (kind) {
  case ReduceKind::Sum:
    return AddOp::create(builder, loc, a, b);
  case ReduceKind::Prod:
    return MulOp::create(builder, loc, a, b);
  case ReduceKind::Max:
    return MaxOp::create(builder, loc, a, b);
  case ReduceKind::Min:
    return MinOp::create(builder, loc, a, b);
  case ReduceKind::And:
    return AndOp::create(builder, loc, a, b);
  case ReduceKind::Or:
    return OrOp::create(builder, loc, a, b);
  }
  return {};
}

static Value absent(OpBuilder &builder, Location loc, ReduceKind kind,
                    Type type) {
  return ConstantOp::create(builder, loc,
                            absentData(kind, cast<RankedTensorType>(type)));
}

static Value reshaped(OpBuilder &builder, Value value,
                      ArrayRef<int64_t> shape) {
  if (cast<RankedTensorType>(value.getType()).getShape() == shape)
    return value;
  return ReshapeOp::create(builder, value.getLoc(), value, shape);
}

/// The value in another element type.
static Value converted(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return ConvertOp::create(builder, value.getLoc(), type, value);
}

BatchLoop::BatchLoop(func::FuncOp function, const BatchFlow &flow,
                     int64_t batch, int64_t rounds)
    : function(function), flow(flow),
      before(function.getBody().front().getTerminator()),
      builder(function.getContext()), body(new Block()) {
  Type counter = RankedTensorType::get({}, builder.getI32Type());
  rows.batch = batch;
  rows.rounds = rounds;
  rows.round = body->addArgument(counter, function.getLoc());
  builder.setInsertionPointToEnd(body);
}

//===----------------------------------------------------------------------===//
// Values that the loop carries
//===----------------------------------------------------------------------===//

/// Adds a carried value, which is unchanged until `yields` has another.
Value BatchLoop::carry(Value init) {
  Value argument = body->addArgument(init.getType(), init.getLoc());
  inits.push_back(init);
  yields.push_back(argument);
  return argument;
}

/// A value from before the loop, in the loop.
Value BatchLoop::capture(Value value) {
  Value &inside = captured[value];
  if (inside)
    return inside;
  if (!matchPattern(value, m_Constant()))
    return inside = carry(value);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  return inside = builder.clone(*value.getDefiningOp())->getResult(0);
}

/// Combines a summand over all microbatches.
void BatchLoop::accumulate(Value value) {
  ReduceKind kind = flow.part(value).reduce;
  RankedTensorType wide = weft::accumulates(kind)
                              ? wideType(value.getType())
                              : cast<RankedTensorType>(value.getType());
  Value init = absent(before, value.getLoc(), kind, wide);
  Value argument = carry(init);
  yields.back() = combine(builder, value.getLoc(), kind, argument,
                          converted(builder, local.lookup(value), wide));
}

/// Keeps the rows of all microbatches.
void BatchLoop::collect(Value value) {
  Location loc = value.getLoc();
  BatchRows at = flow.part(value).rows;
  auto type = cast<RankedTensorType>(value.getType());
  auto all = splitAt(type.getShape(), at, {rows.share(), rows.rounds});
  auto one = splitAt(type.getShape(), at, {rows.share(), 1});
  auto room = type.clone(all.sizes);
  Value init = ConstantOp::create(before, loc, splatData(0, room));
  Value argument = carry(init);
  SmallVector<Value> starts(all.sizes.size(),
                            LocalBuilder{builder, loc}.integer(0));
  starts[all.position + 1] = LocalBuilder{builder, loc}.asI64(rows.round);
  Value update =
      ReshapeOp::create(builder, loc, local.lookup(value), one.sizes);
  yields.back() =
      DynamicUpdateSliceOp::create(builder, loc, argument, update, starts);
}

/// Makes a value of microbatches a result of the loop.
void BatchLoop::keep(Value value) {
  BatchPart part = flow.part(value);
  if (!local.contains(value) || results.contains(value))
    return;
  if (part.kind == BatchPart::Summand)
    accumulate(value);
  else if (part.kind == BatchPart::Rows)
    collect(value);
  else
    return;
  results[value] = inits.size() - 1;
}

/// Finds the values of microbatches that ops outside of the loop use, and
/// combines them over all microbatches.
void BatchLoop::replaceOutside() {
  for (Operation &op : function.getBody().front()) {
    if (!flow.isLater(&op) && !op.hasTrait<OpTrait::IsTerminator>())
      continue;
    op.walk([&](Operation *user) {
      for (Value value : user->getOperands())
        keep(value);
    });
  }
}

/// The value of all microbatches, from the loop's result.
static Value valueOf(OpBuilder &builder, Value value, Value result,
                     const BatchPart &part, const InterleavedRows &rows) {
  auto type = cast<RankedTensorType>(value.getType());
  if (part.kind == BatchPart::Summand)
    return converted(builder, result, type);
  LocalBuilder b{builder, value.getLoc()};
  auto padded =
      splitAt(type.getShape(), part.rows, {rows.share() * rows.rounds});
  auto all = splitAt(type.getShape(), part.rows, {rows.batch});
  result = ReshapeOp::create(builder, b.loc, result, padded.sizes);
  return reshaped(builder, b.cutTo(result, all.sizes), type.getShape());
}

/// The ops of the loop's block from which none of its inits is computed, in
/// their order: none of their values has to be kept while the loop runs.
static SmallVector<Operation *> notNeeded(ValueRange inits, Operation *loop) {
  llvm::DenseSet<Operation *> needed;
  for (Value init : inits)
    needed.insert(init.getDefiningOp());
  for (Operation &op : llvm::reverse(*loop->getBlock()))
    if (needed.contains(&op))
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          needed.insert(operand.getDefiningOp());
      });
  SmallVector<Operation *> others;
  for (Operation &op : loop->getBlock()->without_terminator())
    if (!needed.contains(&op) && op.isBeforeInBlock(loop))
      others.push_back(&op);
  return others;
}

void BatchLoop::finish() {
  YieldOp::create(builder, function.getLoc(), yields);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  auto loop = ForOp::create(
      before, function.getLoc(), TypeRange(ValueRange(inits)),
      before.getI64IntegerAttr(rows.rounds), inits, DenseI64ArrayAttr());
  loop.getBody().push_back(body);
  if (function->getParentOp()->hasAttr(kPipelineAttr))
    loop->setAttr(kMicrobatchesAttr, before.getI64IntegerAttr(rows.rounds));
  IRMapping outside;
  for (auto [value, index] : results)
    outside.map(value, valueOf(before, value, loop.getResult(index),
                               flow.part(value), rows));
  Block &block = function.getBody().front();
  Operation *end = block.getTerminator();
  auto replace = [&](Operation *op) {
    op->walk([&](Operation *user) {
      for (OpOperand &operand : user->getOpOperands())
        operand.set(outside.lookupOrDefault(operand.get()));
    });
  };
  for (Operation *op : notNeeded(inits, loop)) {
    op->moveBefore(end);
    replace(op);
  }
  replace(end);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void BatchLoop::run() {
  for (BlockArgument argument : function.getArguments())
    if (flow.isBatch(argument) && !argument.use_empty())
      local.map(argument, slice(argument, flow.part(argument).rows));
  for (Operation &op : function.getBody().front().without_terminator())
    if (flow.isDivided(&op))
      build(op);
  replaceOutside();
  finish();
}

//===----------------------------------------------------------------------===//
// Values of one microbatch
//===----------------------------------------------------------------------===//

Value BatchLoop::whole(Value value) {
  if (flow.isAhead(value))
    return capture(value);
  if (flow.part(value).kind != BatchPart::Whole)
    return estimate(value);
  return local.contains(value) ? local.lookup(value) : capture(value);
}

Value BatchLoop::rowsOf(Value value, const BatchRows &at) {
  if (flow.part(value).kind == BatchPart::Rows)
    return local.lookup(value);
  Value &known =
      computed[{value.getAsOpaquePointer(), at.dim, at.outer, at.inner}];
  if (known)
    return known;
  auto result = dyn_cast<OpResult>(value);
  if (Value made = result ? computeRows(result, at) : Value())
    return known = made;
  return known = slice(value, at);
}

/// Computes rows of an op's result from rows of its operands, or returns null.
Value BatchLoop::computeRows(OpResult result, const BatchRows &at) {
  Operation *op = result.getOwner();
  auto type = typeOfRows(result.getType(), at, rows.share());
  if (auto counts = dyn_cast<InterleavedRowsOpInterface>(op)) {
    InterleavedRows these = rows;
    these.at = at;
    SmallVector<Value> operands = llvm::map_to_vector(
        op->getOperands(), [&](Value v) { return whole(v); });
    if (Value built = counts.buildRows(builder, operands, type, these))
      return built;
  }
  auto division = divideByResult(result, at, rows.batch);
  if (!division || op->getNumResults() != 1)
    return {};
  SmallVector<Value> operands;
  for (auto [operand, part] :
       llvm::zip_equal(op->getOperands(), division->operands))
    operands.push_back(part ? rowsOf(operand, *part) : whole(operand));
  return cast<ShardingRuleOpInterface>(op).buildLocal(builder, operands, type,
                                                      RowPlacement(type))[0];
}

/// Cuts a microbatch's rows from a value that is known before the loop.
Value BatchLoop::slice(Value value, const BatchRows &at) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Value &carried =
      sliced[{value.getAsOpaquePointer(), at.dim, at.outer, at.inner}];
  SplitShape split = splitAt(type.getShape(), at, {rows.share(), rows.rounds});
  if (!carried) {
    auto padded = splitAt(type.getShape(), at, {rows.share() * rows.rounds});
    auto all = splitAt(type.getShape(), at, {rows.batch});
    LocalBuilder b{before, loc};
    Value rows = reshaped(before, value, all.sizes);
    rows = reshaped(before, b.padTo(rows, padded.sizes), split.sizes);
    carried = carry(rows);
  }
  Value zero = LocalBuilder{builder, loc}.integer(0);
  SmallVector<Value> starts(split.sizes.size(), zero);
  starts[split.position + 1] = LocalBuilder{builder, loc}.asI64(rows.round);
  split.sizes[split.position + 1] = 1;
  Value block =
      DynamicSliceOp::create(builder, loc, carried, starts, split.sizes);
  return ReshapeOp::create(builder, loc, typeOfRows(type, at, rows.share()),
                           block);
}

Value BatchLoop::isLong(Location loc) {
  LocalBuilder b{builder, loc};
  return b.compare(CompareKind::LT, b.asI64(rows.round),
                   b.integer(rows.firstShort()));
}

/// The microbatch's summand of a value: the first microbatch has a whole value.
Value BatchLoop::summand(Value value, ReduceKind kind) {
  if (flow.part(value).kind == BatchPart::Summand)
    return local.lookup(value);
  Location loc = value.getLoc();
  Value none = absent(builder, loc, kind, value.getType());
  DenseElementsAttr data;
  if (matchPattern(value, m_Constant(&data)) &&
      data == neutralData(kind, cast<RankedTensorType>(value.getType())))
    return none;
  LocalBuilder b{builder, loc};
  Value isFirst = b.compare(CompareKind::EQ, b.asI64(rows.round), b.integer(0));
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  return SelectOp::create(builder, loc, b.along(isFirst, shape), whole(value),
                          none);
}

/// A value that is reduced over the batch, from the rows of one microbatch: its
/// sums are multiplied by the whole batch's samples over the microbatch's.
Value BatchLoop::estimate(Value value) {
  Value &known = estimates[value];
  if (known)
    return known;
  Location loc = value.getLoc();
  BatchPart part = flow.part(value);
  if (part.kind == BatchPart::Later) {
    IRMapping operands;
    for (Value operand : value.getDefiningOp()->getOperands())
      operands.map(operand, whole(operand));
    Operation *copy = builder.clone(*value.getDefiningOp(), operands);
    unsigned number = cast<OpResult>(value).getResultNumber();
    return estimates[value] = copy->getResult(number);
  }
  Value own = local.lookup(value);
  if (part.reduce != ReduceKind::Sum)
    return estimates[value] = own;
  auto type = cast<RankedTensorType>(own.getType());
  auto scale = [&](int64_t samples) -> Value {
    return ConstantOp::create(
        builder, loc, splatData(double(rows.batch) / double(samples), type));
  };
  Value factor = scale(rows.share());
  if (!rows.isEven())
    factor = SelectOp::create(
        builder, loc,
        LocalBuilder{builder, loc}.along(isLong(loc), type.getShape()), factor,
        scale(rows.share() - 1));
  return estimates[value] = MulOp::create(builder, loc, own, factor);
}

/// The rows without those past the batch's end, which short rounds have.
Value BatchLoop::masked(Value value, const BatchRows &at, ReduceKind kind) {
  if (rows.isEven())
    return value;
  Location loc = value.getLoc();
  LocalBuilder b{builder, loc};
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> split = {at.outer, rows.share(), at.inner};
  auto numbers = RankedTensorType::get(split, builder.getI64Type());
  Value row = IotaOp::create(builder, loc, numbers,
                             builder.getI64IntegerAttr(1), Value());
  Value count =
      SelectOp::create(builder, loc, isLong(loc), b.integer(rows.share()),
                       b.integer(rows.share() - 1));
  Value exists = b.compare(CompareKind::LT, row, b.along(count, split));
  exists = ReshapeOp::create(builder, loc, exists, {type.getDimSize(at.dim)});
  return SelectOp::create(builder, loc,
                          b.along(exists, type.getShape(), at.dim), value,
                          absent(builder, loc, kind, type));
}
