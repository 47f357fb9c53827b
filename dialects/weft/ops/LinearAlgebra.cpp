//===- LinearAlgebra.cpp - factorisation and solving ----------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/TypeLists.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

using namespace mlir;
using namespace weft;

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/LinearAlgebraOps.cpp.inc"

static LogicalResult checkSquare(Operation *op, RankedTensorType type) {
  int64_t rank = type.getRank();
  if (rank >= 2 && type.getDimSize(rank - 2) == type.getDimSize(rank - 1))
    return success();
  return op->emitOpError("takes square matrices, not ") << type;
}

static LogicalResult checkFloats(Operation *op, RankedTensorType type) {
  if (isDifferentiable(type.getElementType()))
    return success();
  return op->emitOpError("computes with floats, not with ")
         << type.getElementType();
}

/// The rule with a factor for each batch dimension, which all tensors have.
static ShardingRule batchRule(RankedTensorType type, unsigned operands) {
  ShardingRule rule;
  TensorFactors factors(type.getRank());
  for (int64_t dim = 0; dim < type.getRank() - 2; ++dim) {
    factors[dim] = {static_cast<unsigned>(dim)};
    rule.factors.push_back({type.getDimSize(dim), FactorKind::Pass});
  }
  rule.operands.assign(operands, factors);
  rule.results = {factors};
  return rule;
}

LogicalResult CholeskyOp::verify() {
  if (failed(checkSquare(*this, typeOf(getInput())))) // (C1)
    return failure();
  return checkFloats(*this, typeOf(getInput())); // (C2)
}

/// Adds a matrix dimension as a factor that is not sharded.
static void addReplicated(ShardingRule &rule, TensorFactors &tensor,
                          unsigned dim, int64_t size) {
  tensor[dim] = {static_cast<unsigned>(rule.factors.size())};
  rule.factors.push_back({size, FactorKind::Replicated});
}

ShardingRule CholeskyOp::getShardingRule() {
  RankedTensorType type = typeOf(getInput());
  ShardingRule rule = batchRule(type, 1);
  for (unsigned dim = type.getRank() - 2; dim < type.getRank(); ++dim) {
    addReplicated(rule, rule.operands[0], dim, type.getDimSize(dim));
    rule.results[0][dim] = rule.operands[0][dim];
  }
  return rule;
}

LogicalResult TriangularSolveOp::verify() {
  RankedTensorType matrix = typeOf(getMatrix()), rhs = typeOf(getRhs());
  int64_t rank = rhs.getRank();
  if (failed(checkSquare(*this, matrix))) // (C1)
    return failure();
  bool fits =
      rank == matrix.getRank() && rhs.getDimSize(rank - (getRight() ? 1 : 2)) ==
                                      matrix.getDimSize(rank - 1);
  if (!fits) // (C1)
    return emitOpError("matrices ")
           << matrix << " do not fit " << (getRight() ? "columns" : "rows")
           << " of " << rhs;
  if (matrix.getShape().drop_back(2) != rhs.getShape().drop_back(2)) // (C2)
    return emitOpError("batch dimensions differ: ") << matrix << " and " << rhs;
  return checkFloats(*this, matrix); // (C3)
}

// Each right-hand side is solved independently.
ShardingRule TriangularSolveOp::getShardingRule() {
  RankedTensorType rhs = typeOf(getRhs());
  unsigned rows = rhs.getRank() - 2, columns = rhs.getRank() - 1;
  if (getRight())
    std::swap(rows, columns);
  ShardingRule rule = batchRule(rhs, 2);
  addReplicated(rule, rule.operands[1], rows, rhs.getDimSize(rows));
  rule.results[0][rows] = rule.operands[1][rows];
  unsigned free = rule.factors.size();
  rule.factors.push_back({rhs.getDimSize(columns), FactorKind::Pass});
  rule.operands[1][columns] = rule.results[0][columns] = {free};
  rule.linearity = {Linearity::None, Linearity::Linear};
  return rule;
}
