//===- WarpProducts.h - a warp's share of a tile of sums --------*- C++ -*-===//
//
// The sums of a warp's tile are in registers of its lanes. With `fma` the lanes
// are a grid of 8 x 4, and have rows and columns in runs of up to four:
//
//   warp[32, 16]   lane 5: rows 4 to 7, columns 4 to 7   (5 / 4 = 1, 5 % 4 = 1)
//
// With tensor cores they have the rows and columns of Placement.h in every
// block of 16 x 8.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_WARPPRODUCTS_H
#define WEFT_COMPILER_CODEGEN_GPU_WARPPRODUCTS_H

#include "weft/compiler/codegen/gpu/Placement.h"
#include "weft/compiler/codegen/gpu/SharedMemory.h"
#include "weft/dialects/nest/TileWalk.h"

namespace weft::gpu {

/// Sums of one lane that are adjacent in a row: `count` from `first` on.
struct LaneSums {
  unsigned patch; ///< index of a group of 16 rows (nest::kPatchRows)
  mlir::Value slot, column;
  unsigned first, count;
};

class WarpProducts {
public:
  /// Takes `warp` and `lane`, the numbers in the block and in the warp, and
  /// `halves`, the element type that the unit `half` multiplies.
  WarpProducts(elements::LoopNest &nest [[clang::lifetimebound]],
               SharedMemory &shared [[clang::lifetimebound]],
               nest::TilesAttr walk, mlir::Type halves, mlir::Value warp,
               mlir::Value lane);
  unsigned sums() const { return warpTile[0] * warpTile[1] / 32; }
  /// Adds the products of a stage; the operands' stages start at these
  /// pointers.
  llvm::SmallVector<mlir::Value> multiply(mlir::Value lhs, mlir::Value rhs,
                                          mlir::ValueRange sums);
  /// The positions of a lane's sums in the tile.
  llvm::SmallVector<LaneSums> lanes();
  unsigned patches() const { return warpTile[0] / nest::kPatchRows; }
  /// The row of the tile for a row of a patch.
  mlir::Value rowOf(unsigned patch, mlir::Value slot);
  /// The first row and column of the warp's tile, in the block's.
  mlir::Value firstRow() { return first[0]; }
  mlir::Value firstColumn() { return first[1]; }

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// The offset of a row (of rhs: a column) and a depth in an operand's stage.
  int64_t at(unsigned operand, int64_t row, int64_t depth) const;
  mlir::Value at(unsigned operand, mlir::Value row, mlir::Value depth);
  mlir::Value constantOffset(mlir::Value pointer, mlir::Type element,
                             int64_t offset);
  Values run(mlir::Value pointer, unsigned operand, int64_t depth);
  void multiplyScalars(mlir::Value lhs, mlir::Value rhs, Values &sums);
  Values matrices(mlir::Value pointer, unsigned operand, int64_t row,
                  int64_t depth, unsigned count);
  Values tf32(mlir::Value pointer, unsigned operand, int64_t row,
              int64_t depth);
  /// Loads the registers of the warp's rows of lhs, 16 in each item, or columns
  /// of rhs, 8 in each.
  llvm::SmallVector<Values> fragments(mlir::Value pointer, unsigned operand,
                                      int64_t depth);
  void multiplyMatrices(mlir::Value lhs, mlir::Value rhs, Values &sums);
  void addProduct(mlir::ValueRange a, mlir::ValueRange b,
                  llvm::MutableArrayRef<mlir::Value> sums);

  elements::LoopNest &nest;
  SharedMemory &shared;
  nest::TilesAttr walk;
  nest::TileOperand operands[2];
  int64_t warpTile[2];
  mlir::Type halves, f32;
  Placement sumsPlace;    ///< the patch, slot and column of a sum
  Placement rowsPlace;    ///< the row of a round's patch and a register's slot
  Placement readPlace[2]; ///< the row (of rhs: column) and depth of an operand
  mlir::Value lane;
  mlir::Value first[2];      ///< the warp's row and column in the block's tile
  mlir::Value laneOffset[2]; ///< offsets in each operand's stage
};

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_WARPPRODUCTS_H
