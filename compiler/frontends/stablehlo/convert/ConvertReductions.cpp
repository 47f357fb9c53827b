//===- ConvertReductions.cpp - reduce and argmax --------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/RegionInputs.h"

#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/dialects/weft/ops/FoldOps.h"
#include "weft/dialects/weft/ops/ScanOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// Whether these sorted numbers are distinct dimensions of a tensor of this
/// rank.
bool liesIn(ArrayRef<int64_t> dims, int64_t rank) {
  return llvm::all_of(dims,
                      [&](int64_t dim) { return dim >= 0 && dim < rank; }) &&
         std::adjacent_find(dims.begin(), dims.end()) == dims.end();
}

Value reduceOne(Converter &c, ForeignOp op, ReduceKind kind, unsigned index,
                ArrayRef<int64_t> dims) {
  Type element = op.resultType(index).getElementType();
  Value input = c.input(op, index),
        init = c.input(op, op->getNumOperands() / 2 + index);
  input = accumulates(kind) ? c.summand(op, input, element)
                            : c.cast(op, input, element);
  Value reduced = c.make<ReduceOp>(op, kind, input, dims, element);
  if (c.isNeutral(kind, init))
    return reduced;
  auto type = cast<RankedTensorType>(reduced.getType());
  return c.combine(op, kind, reduced, c.fill(op, init, type));
}

/// Whether `value` compares a with b in this direction.
bool compares(Value value, StringRef direction, Value a, Value b) {
  Operation *op = value.getDefiningOp();
  return op && ForeignOp(op).name() == "compare" && op->getNumOperands() == 2 &&
         ForeignOp(op).word("comparison_direction") == direction &&
         op->getOperand(0) == a && op->getOperand(1) == b;
}

/// The direction "GT" or "LT" of JAX's reducer of (value, position) pairs, or
/// empty:
///   take   = x > y | x != x
///   first  = take | (x == y & i < j)
///   return select(take, x, y), select(first, i, j)
StringRef positionsOf(Block &block) {
  if (block.getNumArguments() != 4 || block.back().getNumOperands() != 2)
    return "";
  Value x = block.getArgument(0), i = block.getArgument(1);
  Value y = block.getArgument(2), j = block.getArgument(3);
  Operation *values = definedBy(block.back().getOperand(0), "select", 3);
  Operation *positions = definedBy(block.back().getOperand(1), "select", 3);
  if (!values || !positions || values->getOperand(1) != x ||
      values->getOperand(2) != y || positions->getOperand(1) != i ||
      positions->getOperand(2) != j)
    return "";
  Operation *take = definedBy(values->getOperand(0), "or", 2);
  Operation *first = definedBy(positions->getOperand(0), "or", 2);
  if (!take || !first || first->getOperand(0) != values->getOperand(0) ||
      !compares(take->getOperand(1), "NE", x, x))
    return "";
  Operation *tie = definedBy(first->getOperand(1), "and", 2);
  if (!tie || !compares(tie->getOperand(0), "EQ", x, y) ||
      !compares(tie->getOperand(1), "LT", i, j))
    return "";
  for (StringRef direction : {"GT", "LT"})
    if (compares(take->getOperand(0), direction, x, y))
      return direction;
  return "";
}

/// Whether each element of the second operand is its position along `dim`.
bool hasPositions(Converter &c, ForeignOp op, int64_t dim) {
  Value second = c.input(op, 1);
  if (auto constrained = second.getDefiningOp<ConstrainOp>())
    second = constrained.getInput();
  auto positions = second.getDefiningOp<IotaOp>();
  return positions && positions.getDim() == uint64_t(dim);
}

/// The reduction of the values of pairs with their positions along a dimension,
/// as in argmax and argmin, from JAX's initial pair: the neutral value at 0.
std::optional<ReduceKind> positionsReduction(Converter &c, ForeignOp op,
                                             int64_t dim) {
  if (!hasPositions(c, op, dim))
    return std::nullopt;
  StringRef direction = positionsOf(op->getRegion(0).front());
  ReduceKind kind = direction == "GT" ? ReduceKind::Max : ReduceKind::Min;
  bool isKnown = !direction.empty() && c.isNeutral(kind, c.input(op, 2)) &&
                 c.isNeutral(ReduceKind::Sum, c.input(op, 3));
  return isKnown ? std::optional(kind) : std::nullopt;
}

