//===- Ring.cpp - blocks that travel around a group of devices ------------===//

#include "weft/passes/rings/Ring.h"

#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/IR/Matchers.h"

using namespace weft;
using namespace mlir;
using formulas::Tensor;

RankedTensorType weft::withSize(Type type, int dim, int64_t size) {
  auto its = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(its.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, its.getElementType());
}

Type weft::elementOfSum(Type element) {
  bool isShort =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isShort ? Type(Float32Type::get(element.getContext())) : element;
}

StringAttr weft::reasonOf(Operation *collective) {
  auto given = collective->getAttrOfType<StringAttr>("reason");
  return given ? StringAttr::get(given.getContext(),
                                 given.getValue() + ", a block at a time")
               : StringAttr();
}

Ring::Ring(Location loc, LayoutAttr group, int64_t size)
    : group(group), loc(loc), devices(coll::groupSize(group)), size(size),
      steps(devices) {}

void Ring::startAt(OpBuilder &b) {
  auto type = RankedTensorType::get({}, b.getI64Type());
  Tensor own = tensor(b, coll::CoordinateOp::create(b, loc, type, group));
  ownStart = own * double(size);
}

Value Ring::positionAt(OpBuilder &b, int64_t distance) const {
  int64_t ahead = (distance % devices + devices) % devices;
  Tensor start = tensor(b, ownStart);
  return ahead ? (start + double(ahead * size)) % double(devices * size)
               : start;
}

Value Ring::moveOn(OpBuilder &b, Value position, int direction) const {
  int64_t by = direction > 0 ? size : size * (devices - 1);
  return (tensor(b, position) + double(by)) % double(size * devices);
}

Value Ring::receive(OpBuilder &b, Value block, int direction,
                    StringAttr reason) const {
  SmallVector<int64_t> sources;
  for (int64_t k = 0; k < devices; ++k)
    sources.push_back((k + direction + devices) % devices);
  return coll::CollectivePermuteOp::create(b, loc, block.getType(), block,
                                           b.getDenseI64ArrayAttr(sources),
                                           group, reason);
}

Ring::Values Ring::starts(OpBuilder &b, Value array, int dim,
                          Value position) const {
  auto rank = cast<RankedTensorType>(array.getType()).getRank();
  Value zero = tensor(b, position).number(0);
  Values out(rank, zero);
  out[dim] = position;
  return out;
}

Value Ring::place(OpBuilder &b, Value array, Value block, int dim,
                  Value position) const {
  return DynamicUpdateSliceOp::create(b, loc, array, block,
                                      starts(b, array, dim, position));
}

namespace {
/// Tells an op where its block starts.
class BlockPlacement : public LocalPlacement {
public:
  BlockPlacement(const BlockedOp &blocked [[clang::lifetimebound]],
                 Value position)
      : blocked(blocked), position(position) {}
  Value resultOffset(OpBuilder &, Location, unsigned,
                     unsigned dim) const override {
    return int(dim) == blocked.resultDim ? position : Value();
  }
  ArrayRef<int64_t> globalShape(unsigned result) const override {
    return cast<RankedTensorType>(blocked.op->getResult(result).getType())
        .getShape();
  }

private:
  const BlockedOp &blocked;
  Value position;
};
} // namespace

void Ring::compute(OpBuilder &b, const Names &names, ArrayRef<BlockedOp> ops,
                   Value position, IRMapping &values) const {
  llvm::DenseMap<std::pair<Value, int>, Value> slices;
  auto operandOf = [&](Value operand, int dim) -> Value {
    if (Value known = values.lookupOrNull(operand))
      return known;
    Value whole = names.lookupOrDefault(operand);
    if (dim < 0)
      return whole;
    Value &slice = slices[{operand, dim}];
    if (!slice)
      slice = DynamicSliceOp::create(
          b, loc, whole, starts(b, whole, dim, position),
          withSize(whole.getType(), dim, size).getShape());
    return slice;
  };
  for (const BlockedOp &its : ops) {
    Values operands;
    for (auto [operand, dim] :
         llvm::zip_equal(its.op->getOperands(), its.operandDims))
      operands.push_back(operandOf(operand, dim));
    auto whole = cast<RankedTensorType>(its.op->getResult(0).getType());
    Type type = its.resultDim >= 0
                    ? withSize(whole, its.resultDim, size)
                    : whole.clone(elementOfSum(whole.getElementType()));
    auto made = cast<ShardingRuleOpInterface>(its.op).buildLocal(
        b, operands, type, BlockPlacement(its, position));
    values.map(its.op->getResult(0), made.front());
  }
}

