//===- Shifts.cpp - ops that move elements along a dimension --------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/layout/Sizes.h"

using namespace mlir;
using namespace weft;

/// The rule in which dimensions of equal size and position have the kind Pass;
/// the factors of other dimensions have the larger size.
static ShardingRule shiftRule(RankedTensorType input, RankedTensorType result,
                              llvm::function_ref<bool(unsigned)> passes) {
  ShardingRule rule;
  TensorFactors &factors = rule.operands.emplace_back();
  for (unsigned dim = 0; dim < result.getRank(); ++dim) {
    factors.push_back({dim});
    rule.factors.push_back(
        {std::max(input.getDimSize(dim), result.getDimSize(dim)),
         passes(dim) ? FactorKind::Pass : FactorKind::Shift});
  }
  rule.results.push_back(factors);
  rule.linearity = {Linearity::Moving};
  return rule;
}

static SmallVector<int64_t> sliceShape(ArrayRef<int64_t> start,
                                       ArrayRef<int64_t> limit,
                                       ArrayRef<int64_t> stride) {
  SmallVector<int64_t> shape;
  for (auto [s, l, by] : llvm::zip(start, limit, stride))
    shape.push_back((l - s + by - 1) / by);
  return shape;
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value input,
                    ArrayRef<int64_t> start, ArrayRef<int64_t> limit,
                    ArrayRef<int64_t> stride) {
  build(builder, state, withShape(input, sliceShape(start, limit, stride)),
        input, start, limit, stride);
}

LogicalResult SliceOp::verify() {
  RankedTensorType input = typeOf(getInput());
  size_t rank = input.getRank();
  if (failed(checkEntries(*this, "start", getStart().size(), rank)) ||
      failed(checkEntries(*this, "limit", getLimit().size(), rank)) ||
      failed(checkEntries(*this, "stride", getStride().size(), rank))) // (C1)
    return failure();
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t start = getStart()[dim], limit = getLimit()[dim];
    if (start < 0 || limit < start || limit > input.getDimSize(dim)) // (C2)
      return emitOpError("takes [")
             << start << ", " << limit << ") of dim " << dim << " of size "
             << input.getDimSize(dim);
    if (getStride()[dim] < 1) // (C2)
      return emitOpError("stride of dim ")
             << dim << " is " << getStride()[dim] << ", the least is 1";
  }
  return checkShape(*this,
                    sliceShape(getStart(), getLimit(), getStride())); // (C3)
}

ShardingRule SliceOp::getShardingRule() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  ShardingRule rule = shiftRule(input, result, [&](unsigned dim) {
    return input.getDimSize(dim) == result.getDimSize(dim);
  });
  for (unsigned dim = 0; dim < result.getRank(); ++dim)
    if (rule.factors[dim].kind == FactorKind::Shift)
      rule.positions.push_back(
          {0, 0, dim, getStride()[dim], getStart()[dim], 1, 1});
  return rule;
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> padShape(ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> low,
                                     ArrayRef<int64_t> high,
                                     ArrayRef<int64_t> interior) {
  SmallVector<int64_t> result;
  for (auto [size, l, h, between] : llvm::zip(shape, low, high, interior))
    result.push_back(std::max<int64_t>(
        saturatingAdd(
            saturatingAdd(l, size),
            saturatingAdd(
                saturatingMultiply(std::max<int64_t>(size - 1, 0), between),
                h)),
        0));
  return result;
}

void PadOp::build(OpBuilder &builder, OperationState &state, Value input,
                  ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                  ArrayRef<int64_t> interior, Value value) {
  build(
      builder, state,
      withShape(input, padShape(typeOf(input).getShape(), low, high, interior)),
      input, value, low, high, interior);
}

LogicalResult PadOp::verify() {
  RankedTensorType input = typeOf(getInput());
  for (auto [what, list] :
       {std::pair("low", getLow()), std::pair("high", getHigh()),
        std::pair("interior", getInterior())})
    if (failed(checkEntries(*this, what, list.size(), input.getRank()))) // (C1)
      return failure();
  for (auto [dim, amount] : llvm::enumerate(getInterior()))
    if (amount < 0) // (C2)
      return emitOpError("interior of dim ")
             << dim << " is " << amount << ", the least is 0";
  for (ArrayRef<int64_t> list : {getLow(), getHigh(), getInterior()})
    for (int64_t amount : list)
      if (amount > kMostBytes || amount < -kMostBytes)
        return emitOpError("pads by ")
               << amount << " elements, a tensor has at most " << kMostBytes;
  if (getValue() &&
      (typeOf(getValue()).getRank() != 0 ||
       typeOf(getValue()).getElementType() != input.getElementType())) // (C4)
    return emitOpError("the value is ")
           << getValue().getType() << ", not one element of "
           << input.getElementType();
  return checkShape(*this, padShape(input.getShape(), getLow(), getHigh(),
                                    getInterior())); // (C3)
}

