//===- Reductions.cpp - the meaning of reduce and dot ---------------------===//
//
// Float sums are computed in double and rounded once: the reference is closer
// to the exact sum than any order of float additions.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/Weft.h"
#include "weft/passes/interpret/Meanings.h"

using namespace mlir;

namespace weft {

namespace {

/// Offsets of all elements along `dims`, the last dimension fastest.
std::vector<int64_t> along(const Tensor &x, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sizes, strides;
  SmallVector<int64_t, 4> all = stridesOf(x.getShape());
  for (int64_t dim : dims) {
    sizes.push_back(x.getShape()[dim]);
    strides.push_back(all[dim]);
  }
  return offsets(sizes, strides);
}

SmallVector<int64_t> without(const Tensor &x, ArrayRef<int64_t> a,
                             ArrayRef<int64_t> b = {}) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < static_cast<int64_t>(x.getShape().size()); ++dim)
    if (!llvm::is_contained(a, dim) && !llvm::is_contained(b, dim))
      dims.push_back(dim);
  return dims;
}

Tensor reduce(ReduceOp op, const Tensor &x) {
  Tensor result = neutralTensor(
      op.getKind(), cast<RankedTensorType>(op.getResult().getType()));
  std::vector<int64_t> kept = along(x, without(x, op.getDims()));
  std::vector<int64_t> reduced = along(x, op.getDims());
  bool sum =
      isDifferentiable(x.getElementType()) && op.getKind() == ReduceKind::Sum;
  for (int64_t i = 0; i < result.size(); ++i) {
    std::complex<double> total = 0;
    for (int64_t offset : reduced)
      if (sum)
        total += x.number(kept[i] + offset);
      else
        combineInto(op.getKind(), result, i, x, kept[i] + offset);
    if (sum)
      result.setNumber(i, total);
  }
  return result;
}

Tensor dot(DotOp op, const Tensor &x, const Tensor &y) {
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  std::vector<int64_t> xBatch = along(x, op.getLhsBatch()),
                       yBatch = along(y, op.getRhsBatch()),
                       xContract = along(x, op.getLhsContract()),
                       yContract = along(y, op.getRhsContract()),
                       rows = along(x, without(x, op.getLhsBatch(),
                                               op.getLhsContract())),
                       columns = along(y, without(y, op.getRhsBatch(),
                                                  op.getRhsContract()));
  int64_t i = 0;
  for (size_t b = 0; b < xBatch.size(); ++b)
    for (int64_t row : rows)
      for (int64_t column : columns) {
        std::complex<double> total = 0;
        uint64_t integers = 0;
        for (size_t k = 0; k < xContract.size(); ++k) {
          int64_t p = xBatch[b] + row + xContract[k];
          int64_t q = yBatch[b] + column + yContract[k];
          if (x.isComplex())
            total += product(x.number(p), y.number(q));
          else if (x.isFloat())
            total += x.real(p) * y.real(q);
          else
            integers += static_cast<uint64_t>(x.integer(p)) *
                        static_cast<uint64_t>(y.integer(q));
        }
        if (isDifferentiable(x.getElementType()))
          result.setNumber(i++, total);
        else
          result.setInteger(i++, static_cast<int64_t>(integers));
      }
  return result;
}

} // namespace

std::optional<Tensor> meaningOfReduction(Operation *op, Operands in) {
  if (auto reduceOp = dyn_cast<ReduceOp>(op))
    return reduce(reduceOp, *in[0]);
  if (auto dotOp = dyn_cast<DotOp>(op))
    return dot(dotOp, *in[0], *in[1]);
  return std::nullopt;
}

} // namespace weft
