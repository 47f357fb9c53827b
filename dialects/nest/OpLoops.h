//===- OpLoops.h - the loops that an op allows ------------------*- C++ -*-===//
//
// Whether an op is a view, flat, or shares rows among workers:
//
//   %0 = weft.transpose %x [1, 0]     a view: strides 1, 10 for 10, 1 of %x
//   %3 = weft.reverse %x dims [0]     a view: strides -10, 1 from the last row on
//   %1 = weft.add %x, %y              flat where %x and %y are
//   %2 = weft.sort %x dim 1           rows of dimension 0 can be shared
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_OPLOOPS_H
#define WEFT_DIALECTS_NEST_OPLOOPS_H

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/nest/Views.h"
#include "weft/dialects/weft/Weft.h"

namespace weft {
class ConvolutionOp;
class ScatterOp;
} // namespace weft

namespace weft::nest {

/// Whether, and how, an element can be computed from its row-major position
/// alone.
enum class Flatness {
  Never,
  Alone,  ///< it can, and no operand is read at that position
  Through ///< it can if the operands can
};

/// The loops of an op that can be divided among workers: the result's
/// dimensions, with sizes, whose iterations are independent, or a loop over
/// groups of lines as dimension 0 (FourierLoops.h); the work in elements
/// computed or read; and the bytes of temporary memory.
struct OwnLoops {
  llvm::SmallVector<std::pair<int64_t, int64_t>> independent;
  int64_t work = 0;
  int64_t workingBytes = 0;
};

/// Dimensions of a result whose elements are sums of products a * b: those
/// common to both factors, those of a, and those of b.
struct ProductDims {
  llvm::SmallVector<int64_t> batch, rows, columns;
  /// The dimensions of a factor's tensor: of the batch, of its rows (of b: the
  /// columns) and of the terms. Nothing if positions have another form.
  struct Factor {
    llvm::SmallVector<int64_t> batch, rows, terms;
    /// A dimension indexed by a row and a term together: position (row * stride
    /// + term * dilation - low) / base. The factor is 0 at positions outside of
    /// the tensor, and between its elements.
    struct Sliding {
      size_t row, term;
      int64_t stride, dilation, low, base;
    };
    llvm::SmallVector<Sliding> sliding;
  };
  std::optional<Factor> lhs, rhs;
};

/// Positions of a result's dimension `dim` that workers share in units, and the
/// number of shares that is worth while.
struct SharedRows {
  int64_t size, unit, shares, dim = 0;
};
/// The least work of a share: about ten microseconds, below which dividing
/// costs more than it saves; and the most shares.
inline constexpr int64_t kShareElements = 16 * 1024,
                         kShareMultiplyAdds = 512 * 1024, kMostShares = 64;

/// #nest.own
mlir::Attribute ownWalk(mlir::Operation *op);

/// How many of the last dimensions of a reduction's result are a row, which a
/// CPU adds to at once: the last one, and those in front of it, as far as a row
/// is short and they follow all reduced dimensions. A group norm's
/// 2x32x32x8x4 -> 2x8x4 has rows of 8x4, which are adjacent in the operand.
unsigned dimsOfRow(ReduceOp op);
/// The elements of such a row.
int64_t elementsOfRow(ReduceOp op);
/// Whether the op's result is one row, to which the walk adds.
bool isOneRow(mlir::Operation *op, mlir::Attribute walk);
/// Whether a loop over the last of several dimensions fills vectors of so many
/// elements, so that a CPU walks these one by one instead of dividing positions.
bool fillsVectors(int64_t size, int64_t lanes);
/// The size of the last of two dimensions into which a reshape divides the last
/// dimension of `stored`, if values follow from the divided ones by element: of
/// a group norm's 2x32x32x64 = reshape 2x32x32x4x16 it is 16. 1 if there is none
/// that fills vectors.
int64_t innerElements(mlir::ValueRange stored, int64_t lanes,
                      IsInMemory isInMemory);

} // namespace weft::nest

#include "weft/dialects/nest/OpLoops.h.inc"

namespace weft::nest {

/// Gives the ops of weft and coll the interface.
void attachOpLoops(mlir::MLIRContext *context);

/// Whether all these values can be computed from their row-major position
/// alone. Roots are always computed; other values in memory are loaded.
bool isFlat(llvm::ArrayRef<mlir::Value> roots, IsInMemory isInMemory);
// Choices of walks for reductions, contractions and convolutions
// (WalkChoices.cpp).
mlir::Attribute chooseReduction(ReduceOp op, const TargetLimits &limits,
                                IsInMemory isInMemory);
mlir::Attribute chooseContraction(DotOp op, const TargetLimits &limits,
                                  IsInMemory isInMemory);
mlir::Attribute chooseConvolution(ConvolutionOp op, const TargetLimits &limits,
                                  IsInMemory isInMemory);
std::optional<llvm::SmallVector<int64_t>>
storedOrderOf(DotOp op, unsigned operand, const TargetLimits &limits,
              IsInMemory isInMemory);
std::optional<llvm::SmallVector<int64_t>>
storedOrderOf(ConvolutionOp op, unsigned operand, const TargetLimits &limits,
              IsInMemory isInMemory);
std::optional<SharedRows> sharedRowsOf(DotOp op, mlir::Attribute walk,
                                       IsInMemory isInMemory,
                                       const TargetLimits &limits);

/// The dimension of a scatter's updates that is the whole dimension `dim` of
/// its result; -1 if there is none, so updates may collide along `dim`.
int64_t updatesDimOf(ScatterOp op, int64_t dim);
/// The dimension of a convolution's result along which positions are tiled.
int64_t tiledDimension(ConvolutionOp op);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_OPLOOPS_H
