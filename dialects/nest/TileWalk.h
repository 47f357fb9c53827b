//===- TileWalk.h - tiles of sums in shared memory --------------*- C++ -*-===//
//
//   %c = weft.dot %a, %b contract [1] x [0]
//        : tensor<512x784xbf16>, tensor<784x200xbf16> -> tensor<512x200xf32>
//   #nest.tiles<half, block[64, 64, 32], warp[32, 16], stages = 4,
//               lhs = <depth, 16>, rhs = <rows, 16>>
//
//   512 rows, 200 columns, depth 784. A block of 256 threads computes 64 x 64
//   sums, each warp 32 x 16 of these. Shared memory holds four stages of 64 x
//   32 elements of both operands: while one is multiplied, the next three are
//   on their way. A thread copies 16 contiguous bytes of lhs along the
//   depth, and of rhs along its rows, which are the columns of c.
//
// Few tiles of a large depth leave processors idle. With parts = 16, the depth
// is divided among 16 blocks for each tile, and a second nest adds up their sums
// in order, so that every run gives the same bits:
//
//   %p = nest.loops #nest.tiles<fma, ..., parts = 16> to [#nest.place<planned 0>] {
//     %0 = weft.convolution ... -> tensor<3x3x1x12xf32>
//     %1 = nest.parts %0 : tensor<3x3x1x12xf32> -> tensor<16x3x3x1x12xf32>
//     nest.store %1
//   %r = nest.loops #nest.sums<block = 0> to [#nest.place<result 0>] {
//     %2 = weft.reduce sum %p dims [0]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_TILEWALK_H
#define WEFT_DIALECTS_NEST_TILEWALK_H

#include "weft/dialects/nest/ContractionShape.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/OpLoops.h"

#include <array>

namespace weft::nest {

/// Several dimensions as one: `size` positions in row-major order.
struct JoinedDims {
  llvm::SmallVector<int64_t>
      dims; ///< dimensions of the result; empty for the depth
  llvm::SmallVector<int64_t> sizes; ///< size of each dimension
  int64_t size() const { return llvm::product_of(sizes); }
};

/// An op whose elements are sums of products (getProductDims), as four loops.
struct ProductShape {
  JoinedDims batch, rows, columns, depth;
  mlir::Type lhsType, rhsType, resultType; ///< element types

  /// The rows of an operand, which are the rows or the columns of the result.
  const JoinedDims &rowsOf(unsigned operand) const {
    return operand == 0 ? rows : columns;
  }
  mlir::Type typeOf(unsigned operand) const {
    return operand == 0 ? lhsType : rhsType;
  }
};
std::optional<ProductShape> productShape(mlir::Operation *op);

/// The positions of an operand's elements in a value in memory, by the position
/// in the batch, in its rows and in the depth.
struct OperandPaths {
  DotPath batch, rows, depth;
  int64_t first; ///< elements of padding in front
  mlir::Value root;
  /// A dimension in which positions are bounded: an element exists only if (row
  /// * stride + term * dilation - low) / base is a position in [0, size), for
  /// dimension `row` of the rows and `term` of the depth; else it is 0. A window
  /// of a convolution may reach over the sample's edge. Where base > 1, `step`
  /// elements are from one position to the next, and the paths leave the
  /// dimension out.
  struct Bound : ProductDims::Factor::Sliding {
    int64_t size, step;
  };
  llvm::SmallVector<Bound> bounds;

  const DotPath &along(Along which) const {
    return which == Along::Depth ? depth : rows;
  }
};
std::optional<OperandPaths> operandPaths(mlir::Operation *op, unsigned operand,
                                         IsInMemory isInMemory);

/// One operand's elements of a stage: `rows` x `depth` elements, contiguous
/// along the rows or the depth. Runs start `stride` elements apart, so that
/// threads that read at the same time use different banks.
struct TileOperand {
  bool isDepthInner;
  int64_t rows, depth, elementBytes, stride;
  int64_t bytes() const {
    return (isDepthInner ? rows : depth) * stride * elementBytes;
  }
};
TileOperand tileOperand(TilesAttr walk, unsigned operand);
inline StagingAttr stagingOf(TilesAttr walk, unsigned operand) {
  return operand == 0 ? walk.getLhs() : walk.getRhs();
}
/// The rows of sums that a warp keeps in shared memory for the epilogue, and
/// elements from one row to the next.
inline constexpr int64_t kPatchRows = 16;
inline int64_t patchStride(TilesAttr walk) { return walk.getWarp()[1] + 8; }
/// The number of warps along the rows and along the columns of a block.
std::array<int64_t, 2> warpsOf(TilesAttr walk);
/// The shared memory of a block: its stages, and later the sums of each warp.
int64_t sharedBytes(TilesAttr walk);
/// The number of tiles with separate sums.
int64_t tilesOf(TilesAttr walk, const ProductShape &shape);
/// The steps along the depth of each part; the last part may have fewer.
int64_t stepsOfPart(TilesAttr walk, const ProductShape &shape);
/// The number of blocks with work: one for each part of each tile.
inline int64_t blocksOf(TilesAttr walk, const ProductShape &shape) {
  return tilesOf(walk, shape) * walk.getParts();
}

/// The reason why an operand cannot be copied as the walk says, or empty.
std::string refuseStaging(mlir::Operation *op, unsigned operand, TilesAttr walk,
                          IsInMemory isInMemory);
/// Chooses #nest.tiles if a model says that it is faster than a thread for each
/// element (TileChoice.cpp), else null. `tf32`: f32 may be rounded to it.
TilesAttr chooseTiles(mlir::Operation *op, const TargetLimits &limits,
                      bool tf32, IsInMemory isInMemory);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_TILEWALK_H