ShardingRule PadOp::getShardingRule() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  auto isSame = [&](unsigned dim) {
    return getLow()[dim] == 0 && getHigh()[dim] == 0 &&
           (getInterior()[dim] == 0 || input.getDimSize(dim) < 2);
  };
  ShardingRule rule = shiftRule(input, result, isSame);
  for (unsigned dim = 0; dim < result.getRank(); ++dim)
    if (!isSame(dim)) {
      PositionMap map{0, 0, dim};
      map.offset = -getLow()[dim];
      map.divisor = getInterior()[dim] + 1;
      rule.positions.push_back(map);
    }
  if (getValue()) {
    for (PositionMap &map : rule.positions)
      map.fillOperand = 1;
    // A pad with a padding value is linear in input and value together only.
    rule.operands.push_back({});
    rule.linearity.assign(2, Linearity::JointlyLinear);
  }
  return rule;
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType() &&
      llvm::all_of(getLow(), [](int64_t amount) { return amount == 0; }) &&
      llvm::all_of(getInterior(), [](int64_t amount) { return amount == 0; }))
    return getInput();
  return {};
}

//===----------------------------------------------------------------------===//
// Concatenate
//===----------------------------------------------------------------------===//

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty()) // (C1)
    return emitOpError("needs at least one input");
  RankedTensorType result = typeOf(getResult());
  int64_t dim = getDim(), sum = 0;
  if (dim < 0 || dim >= result.getRank())
    return emitOpError("dim ")
           << dim << " is out of the rank " << result.getRank();
  for (auto [index, value] : llvm::enumerate(getInputs())) {
    RankedTensorType input = typeOf(value);
    SmallVector<int64_t> expected(result.getShape());
    if (input.getRank() == result.getRank())
      expected[dim] = input.getDimSize(dim);
    if (input.getShape() != ArrayRef(expected) ||
        input.getElementType() != result.getElementType()) // (C2)
      return emitOpError("input ")
             << index << " is " << input << ", which does not fit in " << result
             << " along dim " << dim;
    sum += input.getDimSize(dim);
  }
  if (sum != result.getDimSize(dim)) // (C3)
    return emitOpError("inputs have ")
           << sum << " elements along dim " << dim << ", but the result "
           << result.getDimSize(dim);
  return success();
}

ShardingRule ConcatenateOp::getShardingRule() {
  RankedTensorType result = typeOf(getResult());
  unsigned dim = getDim();
  bool single = getInputs().size() == 1;
  ShardingRule rule = shiftRule(
      result, result, [&](unsigned other) { return single || other != dim; });
  TensorFactors factors = rule.results[0];
  rule.operands.assign(getInputs().size(), factors);
  rule.linearity.assign(getInputs().size(), Linearity::JointlyLinear);
  int64_t offset = 0;
  for (auto [index, value] : llvm::enumerate(getInputs())) {
    if (!single) {
      PositionMap map{static_cast<unsigned>(index), 0, dim, 1, -offset};
      map.fill = std::nullopt; // Selected by position, see buildLocal.
      rule.positions.push_back(map);
    }
    offset += typeOf(value).getDimSize(dim);
  }
  return rule;
}

//===----------------------------------------------------------------------===//
// Reverse, roll
//===----------------------------------------------------------------------===//

LogicalResult ReverseOp::verify() {
  return checkRisingDims(*this, getDims(),
                         typeOf(getInput()).getRank()); // (C1)
}

ShardingRule ReverseOp::getShardingRule() {
  RankedTensorType type = typeOf(getInput());
  auto isReversed = [&](unsigned dim) {
    return llvm::is_contained(getDims(), static_cast<int64_t>(dim)) &&
           type.getDimSize(dim) > 1;
  };
  ShardingRule rule =
      shiftRule(type, type, [&](unsigned dim) { return !isReversed(dim); });
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (isReversed(dim))
      rule.positions.push_back({0, 0, dim, -1, type.getDimSize(dim) - 1});
  return rule;
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  if (getDims().empty() && getInput().getType() == getType())
    return getInput();
  return {};
}

