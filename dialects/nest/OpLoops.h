//===- OpLoops.h - what an op tells whoever chooses loop nests --*- C++ -*-===//
//
//   %0 = weft.transpose %x [1, 0]     a view: strides 1, 10 of what has 10, 1
//   %3 = weft.reverse %x dims [0]     a view: strides -10, 1 from the last row on
//   %1 = weft.add %x, %y              flat where %x and %y are
//   %2 = weft.sort %x dim 1           rows of dimension 0 can be shared
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_OPLOOPS_H
#define WEFT_DIALECTS_NEST_OPLOOPS_H

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace weft {
class ConvolutionOp;
class ScatterOp;
} // namespace weft

namespace weft::nest {

/// A tensor in memory: its sizes, how many elements apart neighbours are, and
/// where its first element is, counted from the first in memory.
struct Strides {
  llvm::SmallVector<int64_t, 4> sizes, strides;
  int64_t first = 0;
  /// The strides of a tensor whose elements are in row-major order.
  static Strides rowMajor(mlir::Value tensor);
  bool isRowMajor() const;
};

/// Whether, and how, an element follows from its row-major position alone.
enum class Flatness {
  Never,
  Alone,  ///< yes, and no operand is read at that position
  Through ///< yes, where the operands' elements do
};

/// How a nest of an op's own can be shared: the dimensions of the result, and
/// their sizes, whose loops do not depend on each other, and what there is to
/// do, in elements computed or read. Then the bytes of memory that the loops
/// use besides the results.
struct OwnLoops {
  llvm::SmallVector<std::pair<int64_t, int64_t>> independent;
  int64_t work = 0;
  int64_t workingBytes = 0;
};

/// Dimensions of a result whose elements are sums of products a * b: those that
/// both factors follow, those of a, and those of b.
struct ProductDims {
  llvm::SmallVector<int64_t> batch, rows, columns;
  /// The dimensions of a factor's tensor that are those of the batch, its rows
  /// (of b: the columns) and the terms, one by one; nothing where an element's
  /// place is computed.
  struct Factor {
    llvm::SmallVector<int64_t> batch, rows, terms;
    /// A dimension that a row and a term have together, by their numbers: it is
    /// read at row * stride + term * dilation - low, and where the tensor ends
    /// before, the factor is 0.
    struct Sliding {
      size_t row, term;
      int64_t stride, dilation, low;
    };
    llvm::SmallVector<Sliding> sliding;
  };
  std::optional<Factor> lhs, rhs;
};

/// Rows of an op that workers share in units, and how many parts pay.
struct SharedRows {
  int64_t size, unit, parts;
};
/// A part below some ten microseconds costs more to hand over than it saves.
inline constexpr int64_t kPartElements = 16 * 1024,
                         kPartMultiplyAdds = 512 * 1024, kMostParts = 64;

using IsInMemory = llvm::function_ref<bool(mlir::Value)>;
/// #nest.own
mlir::Attribute ownWalk(mlir::Operation *op);

} // namespace weft::nest

#include "weft/dialects/nest/OpLoops.h.inc"

namespace weft::nest {

/// Gives the ops of weft and coll the interface.
void attachOpLoops(mlir::MLIRContext *context);

/// Can all these values be computed from their row-major position alone? Roots
/// are computed in any case, others are loaded where they are in memory.
bool isFlat(llvm::ArrayRef<mlir::Value> roots, IsInMemory isInMemory);
/// The value in memory that `tensor` is a view of, through any number of ops.
struct TensorView {
  mlir::Value root;
  Strides strides;
};
std::optional<TensorView> viewOf(mlir::Value tensor, IsInMemory isInMemory);
/// The value that must be in memory so that `tensor` is a view of it: what is
/// there already, or the last one in front of which the chain of views breaks.
mlir::Value rootOfView(mlir::Value tensor, IsInMemory isInMemory);
/// Is the result of the op another view of its first operand in row-major order?
bool isView(mlir::Operation *op);

// Implemented in WalkChoices.cpp for reductions, contractions and convolutions.
mlir::Attribute chooseReduction(ReduceOp op, const TargetLimits &limits,
                                IsInMemory isInMemory);
mlir::Attribute chooseContraction(DotOp op, const TargetLimits &limits,
                                  IsInMemory isInMemory);
mlir::Attribute chooseConvolution(ConvolutionOp op, const TargetLimits &limits,
                                  IsInMemory isInMemory);
std::optional<SharedRows> sharedRowsOf(DotOp op, mlir::Attribute walk,
                                       IsInMemory isInMemory);

/// The dimension of a scatter's updates that is a whole dimension of its result;
/// -1 where none is, so that updates meet there.
int64_t updatesDimOf(ScatterOp op, int64_t dim);
/// The dimension of a convolution's result along which places are tiled.
int64_t tiledDimension(ConvolutionOp op);
/// The factors by which a Fourier transform of length n goes: 4 and the primes
/// up to 13; nothing where n has a larger prime.
std::optional<llvm::SmallVector<int64_t>> fftRadices(int64_t n);
/// n, or the power of two by which a transform of length n goes otherwise.
int64_t fftLength(int64_t n);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_OPLOOPS_H
