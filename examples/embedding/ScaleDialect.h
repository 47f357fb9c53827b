//===- ScaleDialect.h - a dialect of your own -------------------*- C++ -*-===//
//
//   %1 = "mine.scale"(%x, %s) : (tensor<6x4xf32>, tensor<6xf32>) -> tensor<6x4xf32>
//
// multiplies each row of a matrix by a factor of its own.
//
//===----------------------------------------------------------------------===//

#ifndef EMBEDDING_SCALEDIALECT_H
#define EMBEDDING_SCALEDIALECT_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

/// Adds the dialect `mine`, whose op has the interfaces that Weft needs.
void registerScaleDialect(mlir::DialectRegistry &registry);

#endif // EMBEDDING_SCALEDIALECT_H
