//===- ConvertLoops.cpp - loops that count --------------------------------===//
//
// JAX writes fori_loop, scan and the rounds of its random numbers as
//
//   while (i = 0, ...) cond { i < 5 } do { ...; return i + 1, ... }
//
// They become weft.while, with a trip count if it is known. A loop is unrolled
// where UnrollPrice.h says that this pays.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/RegionInputs.h"
#include "weft/compiler/frontends/stablehlo/convert/UnrollPrice.h"

#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// The integer in all elements of a constant of StableHLO or weft.
std::optional<int64_t> numberOf(Attribute value) {
  auto data = dyn_cast_or_null<DenseIntElementsAttr>(value);
  if (!data || !data.isSplat())
    return std::nullopt;
  return data.getSplatValue<APInt>().sextOrTrunc(64).getSExtValue();
}

std::optional<int64_t> numberOf(Value value) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  return op ? numberOf(op->getAttr("value")) : std::nullopt;
}

/// A counter of a loop: the carried value `position` grows by `step` while it
/// is below `limit`.
struct Count {
  unsigned position = 0;
  int64_t limit = 0, step = 1;
};

/// The argument number of a value, if it is an argument of the block.
std::optional<unsigned> argumentOf(Value value, Block &block) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &block)
    return std::nullopt;
  return argument.getArgNumber();
}

std::optional<Count> countOf(ForeignOp op) {
  if (op->getNumRegions() != 2 || !op->getRegion(0).hasOneBlock() ||
      !op->getRegion(1).hasOneBlock())
    return std::nullopt;
  Block &cond = op->getRegion(0).front(), &body = op->getRegion(1).front();
  if (cond.empty() || body.empty() || cond.back().getNumOperands() != 1 ||
      body.back().getNumOperands() != op->getNumOperands())
    return std::nullopt;
  Operation *compare = cond.back().getOperand(0).getDefiningOp();
  if (!compare || compare->getNumOperands() != 2 ||
      ForeignOp(compare).word("comparison_direction") != "LT")
    return std::nullopt;
  auto position = argumentOf(compare->getOperand(0), cond);
  auto limit = numberOf(compare->getOperand(1));
  if (!position || !limit || *position >= body.back().getNumOperands())
    return std::nullopt;
  Operation *next = body.back().getOperand(*position).getDefiningOp();
  if (!next || ForeignOp(next).name() != "add" || next->getNumOperands() != 2 ||
      argumentOf(next->getOperand(0), body) != position)
    return std::nullopt;
  auto step = numberOf(next->getOperand(1));
  if (!step || *step < 1)
    return std::nullopt;
  return Count{*position, *limit, *step};
}

/// The number of iterations for a counter that begins at `first`.
int64_t roundsOf(const Count &count, int64_t first) {
  int64_t distance = std::max<int64_t>(count.limit - first, 0);
  return distance / count.step + (distance % count.step != 0);
}

/// Replaces the loop by copies of its body, one for each round.
SmallVector<Value> unrolled(Converter &c, ForeignOp op, WhileOp loop,
                            const Count &count, int64_t first) {
  Block &body = loop.getBody().front();
  SmallVector<Value> values(loop.getInits());
  for (int64_t i = first; i < count.limit; i += count.step) {
    auto type = cast<RankedTensorType>(values[count.position].getType());
    values[count.position] = c.splat(op, i, type);
    IRMapping mapping;
    mapping.map(body.getArguments(), values);
    for (Operation &inner : body.without_terminator())
      c.builder.clone(inner, mapping);
    for (auto [value, yielded] :
         llvm::zip_equal(values, body.getTerminator()->getOperands()))
      value = mapping.lookup(yielded);
  }
  loop.erase();
  return values;
}

/// Makes a loop; null after an error. Its first results are those of the op.
WhileOp makeLoop(Converter &c, ForeignOp op, std::optional<int64_t> rounds) {
  OpBuilder::InsertionGuard guard(c.builder);
  RegionInputs surroundings(c, op);
  SmallVector<Value> carried = c.inputs(op);
  TypeRange types(op->getOperandTypes());
  llvm::append_range(carried, surroundings.passed());
  auto loop = WhileOp::create(
      c.builder, op->getLoc(), TypeRange(ValueRange(carried)), carried,
      rounds ? c.builder.getI64IntegerAttr(*rounds) : IntegerAttr());
  SmallVector<Value> goesOn, next;
  if (failed(surroundings.convert(op->getRegion(0), loop.getCondition(), types,
                                  goesOn)))
    return {};
  auto predicate = RankedTensorType::get({}, c.builder.getI1Type());
  if (goesOn.size() != 1 || goesOn.front().getType() != predicate) {
    (void)(op.refuse() << "has a condition that returns other than "
                       << predicate);
    return {};
  }
  ConditionOp::create(c.builder, op->getLoc(), goesOn.front(),
                      loop.getCondition().getArguments());
  if (failed(
          surroundings.convert(op->getRegion(1), loop.getBody(), types, next)))
    return {};
  if (TypeRange(ValueRange(next)) != types) {
    (void)(op.refuse() << "carries values of types " << types
                       << ", but its body returns "
                       << ValueRange(next).getTypes());
    return {};
  }
  llvm::append_range(next, surroundings.passedTo(loop.getBody()));
  YieldOp::create(c.builder, op->getLoc(), next);
  return loop;
}

LogicalResult loop(Converter &c, ForeignOp op) {
  auto count = countOf(op);
  auto first = count ? numberOf(c.input(op, count->position)) : std::nullopt;
  std::optional<int64_t> rounds =
      first ? std::optional(roundsOf(*count, *first)) : std::nullopt;
  WhileOp loop = makeLoop(c, op, rounds);
  if (!loop)
    return failure();
  SmallVector<Value> values(loop.getResults());
  if (rounds) {
    UnrollPrice price(loop.getBody().front());
    if (price.pays(*rounds, c.unrolledOps)) {
      c.unrolledOps += price.ops() * *rounds;
      values = unrolled(c, op, loop, *count, *first);
    }
  }
  return c.give(op, ValueRange(values).take_front(op->getNumResults()));
}

constexpr ConversionEntry kEntries[] = {{"while", loop, 1, 2}};

} // namespace

ArrayRef<ConversionEntry> stablehlo::loopConversions() { return kEntries; }
