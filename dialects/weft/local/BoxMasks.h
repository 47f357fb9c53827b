//===- BoxMasks.h - where boxes are in a device's block ---------*- C++ -*-===//
//
// The box [2:5] of 8 rows, of which the device has rows 4 to 7:
//
//   positions 4, 5, 6, 7 >= 2 and < 5     true, false, false, false
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_LOCAL_BOXMASKS_H
#define WEFT_DIALECTS_WEFT_LOCAL_BOXMASKS_H

#include "weft/dialects/weft/local/LocalBuilder.h"

namespace weft {

/// Builds masks of the device's block, of this shape, of the first result.
class BoxMasks {
public:
  BoxMasks(LocalBuilder &b [[clang::lifetimebound]],
           llvm::ArrayRef<int64_t> shape,
           const LocalPlacement &placement [[clang::lifetimebound]])
      : b(b), shape(shape), placement(placement), positions(shape.size()) {}
  /// True for elements in one of the boxes.
  mlir::Value of(llvm::ArrayRef<MovedBox> boxes);
  /// The positions of the block's elements along a dimension, as
  /// tensor<nxi64>.
  mlir::Value position(unsigned r);

private:
  mlir::Value inBox(const MovedBox &box);
  mlir::Value both(mlir::Value a, mlir::Value c);

  LocalBuilder &b;
  llvm::ArrayRef<int64_t> shape;
  const LocalPlacement &placement;
  llvm::SmallVector<mlir::Value> positions;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_LOCAL_BOXMASKS_H
