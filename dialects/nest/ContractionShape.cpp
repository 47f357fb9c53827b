//===- ContractionShape.cpp - a contraction as strides --------------------===//

#include "weft/dialects/nest/ContractionShape.h"

using namespace mlir;

namespace weft::nest {

int64_t positionsOf(ArrayRef<DotDimension> dims) {
  int64_t n = 1;
  for (const DotDimension &dim : dims)
    n *= dim.size;
  return n;
}

/// Erases dimensions of size 1, and joins adjacent dimensions that step through
/// memory as one dimension.
static void joinDimensions(DotDimensions &dims) {
  llvm::erase_if(dims, [](const DotDimension &dim) { return dim.size == 1; });
  for (size_t i = 1; i < dims.size();) {
    DotDimension &outer = dims[i - 1], &inner = dims[i];
    if (outer.lhs == inner.lhs * inner.size &&
        outer.rhs == inner.rhs * inner.size &&
        outer.result == inner.result * inner.size) {
      inner.size *= outer.size;
      dims.erase(dims.begin() + i - 1);
    } else {
      ++i;
    }
  }
}

ContractionShape contractionShape(DotOp op, const Strides &lhs,
                                  const Strides &rhs) {
  Strides result = Strides::rowMajor(op.getResult());
  ContractionShape shape;
  shape.lhsType = op.getLhs().getType().getElementType();
  shape.rhsType = op.getRhs().getType().getElementType();
  shape.resultType = op.getResult().getType().getElementType();
  shape.lhsFirst = lhs.first;
  shape.rhsFirst = rhs.first;
  unsigned next = 0;
  for (auto [l, r] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch()))
    shape.batch.push_back(
        {lhs.sizes[l], lhs.strides[l], rhs.strides[r], result.strides[next++]});
  for (auto [l, r] : llvm::zip_equal(op.getLhsContract(), op.getRhsContract()))
    shape.contract.push_back({lhs.sizes[l], lhs.strides[l], rhs.strides[r], 0});
  auto isFree = [](int64_t dim, ArrayRef<int64_t> batch,
                   ArrayRef<int64_t> contract) {
    return !llvm::is_contained(batch, dim) &&
           !llvm::is_contained(contract, dim);
  };
  for (int64_t i = 0; i < int64_t(lhs.sizes.size()); ++i)
    if (isFree(i, op.getLhsBatch(), op.getLhsContract()))
      shape.rows.push_back(
          {lhs.sizes[i], lhs.strides[i], 0, result.strides[next++]});
  for (int64_t i = 0; i < int64_t(rhs.sizes.size()); ++i)
    if (isFree(i, op.getRhsBatch(), op.getRhsContract()))
      shape.columns.push_back(
          {rhs.sizes[i], 0, rhs.strides[i], result.strides[next++]});
  for (auto *dims :
       {&shape.batch, &shape.rows, &shape.columns, &shape.contract})
    joinDimensions(*dims);
  return shape;
}

std::optional<ContractionShape> contractionShape(DotOp op,
                                                 IsInMemory isInMemory) {
  std::optional<TensorView> lhs = viewOf(op.getLhs(), isInMemory),
                            rhs = viewOf(op.getRhs(), isInMemory);
  if (!lhs || !rhs)
    return std::nullopt;
  return contractionShape(op, lhs->strides, rhs->strides);
}

std::optional<TileLoops> tileLoops(const ContractionShape &shape) {
  if (shape.contract.size() > 1)
    return std::nullopt;
  TileLoops loops;
  ContractionShape given = shape;
  if (given.columns.empty()) {
    loops.isTurned = true;
    std::swap(given.rows, given.columns);
    for (auto *dims :
         {&given.batch, &given.rows, &given.columns, &given.contract})
      for (DotDimension &dim : *dims)
        std::swap(dim.lhs, dim.rhs);
  }
  auto take = [](DotDimensions &dims, DotDimension &into) {
    if (!dims.empty())
      into = dims.pop_back_val();
  };
  take(given.rows, loops.row);
  take(given.columns, loops.column);
  take(given.contract, loops.inner);
  for (auto *dims : {&given.batch, &given.rows, &given.columns})
    llvm::append_range(loops.around, *dims);
  const DotDimension &column = loops.column, &inner = loops.inner;
  loops.alongColumns =
      (column.rhs == 1 && column.result == 1) || column.size == 1;
  loops.alongDepth = inner.lhs == 1 && inner.rhs == 1;
  return loops;
}

DotPath::DotPath(ArrayRef<DotDimension> dims, int64_t DotDimension::*stride) {
  for (const DotDimension &dim : dims) {
    if (dim.size == 1)
      continue;
    if (!steps.empty() && steps.back().stride == dim.*stride * dim.size)
      steps.back() = {steps.back().size * dim.size, dim.*stride};
    else
      steps.push_back({dim.size, dim.*stride});
  }
}

int64_t DotPath::size() const {
  int64_t n = 1;
  for (const Step &step : steps)
    n *= step.size;
  return n;
}

bool hasVectorLoads(Type element) {
  return isa<FloatType>(element) ||
         (element.isInteger() && element.getIntOrFloatBitWidth() >= 8);
}

bool hasVectorArithmetic(Type element) {
  return element.isF32() || element.isF64() || element.isInteger(32);
}

} // namespace weft::nest
