//===- Reductions.cpp - reduce and dot ------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

void ReduceOp::build(OpBuilder &builder, OperationState &state, ReduceKind kind,
                     Value input, ArrayRef<int64_t> dims, Type elementType) {
  RankedTensorType type = typeOf(input);
  build(
      builder, state,
      RankedTensorType::get(withoutDims(type.getShape(), dims),
                            elementType ? elementType : type.getElementType()),
      kind, input, dims);
}

bool ReduceOp::accumulates() { return weft::accumulates(getKind()); }

LogicalResult ReduceOp::verify() {
  RankedTensorType type = typeOf(getInput());
  if (failed(checkRisingDims(*this, getDims(), type.getRank()))) // (C1)
    return failure();
  if (failed(checkCombines(*this, stringifyReduceKind(getKind()),
                           type.getElementType())) ||
      failed(checkAccumulates(*this))) // (C3), (C4)
    return failure();
  return checkShape(*this, withoutDims(type.getShape(), getDims())); // (C2)
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors &input = rule.operands.emplace_back();
  TensorFactors &result = rule.results.emplace_back();
  for (auto [dim, size] : llvm::enumerate(typeOf(getInput()).getShape())) {
    unsigned factor = dim;
    input.push_back({factor});
    bool reduced = llvm::is_contained(getDims(), static_cast<int64_t>(dim));
    if (!reduced)
      result.push_back({factor});
    rule.factors.push_back({size,
                            reduced ? FactorKind::Reduce : FactorKind::Pass,
                            reduced ? getKind() : ReduceKind::Sum});
  }
  rule.linearity = {getKind() == ReduceKind::Sum
                        ? linearityOfSum(getInput(), getResult())
                        : Linearity::None};
  return rule;
}

//===----------------------------------------------------------------------===//
// Dot
//===----------------------------------------------------------------------===//

/// Dimensions that are neither batch nor contracted, in order.
static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contract) {
  SmallVector<int64_t> result;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      result.push_back(dim);
  return result;
}

static SmallVector<int64_t> dotShape(RankedTensorType lhs, RankedTensorType rhs,
                                     ArrayRef<int64_t> lhsBatch,
                                     ArrayRef<int64_t> rhsBatch,
                                     ArrayRef<int64_t> lhsContract,
                                     ArrayRef<int64_t> rhsContract) {
  SmallVector<int64_t> shape;
  for (int64_t dim : lhsBatch)
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : freeDims(lhs.getRank(), lhsBatch, lhsContract))
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : freeDims(rhs.getRank(), rhsBatch, rhsContract))
    shape.push_back(rhs.getDimSize(dim));
  return shape;
}

void DotOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                  Value rhs, ArrayRef<int64_t> lhsContract,
                  ArrayRef<int64_t> rhsContract, ArrayRef<int64_t> lhsBatch,
                  ArrayRef<int64_t> rhsBatch, Type elementType,
                  Precision precision) {
  RankedTensorType type = typeOf(lhs);
  auto result = RankedTensorType::get(
      dotShape(type, typeOf(rhs), lhsBatch, rhsBatch, lhsContract, rhsContract),
      elementType ? elementType : type.getElementType());
  build(builder, state, result, lhs, rhs, lhsBatch, rhsBatch, lhsContract,
        rhsContract, precision);
}

/// Checks (C2) for one side.
static LogicalResult checkSide(DotOp op, StringRef side, int64_t rank,
                               ArrayRef<int64_t> batch,
                               ArrayRef<int64_t> contract) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : llvm::concat<const int64_t>(batch, contract)) {
    if (dim < 0 || dim >= rank)
      return op.emitOpError("dim ")
             << dim << " of " << side << " is out of the rank " << rank;
    if (seen.test(dim))
      return op.emitOpError("dim ")
             << dim << " of " << side << " is used twice";
    seen.set(dim);
  }
  return success();
}

/// Checks (C1) for batch or contracted dimensions.
static LogicalResult checkPairs(DotOp op, StringRef what, ArrayRef<int64_t> lhs,
                                ArrayRef<int64_t> rhs) {
  if (lhs.size() != rhs.size()) // (C1)
    return op.emitOpError("lhs has ")
           << lhs.size() << ' ' << what << " dims, but rhs " << rhs.size();
  return success();
}
static LogicalResult checkSizes(DotOp op, ArrayRef<int64_t> lhs,
                                ArrayRef<int64_t> rhs) {
  for (auto [l, r] : llvm::zip(lhs, rhs)) {
    int64_t lhsSize = typeOf(op.getLhs()).getDimSize(l);
    int64_t rhsSize = typeOf(op.getRhs()).getDimSize(r);
    if (lhsSize != rhsSize) // (C3)
      return op.emitOpError("dim ")
             << l << " of lhs has size " << lhsSize << ", but dim " << r
             << " of rhs " << rhsSize;
  }
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  if (failed(checkPairs(*this, "batch", getLhsBatch(), getRhsBatch())) ||
      failed(checkPairs(*this, "contracted", getLhsContract(),
                        getRhsContract())) ||
      failed(checkSide(*this, "lhs", lhs.getRank(), getLhsBatch(),
                       getLhsContract())) ||
      failed(checkSide(*this, "rhs", rhs.getRank(), getRhsBatch(),
                       getRhsContract())) ||
      failed(checkSizes(*this, getLhsBatch(), getRhsBatch())) ||
      failed(checkSizes(*this, getLhsContract(), getRhsContract())) ||
      failed(checkAccumulates(*this))) // (C5)
    return failure();
  return checkShape(*this, dotShape(lhs, rhs, getLhsBatch(), getRhsBatch(),
                                    getLhsContract(),
                                    getRhsContract())); // (C4)
}

ShardingRule DotOp::getShardingRule() {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  ShardingRule rule;
  rule.operands = {TensorFactors(lhs.getRank()), TensorFactors(rhs.getRank())};
  TensorFactors &result = rule.results.emplace_back();
  auto addFactor = [&](int64_t size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return static_cast<unsigned>(rule.factors.size() - 1);
  };
  for (auto [l, r] : llvm::zip(getLhsBatch(), getRhsBatch())) {
    unsigned factor = addFactor(lhs.getDimSize(l), FactorKind::Pass);
    rule.operands[0][l] = rule.operands[1][r] = {factor};
    result.push_back({factor});
  }
  for (int64_t dim : freeDims(lhs.getRank(), getLhsBatch(), getLhsContract())) {
    rule.operands[0][dim] = {addFactor(lhs.getDimSize(dim), FactorKind::Pass)};
    result.push_back(rule.operands[0][dim]);
  }
  for (auto [l, r] : llvm::zip(getLhsContract(), getRhsContract()))
    rule.operands[0][l] = rule.operands[1][r] = {
        addFactor(lhs.getDimSize(l), FactorKind::Reduce)};
  for (int64_t dim : freeDims(rhs.getRank(), getRhsBatch(), getRhsContract())) {
    rule.operands[1][dim] = {addFactor(rhs.getDimSize(dim), FactorKind::Pass)};
    result.push_back(rule.operands[1][dim]);
  }
  for (Value operand : getOperands())
    rule.linearity.push_back(linearityOfSum(operand, getResult()));
  return rule;
}
