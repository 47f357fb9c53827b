//===- LocalBuilder.h - small things that local ops are built of ----------===//
//
//   b.clamp(%start, 0, 6)          tensor<i64>: a start moved inside
//   b.positions(4, %offset)        tensor<4xi64>: offset, offset + 1, ...
//   b.along(%v, {2, 4}, 1)         tensor<4xi64> repeated to tensor<2x4xi64>
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_LOCAL_LOCALBUILDER_H
#define WEFT_DIALECTS_WEFT_LOCAL_LOCALBUILDER_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

struct LocalBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// tensor<i64>, or a splat in the given shape.
  mlir::Value integer(int64_t value, llvm::ArrayRef<int64_t> shape = {});
  /// The value's integers converted to i64; larger integers become the largest
  /// i64.
  mlir::Value asI64(mlir::Value value);
  mlir::Value clamp(mlir::Value value, int64_t least, int64_t most);
  /// The positions start, start + 1, ... ; `start` is tensor<i64> or null for
  /// 0.
  mlir::Value positions(int64_t count, mlir::Value start = {});
  /// Broadcasts a vector along `dim` to the shape, or a scalar (`dim` < 0).
  mlir::Value along(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                    int64_t dim = -1);
  mlir::Value compare(CompareKind kind, mlir::Value a, mlir::Value b);
  /// Pads the value with zeros, or a scalar's data, to at least this shape.
  mlir::Value padTo(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                    mlir::DenseElementsAttr with = {});
  /// Cuts the value to the first elements of each dimension, as many as the
  /// shape has.
  mlir::Value cutTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// The elements at `positions` (tensor<nxi64>, which exist) along `dim`.
  mlir::Value takeAlong(mlir::Value value, mlir::Value positions, int64_t dim);
  /// Joins n scalars to a tensor<nxi64>.
  mlir::Value vectorOf(llvm::ArrayRef<mlir::Value> scalars);
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_LOCAL_LOCALBUILDER_H
