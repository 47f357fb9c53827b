//===- Views.h - tensors as elements of other tensors -----------*- C++ -*-===//
//
// An op whose result is elements of its operand at constant steps needs no
// memory. Of a tensor<10x10> %x in memory:
//
//   %0 = weft.transpose %x [1, 0]      strides 1, 10 in %x
//   %1 = weft.reverse %x dims [0]      strides -10, 1 from element 90 on
//   %2 = weft.slice %x from [2, 0] to [6, 10] by [1, 1]
//                                      strides 10, 1 from element 20 on
//   %3 = weft.reshape %2 : 4x10 -> 2x2x10    strides 20, 10, 1 from there on
//   %4 = weft.reshape %0 : 10x10 -> 100      no view: two strides
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_VIEWS_H
#define WEFT_DIALECTS_NEST_VIEWS_H

#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace weft::nest {

/// A tensor in memory: its sizes, its strides and the position of its first
/// element, in elements.
struct Strides {
  llvm::SmallVector<int64_t, 4> sizes, strides;
  int64_t first = 0;
  /// The strides of a tensor whose elements are in row-major order.
  static Strides rowMajor(mlir::Value tensor);
  bool isRowMajor() const;
};

using IsInMemory = llvm::function_ref<bool(mlir::Value)>;

/// The value in memory that `tensor` is a view of, through any number of ops.
struct TensorView {
  mlir::Value root;
  Strides strides;
};
std::optional<TensorView> viewOf(mlir::Value tensor, IsInMemory isInMemory);
/// Views of any elements; or only those of all elements that also keep the
/// dimensions of what is in memory: a transpose, but no slice, and no reshape
/// that joins transposed dimensions.
enum class ViewKind { Any, Whole };
/// The value that must be in memory so that `tensor` is a view of it: a value
/// that is already there, or the result of the last op that is no view.
mlir::Value rootOfView(mlir::Value tensor, IsInMemory isInMemory,
                       ViewKind kind = ViewKind::Any);
/// Whether the result of the op is a view of its first operand, if that is in
/// row-major order.
bool isView(mlir::Operation *op, ViewKind kind = ViewKind::Any);

/// The views that the results of ops are, of an operand in memory; nothing
/// where a result is none.
std::optional<Strides> viewOfTranspose(TransposeOp op, const Strides &operand);
std::optional<Strides> viewOfReverse(ReverseOp op, const Strides &operand);
std::optional<Strides> viewOfReshape(ReshapeOp op, const Strides &operand);
std::optional<Strides> viewOfSlice(SliceOp op, const Strides &operand);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_VIEWS_H