void Ring::replaceResult(OpBuilder &b, Value old, Value made) const {
  Type element = cast<RankedTensorType>(old.getType()).getElementType();
  Tensor its = tensor(b, made);
  old.replaceAllUsesWith(its.elementType() == element ? its
                                                      : its.convert(element));
}

namespace {
/// What is carried from round to round.
struct Travel {
  SmallVector<Value> up, down; ///< blocks that come from above, and from below
  Value upAt, downAt;          ///< where they start
  SmallVector<Value> results;

  SmallVector<Value> all() const {
    SmallVector<Value> out;
    llvm::append_range(out, up);
    llvm::append_range(out, down);
    out.append({upAt, downAt});
    llvm::append_range(out, results);
    return out;
  }
  static Travel from(ValueRange all, size_t blocks) {
    ValueRange rest = all.drop_front(2 * blocks);
    return {SmallVector<Value>(all.take_front(blocks)),
            SmallVector<Value>(all.slice(blocks, blocks)), rest[0], rest[1],
            SmallVector<Value>(rest.drop_front(2))};
  }
};
} // namespace

Ring::Values Ring::visitAll(OpBuilder &b, ArrayRef<Operation *> gathers,
                            ValueRange outside, Visit visit) const {
  auto receiveAll = [&](OpBuilder &at, ValueRange blocks, int direction) {
    Values received;
    for (auto [block, gather] : llvm::zip_equal(blocks, gathers))
      received.push_back(receive(at, block, direction, reasonOf(gather)));
    return received;
  };
  Values own;
  for (Operation *gather : gathers)
    own.push_back(gather->getOperand(0));
  // Visits the blocks of both sides while the next ones, if any, arrive.
  auto visitPair = [&](OpBuilder &at, const Names &names, Travel now,
                       bool movesUp, bool movesDown) {
    Travel next = now;
    if (movesUp)
      next.up = receiveAll(at, now.up, 1);
    if (movesDown)
      next.down = receiveAll(at, now.down, -1);
    next.results = visit(at, names, now.up, now.upAt, now.results);
    next.results = visit(at, names, now.down, now.downAt, next.results);
    if (movesUp)
      next.upAt = moveOn(at, now.upAt, 1);
    if (movesDown)
      next.downAt = moveOn(at, now.downAt, -1);
    return next;
  };
  Travel now;
  now.up = receiveAll(b, own, 1);
  now.upAt = positionAt(b, 1);
  if (steps.pairs) {
    now.down = receiveAll(b, own, -1);
    now.downAt = positionAt(b, -1);
  }
  now.results = visit(b, Names(), own, ownStart, {});
  if (steps.pairs) {
    auto round = [&](OpBuilder &at, const Names &names, ValueRange carried) {
      Travel travel = Travel::from(carried, own.size());
      return Values(visitPair(at, names, travel, true, true).all());
    };
    now = Travel::from(repeat(b, steps.pairs - 1, now.all(), outside, round),
                       own.size());
    now = visitPair(b, Names(), now, steps.hasLast, false);
  }
  if (steps.hasLast)
    now.results = visit(b, Names(), now.up, now.upAt, now.results);
  return now.results;
}

Ring::Values Ring::repeat(OpBuilder &b, int64_t rounds, ValueRange carried,
                          ValueRange outside, Round round) const {
  if (rounds <= 1)
    return rounds < 1 ? Values(carried) : round(b, Names(), carried);
  // Constants are in the loop.
  Values inits(carried), others, constants;
  for (Value value : outside)
    (matchPattern(value, m_Constant()) ? constants : others).push_back(value);
  llvm::append_range(inits, others);
  auto loop = ForOp::create(b, loc, TypeRange(ValueRange(inits)), rounds, inits,
                            /*saved=*/DenseI64ArrayAttr());
  Block &inner = loop.getBody().emplaceBlock();
  inner.addArgument(RankedTensorType::get({}, b.getI32Type()), loc);
  for (Value init : inits)
    inner.addArgument(init.getType(), loc);
  auto arguments = ValueRange(inner.getArguments()).drop_front();
  auto own = arguments.take_front(carried.size()),
       same = arguments.drop_front(carried.size());
  Names names;
  names.map(others, same);
  OpBuilder inside = OpBuilder::atBlockEnd(&inner);
  for (Value value : constants)
    inside.clone(*value.getDefiningOp(), names);
  Values yielded = round(inside, names, own);
  llvm::append_range(yielded, same);
  YieldOp::create(inside, loc, yielded);
  return Values(loop.getResults().take_front(carried.size()));
}
