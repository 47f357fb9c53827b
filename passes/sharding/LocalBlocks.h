//===- LocalBlocks.h - what one device holds of a tensor --------*- C++ -*-===//
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

/// The type of every device's block; the type itself where it has no layout.
mlir::Type localType(mlir::Type global);

/// The axes as the rank-1 layout by which `coll` ops name a group.
LayoutAttr groupOf(MeshAttr mesh, const SubAxes &axes);

/// tensor<i64>: where the device's block of a dimension starts.
mlir::Value blockOffset(mlir::OpBuilder &builder, mlir::Location loc,
                        MeshAttr mesh, const SubAxes &axes, int64_t blockSize);

/// The block with the absent element of `kind` behind the valid extent of `dim`,
/// whose global size is `size`.
mlir::Value maskPadding(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value block, unsigned dim, int64_t size,
                        MeshAttr mesh, const SubAxes &axes, ReduceKind kind);

/// How one op is sharded, read from its types with layouts.
struct OpBlocks {
  OpWithRule ruled;
  MeshAttr mesh; ///< null where no type has a layout
  FactorAxes axes;

  explicit OpBlocks(mlir::Operation &op);
};

/// Where an op's results lie, and what its devices tell each other.
class BlockPlacement : public LocalPlacement {
public:
  BlockPlacement(mlir::TypeRange globalTypes, const OpBlocks &blocks);
  mlir::Value resultOffset(mlir::OpBuilder &builder, mlir::Location loc,
                           unsigned result, unsigned dim) const override;
  llvm::ArrayRef<int64_t> globalShape(unsigned result) const override;
  int64_t shards(unsigned factor) const override;
  mlir::Value coordinate(mlir::OpBuilder &builder, mlir::Location loc,
                         unsigned factor) const override;
  mlir::Value gatherParts(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, unsigned factor,
                          unsigned dim) const override;
  mlir::Value fetchParts(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, unsigned factor, unsigned dim,
                         int64_t block, int64_t offset,
                         int64_t count) const override;
  mlir::Value pickParts(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, mlir::Value positions,
                        unsigned factor, unsigned dim) const override;
  bool isFetched(unsigned operand, unsigned dim) const override {
    return fetched.contains({operand, dim});
  }

  void setFetched(unsigned operand, unsigned dim) {
    fetched.insert({operand, dim});
  }
  /// How many collectives the op asked for.
  unsigned collectives() const { return numCollectives; }

private:
  LayoutAttr groupOfFactor(unsigned factor) const;
  /// "parts of weft.top_k along its select dimension are WHAT".
  mlir::StringAttr reasonFor(unsigned factor, llvm::StringRef what) const;

  mlir::TypeRange types;
  const OpBlocks &blocks;
  llvm::SmallDenseSet<std::pair<unsigned, unsigned>> fetched;
  mutable unsigned numCollectives = 0;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_LOCALBLOCKS_H
