//===- ContractionShape.h - a contraction as strides ------------*- C++ -*-===//
//
//   %c = weft.dot %a, %b contract [1] x [0]
//        : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32>
//
//   rows {16: lhs 784, result 200}, columns {200: rhs 1, result 1},
//   contract {784: lhs 1, rhs 200}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_CONTRACTIONSHAPE_H
#define WEFT_DIALECTS_NEST_CONTRACTIONSHAPE_H

#include "weft/dialects/nest/OpLoops.h"

namespace weft::nest {

/// `size` steps with these strides (in elements) in the three tensors.
struct DotDimension {
  int64_t size, lhs, rhs, result;
};
using DotDimensions = llvm::SmallVector<DotDimension, 2>;
/// The product of the dimensions' sizes.
int64_t positionsOf(llvm::ArrayRef<DotDimension> dims);

/// A contraction whose adjacent dimensions are joined where strides allow;
/// dimensions of size 1 are omitted. The result is in row-major order.
struct ContractionShape {
  mlir::Type lhsType, rhsType, resultType; ///< element types
  DotDimensions batch, rows, columns, contract;
  /// Offsets of the operands' first elements, in elements.
  int64_t lhsFirst = 0, rhsFirst = 0;
};
ContractionShape contractionShape(DotOp op, const Strides &lhs,
                                  const Strides &rhs);
/// The shape of a contraction; nothing if an operand is no view of a value in
/// memory.
std::optional<ContractionShape> contractionShape(DotOp op,
                                                 IsInMemory isInMemory);

/// The dimensions that a register tile covers, and the loops around it.
struct TileLoops {
  /// Whether the operands are exchanged, so that rows become columns: a matrix
  /// times a vector.
  bool isTurned = false;
  DotDimensions around;
  DotDimension row{1, 0, 0, 0}, column{1, 0, 0, 0}, inner{1, 0, 0, 0};
  /// Whether vectors may run along columns, or along the contraction.
  bool alongColumns = false, alongDepth = false;
};
/// The loops of a contraction; nothing if it contracts several dimensions.
std::optional<TileLoops> tileLoops(const ContractionShape &shape);

/// The path of positions 0, 1, 2... of one or several dimensions through one
/// tensor: of dimensions {4: 4096, 128: 32} position 130 is at 4096 + 2 * 32.
struct DotPath {
  struct Step {
    int64_t size, stride;
  };
  llvm::SmallVector<Step, 2> steps; ///< outermost first, joined where possible

  DotPath(llvm::ArrayRef<DotDimension> dims, int64_t DotDimension::*stride);
  int64_t size() const;
  /// The stride of the innermost dimension, in elements.
  int64_t innerStride() const {
    return steps.empty() ? 1 : steps.back().stride;
  }
  /// The size of the innermost dimension.
  int64_t innerSize() const { return steps.empty() ? 1 : steps.back().size; }
  /// Whether every aligned group of `count` positions, except one that the end
  /// cuts, is contiguous.
  bool hasRunsOf(int64_t count) const {
    return innerStride() == 1 && (steps.size() < 2 || innerSize() % count == 0);
  }
  bool isOneDimension() const { return steps.size() < 2; }
};

/// The number of elements after a block of packed panels that packing may
/// overwrite.
inline constexpr int64_t kPanelSlack = 16;

/// Whether vectors of the element type can be loaded: floats, and integers of
/// at least 8 bits.
bool hasVectorLoads(mlir::Type element);
/// Whether vectors of the element type speed up arithmetic: f32, f64 and
/// integers of 32 bits do.
bool hasVectorArithmetic(mlir::Type element);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_CONTRACTIONSHAPE_H
