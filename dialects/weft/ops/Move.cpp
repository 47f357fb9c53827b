//===- Move.cpp - chains of moving ops as one op --------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"

using namespace mlir;
using namespace weft;

std::optional<MovedBoxes> MoveOp::getMovedBoxes() {
  return getBoxes().getBoxes();
}

LogicalResult MoveOp::verify() {
  RankedTensorType result = typeOf(getResult());
  MovedBoxes boxes = getBoxes().getBoxes();
  if (getInputs().empty() || boxes.empty()) // (C1)
    return emitOpError("has ")
           << getInputs().size() << " operands and " << boxes.size()
           << " boxes; it needs at least one of each";
  std::vector<std::vector<int64_t>> shapes;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    RankedTensorType type = typeOf(input);
    if (type.getElementType() != result.getElementType()) // (C2)
      return emitOpError("operand ")
             << index << " has elements " << type.getElementType()
             << ", the result " << result.getElementType();
    shapes.push_back(type.getShape().vec());
  }
  if (std::string reason = invalidReason(boxes, shapes, result.getShape());
      !reason.empty()) // (C3)
    return emitOpError(reason);
  return success();
}

LogicalResult MoveOp::verifyRegions() {
  auto bare = [](Value value) -> Type {
    return withLayout(typeOf(value), nullptr);
  };
  SmallVector<Type> inputs = llvm::map_to_vector(getInputs(), bare);
  Block &block = getBody().front();
  if (block.getArgumentTypes() != TypeRange(inputs)) // (C4)
    return emitOpError("the region takes ")
           << block.getArgumentTypes() << ", but should take " << inputs;
  Operation *end = block.empty() ? nullptr : &block.back();
  Type result = bare(getResult());
  if (!isa_and_nonnull<YieldOp>(end) ||
      end->getOperandTypes() != TypeRange(result)) // (C4)
    return emitOpError("the region should end with 'weft.yield' of ") << result;
  for (Operation &op : block.without_terminator())
    if (!isa<MovedBoxesOpInterface>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>()) // (C4)
      return op.emitOpError("is in a move, which holds moving ops and "
                            "constants only");
  return success();
}

/// Whether a dimension of an operand is that of the result in each of the boxes.
static bool passes(const MovedBoxes &boxes, int64_t operand, int64_t dim,
                   int64_t size, int64_t to) {
  return llvm::all_of(boxes, [&](const MovedBox &box) {
    return box.operand != operand ||
           (box.dim[dim] == to && box.offset[dim] == 0 &&
            (box.stride[dim] == 1 || size == 1) && box.start[to] == 0 &&
            box.count[to] == size && box.step[to] == 1);
  });
}

/// The result's dimension that one of an operand follows in all boxes, or -1.
static int64_t followed(const MovedBoxes &boxes, int64_t operand, int64_t dim) {
  int64_t found = -1;
  for (const MovedBox &box : boxes) {
    if (box.operand != operand || box.dim[dim] < 0)
      continue;
    if (found >= 0 && box.dim[dim] != found)
      return -1;
    found = box.dim[dim];
  }
  return found;
}

/// Each dimension of each tensor has a factor of its own.
static ShardingRule ruleBetweenLayouts(MoveOp op) {
  ShardingRule rule;
  auto factorsOf = [&](Value tensor, Factor factor) {
    TensorFactors factors;
    for (int64_t size : typeOf(tensor).getShape()) {
      factor.size = size;
      factors.push_back({unsigned(rule.factors.size())});
      rule.factors.push_back(factor);
    }
    return factors;
  };
  // The boxes have no padding of operands.
  Factor taken{1, FactorKind::Select, ReduceKind::Sum, /*ownsPadding=*/true};
  rule.results.push_back(factorsOf(op.getResult(), Factor()));
  for (Value input : op.getInputs())
    rule.operands.push_back(factorsOf(input, taken));
  return rule;
}

/// A dimension of the result has one factor with those of the operands that
/// follow it. It passes if all do as a whole; otherwise the op moves the boxes
/// itself (see `operandUnit`).
ShardingRule MoveOp::getShardingRule() {
  if (getResharding())
    return ruleBetweenLayouts(*this);
  MovedBoxes boxes = getBoxes().getBoxes();
  ArrayRef<int64_t> to = typeOf(getResult()).getShape();
  ShardingRule rule;
  TensorFactors &result = rule.results.emplace_back();
  for (auto [dim, size] : llvm::enumerate(to)) {
    rule.factors.push_back({size, FactorKind::Pass});
    result.push_back({unsigned(dim)});
  }
  bool isFull = coverAll(boxes, to);
  for (auto [operand, input] : llvm::enumerate(getInputs())) {
    ArrayRef<int64_t> from = typeOf(input).getShape();
    TensorFactors &factors = rule.operands.emplace_back();
    rule.linearity.push_back(getInputs().size() == 1 && isFull
                                 ? Linearity::Moving
                                 : Linearity::JointlyLinear);
    for (auto [dim, size] : llvm::enumerate(from)) {
      factors.emplace_back();
      // One position is a row that each device may have.
      int64_t r = size == 1 ? -1 : followed(boxes, operand, dim);
      if (r < 0)
        continue;
      factors.back().push_back(unsigned(r));
      Factor &factor = rule.factors[r];
      factor.size = std::max(factor.size, size);
      if (size == to[r] && passes(boxes, operand, dim, size, r))
        continue;
      factor.kind = FactorKind::Shift;
    }
  }
  for (auto [operand, factors] : llvm::enumerate(rule.operands))
    for (const DimFactors &dim : factors)
      if (!dim.empty() && rule.factors[dim[0]].kind == FactorKind::Shift) {
        PositionMap map{unsigned(operand), 0, dim[0]};
        map.operandUnit = map.resultUnit = 1;
        rule.positions.push_back(map);
      }
  return rule;
}
