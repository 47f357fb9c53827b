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

/// `size` steps, each so many elements apart in the three tensors.
struct DotDimension {
  int64_t size, lhs, rhs, result;
};
using DotDimensions = llvm::SmallVector<DotDimension, 2>;
/// All of them: the product of their sizes.
int64_t positionsOf(llvm::ArrayRef<DotDimension> dims);

/// Neighbouring dimensions are joined where strides allow, and dimensions of
/// one element are left out. The result is in row-major order.
struct ContractionShape {
  mlir::Type lhsType, rhsType, resultType; ///< of elements
  DotDimensions batch, rows, columns, contract;
  int64_t lhsFirst = 0, rhsFirst = 0; ///< elements in front of the operands'
};
ContractionShape contractionShape(DotOp op, const Strides &lhs,
                                  const Strides &rhs);
/// Nothing if an operand is no view of something in memory.
std::optional<ContractionShape> contractionShape(DotOp op,
                                                 IsInMemory isInMemory);

/// The dimensions that a register tile runs over, and those around it.
struct TileLoops {
  /// Whether the operands are exchanged, so that rows become columns: a matrix
  /// times a vector.
  bool isTurned = false;
  DotDimensions around;
  DotDimension row{1, 0, 0, 0}, column{1, 0, 0, 0}, inner{1, 0, 0, 0};
  /// May vectors run along columns, or along the contraction?
  bool alongColumns = false, alongDepth = false;
};
/// Nothing where the contraction goes over several dimensions.
std::optional<TileLoops> tileLoops(const ContractionShape &shape);

/// Where the positions 0, 1, 2... of one or several dimensions lie in one
/// tensor: of dimensions {4: 4096, 128: 32} position 130 is at 4096 + 2 * 32.
struct DotPath {
  struct Step {
    int64_t size, stride;
  };
  llvm::SmallVector<Step, 2> steps; ///< outermost first, joined where possible

  DotPath(llvm::ArrayRef<DotDimension> dims, int64_t DotDimension::*stride);
  int64_t size() const;
  /// Elements apart in the innermost dimension.
  int64_t innerStride() const {
    return steps.empty() ? 1 : steps.back().stride;
  }
  /// Positions of the innermost dimension.
  int64_t innerSize() const { return steps.empty() ? 1 : steps.back().size; }
  /// Does every group of `count` positions from a multiple of it on, unless it
  /// is cut by the end, lie side by side?
  bool hasRunsOf(int64_t count) const {
    return innerStride() == 1 && (steps.size() < 2 || innerSize() % count == 0);
  }
  bool isOneDimension() const { return steps.size() < 2; }
};

/// Elements behind a block of packed panels that packing may write.
inline constexpr int64_t kPanelSlack = 16;

/// Elements that a vector can be loaded of: those of whole bytes.
bool hasVectorLoads(mlir::Type element);
/// Elements whose arithmetic in vectors is worth it: f32, f64, and integers of
/// 32 bits.
bool hasVectorArithmetic(mlir::Type element);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_CONTRACTIONSHAPE_H