LogicalResult RollOp::verify() {
  return checkEntries(*this, "shift", getShift().size(),
                      typeOf(getInput()).getRank()); // (C1)
}

/// Whether the roll moves elements along this dimension.
static bool isMoved(RollOp op, unsigned dim) {
  int64_t size = typeOf(op.getInput()).getDimSize(dim);
  return size > 1 && op.getShift()[dim] % size != 0;
}

ShardingRule RollOp::getShardingRule() {
  RankedTensorType type = typeOf(getInput());
  ShardingRule rule =
      shiftRule(type, type, [&](unsigned dim) { return !isMoved(*this, dim); });
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (isMoved(*this, dim)) {
      PositionMap map{0, 0, dim};
      map.offset = -getShift()[dim];
      map.modulus = type.getDimSize(dim);
      rule.positions.push_back(map);
    }
  return rule;
}

OpFoldResult RollOp::fold(FoldAdaptor) {
  bool still = llvm::all_of(
      llvm::zip(getShift(), typeOf(getInput()).getShape()), [](auto pair) {
        auto [shift, size] = pair;
        return size == 0 || shift % size == 0;
      });
  if (still && getInput().getType() == getType())
    return getInput();
  return {};
}

//===----------------------------------------------------------------------===//
// Dynamic slices
//===----------------------------------------------------------------------===//

/// Checks the starts of a block, and its shape against the input's.
static LogicalResult checkBlock(Operation *op, ValueRange starts,
                                RankedTensorType input,
                                RankedTensorType block) {
  if (failed(
          checkEntries(op, "starts", starts.size(), input.getRank()))) // (C1)
    return failure();
  for (Value start : starts) {
    RankedTensorType type = typeOf(start);
    if (type.getRank() != 0 || !isa<IntegerType>(type.getElementType())) // (C1)
      return op->emitOpError("a start is one integer, not ") << type;
  }
  bool fits = block.getRank() == input.getRank() &&
              llvm::all_of(llvm::zip(block.getShape(), input.getShape()),
                           [](auto pair) {
                             return std::get<0>(pair) <= std::get<1>(pair);
                           });
  if (!fits) // (C2)
    return op->emitOpError("the block ")
           << block << " does not fit in " << input;
  return success();
}

void DynamicSliceOp::build(OpBuilder &builder, OperationState &state,
                           Value input, ValueRange starts,
                           ArrayRef<int64_t> sizes) {
  build(builder, state, withShape(input, sizes), input, starts);
}

LogicalResult DynamicSliceOp::verify() {
  return checkBlock(*this, getStarts(), typeOf(getInput()),
                    typeOf(getResult()));
}

/// Makes a factor a look-up: the block's position is known only at run time,
/// and each device looks up the part that it has.
static void lookUp(Factor &factor, RankedTensorType input) {
  factor.kind = FactorKind::Lookup;
  if (input.getElementType().isInteger(1))
    factor.reduce = ReduceKind::Or;
}

ShardingRule DynamicSliceOp::getShardingRule() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  ShardingRule rule = shiftRule(input, result, [&](unsigned dim) {
    return input.getDimSize(dim) == result.getDimSize(dim);
  });
  rule.operands.resize(getNumOperands());
  rule.linearity.resize(getNumOperands(), Linearity::None);
  for (unsigned dim = 0; dim < result.getRank(); ++dim)
    if (rule.factors[dim].kind == FactorKind::Shift) {
      lookUp(rule.factors[dim], input);
      rule.results[0][dim].clear();
    }
  return rule;
}

LogicalResult DynamicUpdateSliceOp::verify() {
  return checkBlock(*this, getStarts(), typeOf(getInput()),
                    typeOf(getUpdate()));
}

ShardingRule DynamicUpdateSliceOp::getShardingRule() {
  RankedTensorType input = typeOf(getInput()), update = typeOf(getUpdate());
  ShardingRule rule = shiftRule(input, input, [&](unsigned dim) {
    return input.getDimSize(dim) == update.getDimSize(dim);
  });
  TensorFactors factors = rule.results[0];
  rule.operands = {factors, factors};
  rule.operands.resize(getNumOperands());
  rule.linearity = {Linearity::JointlyLinear, Linearity::JointlyLinear};
  rule.linearity.resize(getNumOperands(), Linearity::None);
  for (unsigned dim = 0; dim < input.getRank(); ++dim)
    if (rule.factors[dim].kind == FactorKind::Shift) {
      lookUp(rule.factors[dim], input);
      rule.operands[1][dim].clear();
    }
  return rule;
}