LogicalResult reducePositions(Converter &c, ForeignOp op, ReduceKind kind,
                              int64_t dim) {
  Value input = c.input(op, 0);
  Value extreme = c.make<ReduceOp>(op, kind, input, ArrayRef<int64_t>{dim});
  Value position = kind == ReduceKind::Max
                       ? c.make<ArgMaxOp>(op, op.resultType(1), input, dim)
                       : c.make<ArgMinOp>(op, op.resultType(1), input, dim);
  return c.give(op, ValueRange{extreme, position});
}

/// Removes reshapes and broadcasts of scalars to scalars.
void dropShapes(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<ReshapeOp, BroadcastOp>(op) &&
        op.getOperand(0).getType() == op.getResult(0).getType()) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
      op.erase();
    }
}

/// Converts a reduction of any number of tensors by any other body.
LogicalResult reduceByBody(Converter &c, ForeignOp op, ArrayRef<int64_t> dims) {
  SmallVector<Value> all = c.inputs(op);
  size_t count = all.size() / 2;
  auto folded = foldByBody(c, op, ValueRange(all).take_front(count),
                           ValueRange(all).drop_front(count), dims);
  return failed(folded) ? failure() : c.give(op, *folded);
}

LogicalResult reduce(Converter &c, ForeignOp op) {
  unsigned count = op->getNumOperands() / 2;
  Ints dims = op.ints("dimensions");
  llvm::sort(dims);
  Region &region = op->getRegion(0);
  for (unsigned i = 0; i < count; ++i)
    if (!liesIn(dims, op.operandType(i).getRank()))
      return op.refuse() << "reduces dimensions that are not distinct ones of "
                         << op.operandType(i);
  if (op->getNumOperands() != 2 * count ||
      region.front().getNumArguments() != 2 * count)
    return op.refuse() << "has a reducer of other than " << 2 * count
                       << " scalars";
  if (op->getNumResults() != count)
    return op.refuse() << "reduces " << count << " tensors, but has "
                       << op->getNumResults() << " results";
  if (count == 2 && dims.size() == 1)
    if (auto kind = positionsReduction(c, op, dims[0]))
      return reducePositions(c, op, *kind, dims[0]);
  SmallVector<ReduceKind> kinds;
  for (unsigned i = 0; i < count; ++i)
    if (auto kind = reductionOf(region.front(), i))
      kinds.push_back(*kind);
  if (kinds.size() < count)
    return reduceByBody(c, op, dims);
  SmallVector<Value> results;
  for (auto [i, kind] : llvm::enumerate(kinds))
    results.push_back(reduceOne(c, op, kind, i, dims));
  return c.give(op, results);
}

constexpr ConversionEntry kEntries[] = {
    {"reduce", reduce, 2, 1, OpRole::OverElements},
};

} // namespace

FailureOr<SmallVector<Value>> stablehlo::foldByBody(Converter &c, ForeignOp op,
                                                    ValueRange inputs,
                                                    ValueRange inits,
                                                    ArrayRef<int64_t> dims) {
  SmallVector<Type> scalars;
  for (Value input : inputs)
    scalars.push_back(RankedTensorType::get(
        {}, cast<RankedTensorType>(input.getType()).getElementType()));
  scalars.append(llvm::to_vector(scalars));
  auto fold = FoldOp::create(c.builder, op->getLoc(), inputs, inits, dims);
  if (failed(convertBody(c, op, scalars, fold.getBody())))
    return failure();
  return SmallVector<Value>(fold.getResults());
}

LogicalResult stablehlo::convertBody(Converter &c, ForeignOp op,
                                     TypeRange scalars, Region &into,
                                     SmallVectorImpl<Value> *outside) {
  SmallVector<Value> results;
  OpBuilder::InsertionGuard guard(c.builder);
  RegionInputs surroundings(c, op);
  for (Value value : surroundings.passed())
    if (!outside || ::cast<RankedTensorType>(value.getType()).getRank() > 0)
      return op.refuse() << "has a region that uses a value of "
                         << value.getType() << " from outside; "
                         << (outside ? "only scalars are"
                                     : "only constants are")
                         << " supported there";
  if (outside)
    outside->assign(surroundings.passed().begin(), surroundings.passed().end());
  if (failed(surroundings.convert(op->getRegion(0), into, scalars, results)))
    return failure();
  Block &block = into.front();
  YieldOp::create(c.builder, op->getLoc(), results);
  dropShapes(block);
  for (Operation &inner : block.without_terminator())
    if (!inner.hasTrait<OpTrait::Elementwise>() && !isa<ConstantOp>(inner))
      return op.refuse() << "has a reducer with '" << inner.getName()
                         << "', but only elementwise ops are supported there";
  return success();
}

ArrayRef<ConversionEntry> stablehlo::reductionConversions() { return kEntries; }
