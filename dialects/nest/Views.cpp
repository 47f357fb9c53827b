//===- Views.cpp - tensors as elements of other tensors --------------------===//

#include "weft/dialects/nest/Views.h"

#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/TensorType.h"

#include <cstdlib>

using namespace mlir;

namespace weft::nest {

static SmallVector<int64_t, 4> rowMajorStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t, 4> strides(sizes.size());
  int64_t stride = 1;
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

Strides Strides::rowMajor(Value tensor) {
  ArrayRef<int64_t> shape = typeOf(tensor).getShape();
  return {SmallVector<int64_t, 4>(shape), rowMajorStrides(shape)};
}

bool Strides::isRowMajor() const {
  return first == 0 && strides == rowMajorStrides(sizes);
}

std::optional<Strides> viewOfTranspose(TransposeOp op, const Strides &operand) {
  Strides view = operand;
  for (auto [i, from] : llvm::enumerate(op.getPermutation())) {
    view.sizes[i] = operand.sizes[from];
    view.strides[i] = operand.strides[from];
  }
  return view;
}

std::optional<Strides> viewOfReverse(ReverseOp op, const Strides &operand) {
  Strides view = operand;
  for (int64_t dim : op.getDims()) {
    view.first += std::max<int64_t>(view.sizes[dim] - 1, 0) * view.strides[dim];
    view.strides[dim] = -view.strides[dim];
  }
  return view;
}

/// The sizes and strides of the view with dimensions of size 1 left out, and
/// adjacent dimensions joined that step through memory as one.
static Strides joinedDims(const Strides &view) {
  Strides joined;
  joined.first = view.first;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    if (size == 1)
      continue;
    if (!joined.sizes.empty() && joined.strides.back() == size * stride) {
      joined.sizes.back() *= size;
      joined.strides.back() = stride;
      continue;
    }
    joined.sizes.push_back(size);
    joined.strides.push_back(stride);
  }
  return joined;
}

/// A reshape is a view where each of its dimensions is a part of one dimension
/// of the operand, or of several that are adjacent in memory:
///
///   16 x 12 x 64, strides 1, 1024, 16  ->  16 x 768, strides 1, 16
std::optional<Strides> viewOfReshape(ReshapeOp op, const Strides &operand) {
  Strides view = Strides::rowMajor(op.getResult());
  view.first = operand.first;
  if (operand.isRowMajor() || llvm::is_contained(view.sizes, 0))
    return view;
  Strides left = joinedDims(operand);
  for (size_t dim = view.sizes.size(); dim-- > 0;) {
    int64_t size = view.sizes[dim];
    if (size == 1)
      continue;
    int64_t &of = left.sizes.back(), &stride = left.strides.back();
    if (of % size != 0)
      return std::nullopt;
    view.strides[dim] = stride;
    of /= size;
    stride *= size;
    if (of == 1) {
      left.sizes.pop_back();
      left.strides.pop_back();
    }
  }
  return view;
}

std::optional<Strides> viewOfSlice(SliceOp op, const Strides &operand) {
  Strides view = operand;
  view.sizes.assign(typeOf(op.getResult()).getShape().begin(),
                    typeOf(op.getResult()).getShape().end());
  for (auto [dim, start, step] :
       llvm::enumerate(op.getStart(), op.getStride())) {
    view.first += start * operand.strides[dim];
    view.strides[dim] *= step;
  }
  return view;
}

/// Whether the view has the dimensions of the operand, in any order and
/// direction, or all elements of an operand in row-major order.
static bool keepsDims(const Strides &view, const Strides &operand) {
  if (operand.isRowMajor() && view.isRowMajor())
    return llvm::product_of(view.sizes) == llvm::product_of(operand.sizes);
  auto dimsOf = [](const Strides &of) {
    SmallVector<std::pair<int64_t, int64_t>> dims;
    for (auto [size, stride] : llvm::zip_equal(of.sizes, of.strides))
      dims.emplace_back(size, std::abs(stride));
    llvm::sort(dims);
    return dims;
  };
  return dimsOf(view) == dimsOf(operand);
}

/// The view that `tensor` is, of a value in memory or not.
static TensorView viewOfRoot(Value tensor, IsInMemory isInMemory,
                             ViewKind kind) {
  auto op = tensor.getDefiningOp<OpLoopsInterface>();
  if (op && op->getNumOperands() > 0 && !isInMemory(tensor)) {
    TensorView operand = viewOfRoot(op->getOperand(0), isInMemory, kind);
    std::optional<Strides> strides = op.getView(operand.strides);
    if (strides &&
        (kind == ViewKind::Any || keepsDims(*strides, operand.strides)))
      return {operand.root, *strides};
  }
  return {tensor, Strides::rowMajor(tensor)};
}

Value rootOfView(Value tensor, IsInMemory isInMemory, ViewKind kind) {
  return viewOfRoot(tensor, isInMemory, kind).root;
}

std::optional<TensorView> viewOf(Value tensor, IsInMemory isInMemory) {
  TensorView view = viewOfRoot(tensor, isInMemory, ViewKind::Any);
  return isInMemory(view.root) ? std::optional(view) : std::nullopt;
}

bool isView(Operation *op, ViewKind kind) {
  auto loops = dyn_cast<OpLoopsInterface>(op);
  if (!loops || op->getNumOperands() == 0)
    return false;
  Strides operand = Strides::rowMajor(op->getOperand(0));
  std::optional<Strides> view = loops.getView(operand);
  return view && (kind == ViewKind::Any || keepsDims(*view, operand));
}

} // namespace weft::nest
