//===- LocalWindows.cpp - one device's part of convolution and pooling ----===//
//
// Local forms of windows. Along a fetched dimension a block starts with the
// first local window and contains padding and base dilation as elements.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/dialects/weft/ops/WindowOps.h"

using namespace mlir;
using namespace weft;

namespace {
/// Padding and base dilation, which fetched dimensions no longer have.
struct Borders {
  SmallVector<int64_t> low, high, base;

  void remove(unsigned i) {
    low[i] = high[i] = 0;
    base[i] = 1;
  }
  template <typename Op> void setOn(Op op) {
    op.setLow(low);
    op.setHigh(high);
    op.setBaseDilation(base);
  }
};
} // namespace

SmallVector<Value> ReduceWindowOp::buildLocal(OpBuilder &builder,
                                              ValueRange operands,
                                              TypeRange resultTypes,
                                              const LocalPlacement &placement) {
  Borders borders{SmallVector<int64_t>(getLow()),
                  SmallVector<int64_t>(getHigh()),
                  SmallVector<int64_t>(getBaseDilation())};
  for (unsigned dim = 0; dim < borders.low.size(); ++dim)
    if (placement.isFetched(0, dim))
      borders.remove(dim);
  auto results = cloneWithTypes(builder, *this, operands, resultTypes);
  borders.setOn(results[0].getDefiningOp<ReduceWindowOp>());
  return results;
}

/// The value without its first `front` elements. On the first device they are
/// padding, which a window without a better element selects: their sum is added
/// to the first element after them.
static Value withFront(LocalBuilder &b, Value value, int64_t dim, int64_t front,
                       Value coordinate) {
  SmallVector<int64_t> shape(typeOf(value).getShape()), start(shape.size(), 0),
      one(shape.size(), 1), limit(shape);
  limit[dim] = front;
  Value before =
      weft::SliceOp::create(b.builder, b.loc, value, start, limit, one);
  Value sum = ReduceOp::create(b.builder, b.loc, ReduceKind::Sum, before,
                               ArrayRef<int64_t>{dim});
  limit[dim] = 1;
  sum = ReshapeOp::create(b.builder, b.loc, sum, limit);
  Value isFirst = b.compare(CompareKind::EQ, b.along(coordinate, limit),
                            b.integer(0, limit));
  Value none = ConstantOp::create(b.builder, b.loc,
                                  neutralData(ReduceKind::Sum, typeOf(sum)));
  sum = SelectOp::create(b.builder, b.loc, isFirst, sum, none);
  start[dim] = front;
  Value rest =
      weft::SliceOp::create(b.builder, b.loc, value, start, shape, one);
  return AddOp::create(b.builder, b.loc, rest,
                       b.padTo(sum, typeOf(rest).getShape()));
}

/// The local select-and-scatter. Along a fetched dimension the source has an
/// element for every position at which a window could start, 0 if none does,
/// and the input has all elements of these windows; the first `size` - 1
/// results belong to other devices.
SmallVector<Value>
SelectAndScatterOp::buildLocal(OpBuilder &builder, ValueRange operands,
                               TypeRange resultTypes,
                               const LocalPlacement &placement) {
  auto to = cast<RankedTensorType>(resultTypes[0]);
  SmallVector<int64_t> low(getLow()), high(getHigh()), strides(getStrides());
  SmallVector<int64_t> from(to.getRank(), 0), one(to.getRank(), 1);
  SmallVector<Value> values(operands);
  for (auto [dim, window] : llvm::enumerate(getWindows())) {
    if (!placement.isFetched(0, dim))
      continue;
    low[dim] = high[dim] = 0;
    strides[dim] = 1;
    from[dim] = window.size - 1;
    // The first window start, if windows start at the same positions in all
    // blocks.
    int64_t begin = (window.size - 1 - window.low) % window.stride;
    begin += begin < 0 ? window.stride : 0;
    if (to.getDimSize(dim) % window.stride != 0 || begin > from[dim])
      continue;
    strides[dim] = window.stride;
    from[dim] -= begin;
    for (auto [value, step] :
         {std::pair(&values[0], int64_t(1)), {&values[1], window.stride}}) {
      SmallVector<int64_t> start(to.getRank(), 0), stride(one),
          limit(typeOf(*value).getShape());
      start[dim] = begin;
      stride[dim] = step;
      *value = weft::SliceOp::create(builder, getLoc(), *value, start, limit,
                                     stride);
    }
  }
  auto local = SelectAndScatterOp::create(
      builder, getLoc(), values[0].getType(), getSelect(), values[0], values[1],
      getWindow(), strides, low, high);
  LocalBuilder b{builder, getLoc()};
  Value result = local;
  for (auto [dim, window] : llvm::enumerate(getWindows()))
    if (from[dim] > 0 && window.low > 0 && to.getDimSize(dim) > 0) {
      result = withFront(b, result, dim, from[dim],
                         placement.coordinate(builder, getLoc(), dim));
      from[dim] = 0;
    }
  if (result.getType() == to)
    return {result};
  SmallVector<int64_t> limit;
  for (auto [start, size] : llvm::zip(from, to.getShape()))
    limit.push_back(start + size);
  return {
      weft::SliceOp::create(builder, getLoc(), to, result, from, limit, one)};
}

SmallVector<Value> ConvolutionOp::buildLocal(OpBuilder &builder,
                                             ValueRange operands,
                                             TypeRange resultTypes,
                                             const LocalPlacement &placement) {
  Borders borders{SmallVector<int64_t>(getLow()),
                  SmallVector<int64_t>(getHigh()),
                  SmallVector<int64_t>(getBaseDilation())};
  for (unsigned i = 0; i < borders.low.size(); ++i)
    if (placement.isFetched(0, getLhsDims()[2 + i]))
      borders.remove(i);
  auto results = cloneWithTypes(builder, *this, operands, resultTypes);
  auto local = results[0].getDefiningOp<ConvolutionOp>();
  borders.setOn(local);
  // The local number of groups, from the local features and samples.
  auto ratio = [](Value a, int64_t dimA, Value b, int64_t dimB) {
    int64_t groups = typeOf(b).getDimSize(dimB);
    return groups == 0 ? 1 : typeOf(a).getDimSize(dimA) / groups;
  };
  if (getFeatureGroups() > 1)
    local.setFeatureGroups(
        ratio(operands[0], getLhsDims()[1], operands[1], getRhsDims()[1]));
  if (getBatchGroups() > 1)
    local.setBatchGroups(
        ratio(operands[0], getLhsDims()[0], results[0], getResultDims()[0]));
  return results;
}
