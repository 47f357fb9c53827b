//===- ScatterWindows.cpp - windows that a scatter writes whole -----------===//

#include "weft/compiler/frontends/stablehlo/convert/ScatterWindows.h"

#include "weft/dialects/weft/TensorType.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

ScatterDims ScatterDims::of(ForeignOp op) {
  return {op.ints("update_window_dims"),
          op.ints("inserted_window_dims"),
          op.ints("input_batching_dims"),
          op.ints("scatter_indices_batching_dims"),
          op.ints("scatter_dims_to_operand_dims"),
          op.integer("index_vector_dim").value_or(0)};
}

std::optional<Ints> ScatterDims::windowSizes(RankedTensorType tensor,
                                             RankedTensorType updates) const {
  Ints sizes;
  const int64_t *next = window.begin();
  for (int64_t dim = 0; dim < tensor.getRank(); ++dim) {
    bool isOne =
        llvm::is_contained(inserted, dim) || llvm::is_contained(batching, dim);
    if (!isOne &&
        (next == window.end() || *next < 0 || *next >= updates.getRank()))
      return std::nullopt;
    sizes.push_back(isOne ? 1 : updates.getDimSize(*next++));
  }
  return next == window.end() ? std::optional(sizes) : std::nullopt;
}

namespace {
/// The index vectors of a scatter's windows.
class WindowStarts {
public:
  WindowStarts(Converter &c [[clang::lifetimebound]], ForeignOp op,
               Value indices, const ScatterDims &dims [[clang::lifetimebound]])
      : c(c), op(op), indices(indices), dims(dims) {}

  /// Finds the greatest start at which a window is inside, in each dimension
  /// that has an index. Returns whether windows can be partly outside.
  bool find(RankedTensorType tensor, RankedTensorType updates);
  /// Replaces each vector of which a start is negative or greater.
  Value replaced();

private:
  bool isVector() const { return dims.vector < typeOf(indices).getRank(); }
  Value replacedConstant(DenseIntElementsAttr data);
  Value isInside(Value starts);

  Converter &c;
  ForeignOp op;
  Value indices;
  const ScatterDims &dims;
  Ints last;
  int64_t outside = 0; ///< a start at which all of a window is outside
};
} // namespace

bool WindowStarts::find(RankedTensorType tensor, RankedTensorType updates) {
  auto type = typeOf(indices);
  auto sizes = dims.windowSizes(tensor, updates);
  if (!sizes || dims.vector < 0 || dims.vector > type.getRank() ||
      !isa<IntegerType>(type.getElementType()))
    return false;
  int64_t length = isVector() ? type.getDimSize(dims.vector) : 1;
  if (length != static_cast<int64_t>(dims.toOperand.size()))
    return false;
  bool isPart = false;
  for (int64_t dim : dims.toOperand) {
    if (dim < 0 || dim >= tensor.getRank() ||
        (*sizes)[dim] > tensor.getDimSize(dim))
      return false;
    last.push_back(tensor.getDimSize(dim) - (*sizes)[dim]);
    outside = std::min(outside, -tensor.getDimSize(dim));
    isPart |= (*sizes)[dim] > 1;
  }
  return isPart;
}

Value WindowStarts::replacedConstant(DenseIntElementsAttr data) {
  auto type = typeOf(indices);
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  int64_t length = last.size(), minor = 1;
  if (isVector())
    for (int64_t size : type.getShape().drop_front(dims.vector + 1))
      minor *= size;
  Ints starts;
  for (const APInt &value : data)
    starts.push_back(isUnsigned && value.getActiveBits() > 62 ? outside
                     : value.isNegative() && !isUnsigned
                         ? value.getSExtValue()
                         : int64_t(value.getZExtValue()));
  bool isSame = true;
  for (int64_t i = 0, count = starts.size(); i < count; ++i) {
    if (i / minor % length) // not the first of a vector
      continue;
    bool isInside = true;
    for (int64_t k = 0; k < length; ++k)
      isInside &=
          starts[i + k * minor] >= 0 && starts[i + k * minor] <= last[k];
    isSame &= isInside;
    for (int64_t k = 0; k < length && !isInside; ++k)
      starts[i + k * minor] = outside;
  }
  if (isSame)
    return indices;
  auto wide = RankedTensorType::get(type.getShape(), c.builder.getI64Type());
  return c.make<ConstantOp>(op, DenseElementsAttr::get(wide, ArrayRef(starts)));
}

/// For each index, whether all starts of its vector are those of a window
/// inside.
Value WindowStarts::isInside(Value starts) {
  auto type = typeOf(starts);
  auto numbers = RankedTensorType::get({static_cast<int64_t>(last.size())},
                                       type.getElementType());
  Value most =
      isVector() ? c.make<BroadcastOp>(
                       op,
                       c.make<ConstantOp>(
                           op, DenseElementsAttr::get(numbers, ArrayRef(last))),
                       type.getShape(), ArrayRef<int64_t>{dims.vector})
                 : c.splat(op, double(last[0]), type);
  Value inside = c.make<AndOp>(
      op, c.make<CompareOp>(op, CompareKind::GE, starts, c.splat(op, 0, type)),
      c.make<CompareOp>(op, CompareKind::LE, starts, most));
  if (last.size() == 1)
    return inside;
  Ints others;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != dims.vector)
      others.push_back(dim);
  Value all = c.make<ReduceOp>(op, ReduceKind::And, inside,
                               ArrayRef<int64_t>{dims.vector});
  return c.make<BroadcastOp>(op, all, type.getShape(), others);
}

Value WindowStarts::replaced() {
  if (auto constant = indices.getDefiningOp<ConstantOp>())
    if (auto data = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
      return replacedConstant(data);
  Value starts = c.cast(op, indices, c.builder.getI64Type());
  return c.make<SelectOp>(op, isInside(starts), starts,
                          c.splat(op, double(outside), typeOf(starts)));
}

Value stablehlo::indicesOfWholeWindows(Converter &c, ForeignOp op, Value tensor,
                                       Value indices, Value updates,
                                       const ScatterDims &dims) {
  WindowStarts starts(c, op, indices, dims);
  return starts.find(typeOf(tensor), typeOf(updates)) ? starts.replaced()
                                                      : indices;
}
