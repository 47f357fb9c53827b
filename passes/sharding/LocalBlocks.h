//===- LocalBlocks.h - one device's block of a tensor -----------*- C++ -*-===//
//
// 7 rows over "x"=2 are blocks of 4: coordinate 1 holds rows 4, 5, 6 and one
// undefined row. `maskPadding` makes that row absent (AbsentElement.h):
//
//   %c = coll.coordinate over #mesh ["x"] ; %o = %c * 4
//   %i = weft.iota dim 0 offset %o           global row of each element
//   select %i < 7, %block, -0
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_LOCALBLOCKS_H
#define WEFT_PASSES_SHARDING_LOCALBLOCKS_H

#include "weft/passes/sharding/OpSharding.h"

#include "llvm/ADT/DenseSet.h"

namespace weft {

/// The type of every device's block; the type itself if it has no layout.
mlir::Type localType(mlir::Type global);

/// The axes as a rank-1 layout, by which `coll` ops name a group.
LayoutAttr groupOf(MeshAttr mesh, const SubAxes &axes);

/// The start of the device's block of a dimension, as tensor<i64>.
mlir::Value blockOffset(mlir::OpBuilder &builder, mlir::Location loc,
                        MeshAttr mesh, const SubAxes &axes, int64_t blockSize);

/// Fills the block with the absent element of `kind` after the valid extent of
/// `dim`, whose global size is `size`.
mlir::Value maskPadding(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value block, unsigned dim, int64_t size,
                        MeshAttr mesh, const SubAxes &axes, ReduceKind kind);

/// The sharding of one op, read from its types with layouts.
struct OpBlocks {
  OpWithRule ruled;
  MeshAttr mesh; ///< null if no type has a layout
  FactorAxes axes;

  explicit OpBlocks(mlir::Operation &op);
};

/// Gives the local form of an op the positions of its blocks and the data of
/// other devices.
class BlockPlacement : public LocalPlacement {
public:
  BlockPlacement(mlir::TypeRange globalTypes,
                 const OpBlocks &blocks [[clang::lifetimebound]]);
  mlir::Value resultOffset(mlir::OpBuilder &builder, mlir::Location loc,
                           unsigned result, unsigned dim) const override;
  llvm::ArrayRef<int64_t> globalShape(unsigned result) const override;
  int64_t shards(unsigned factor) const override;
  mlir::Value coordinate(mlir::OpBuilder &builder, mlir::Location loc,
                         unsigned factor) const override;
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value, unsigned factor,
                     unsigned dim) const override;
  mlir::Value fetch(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, unsigned factor, unsigned dim,
                    int64_t block, int64_t offset,
                    int64_t count) const override;
  mlir::Value pick(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value value, mlir::Value positions, unsigned factor,
                   unsigned dim) const override;
  llvm::SmallVector<FilledBoxes> move(mlir::OpBuilder &builder,
                                      mlir::Location loc,
                                      mlir::ValueRange operands,
                                      const MovedBoxes &boxes) const override;
  bool isFetched(unsigned operand, unsigned dim) const override {
    return fetched.contains({operand, dim});
  }

  void setFetched(unsigned operand, unsigned dim) {
    fetched.insert({operand, dim});
  }
  /// The number of collectives that the op needed.
  unsigned collectives() const { return numCollectives; }

private:
  LayoutAttr groupOfFactor(unsigned factor) const;
  /// The reason of a collective: "shards of weft.top_k along its select
  /// dimension are ACTION".
  mlir::StringAttr reasonFor(unsigned factor, llvm::StringRef action) const;

  mlir::TypeRange types;
  const OpBlocks &blocks;
  llvm::SmallDenseSet<std::pair<unsigned, unsigned>> fetched;
  mutable unsigned numCollectives = 0;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_LOCALBLOCKS_H
