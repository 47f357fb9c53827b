//===- ConvolutionNest.h - convolutions in registers ------------*- C++ -*-===//
//
// TiledConvolution emits the loops of a convolution: ConvolutionNest.cpp those
// around a tile, ConvolutionTile.cpp those of a tile.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_CONVOLUTIONNEST_H
#define WEFT_COMPILER_CODEGEN_CPU_CONVOLUTIONNEST_H

#include "weft/compiler/codegen/cpu/ElementVectors.h"
#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/dialects/nest/ConvolutionShape.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ops/WindowOps.h"

namespace weft::cpu {

/// A dimension of the window: its loop, and the position of the element.
struct WindowLoop {
  Window window;
  int64_t size;      ///< size of the input
  int64_t lhs, rhs;  ///< strides in the operands
  mlir::Value place; ///< position in the result
  mlir::Value k;
};

/// A convolution with vectors, one tile at a time.
class TiledConvolution {
  using Lanes = nest::ConvolutionLanes;

public:
  TiledConvolution(KernelEmitter &kernel [[clang::lifetimebound]],
                   ConvolutionOp op, nest::ConvolutionAttr walk)
      : kernel(kernel), e(kernel.elements), b(e.builder), loc(e.loc), op(op),
        walk(walk), type(typeOf(op.getResult())),
        element(type.getElementType()),
        lhsVectors(b, loc, typeOf(op.getLhs()).getElementType(), element),
        rhsVectors(b, loc, typeOf(op.getRhs()).getElementType(), element),
        givenVectors(rhsVectors), vectors(b, loc, element, element) {}
  mlir::LogicalResult emit();

private:
  struct Tile {
    int64_t places, columns; ///< columns: a count of vectors or of features
    int64_t features;        ///< output features of the tile
  };
  bool place();
  mlir::Value constant(int64_t value) { return e.constant(value); }
  mlir::Value scaled(mlir::Value value, int64_t by) { return e.mul(value, by); }

  void placeExtended();
  void copyKernel(mlir::Value to);
  void extend(ElementVectors &of, mlir::Value &pointer, mlir::Value first,
              int64_t count, mlir::Value to);
  void copyPanel(const Tile &tile, mlir::Value feature);
  void emitPanels();
  void emitRows();
  void emitPlaces();
  void openGroup();
  void emitTile(const Tile &tile, mlir::Value feature);
  bool isClipped(int64_t i) const;
  mlir::Value firstInWindow(const Window &w, mlir::Value before);
  void openWindow(unsigned i, llvm::SmallVector<mlir::Value> &sums);
  llvm::SmallVector<mlir::Value> close(unsigned depth,
                                       llvm::SmallVector<mlir::Value> sums);
  llvm::SmallVector<mlir::Value> products(const Tile &tile, mlir::Value feature,
                                          mlir::Value input, int64_t count,
                                          mlir::ValueRange sums);
  mlir::Value visible(unsigned place, mlir::Value &offset);
  void store(const Tile &tile, mlir::Value feature,
             llvm::ArrayRef<mlir::Value> sums);

  KernelEmitter &kernel;
  elements::ElementEmitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  ConvolutionOp op;
  nest::ConvolutionAttr walk;
  mlir::RankedTensorType type;
  mlir::Type element; ///< the element type of the result
  ElementVectors lhsVectors, rhsVectors, givenVectors, vectors;
  elements::StridedView lhs, rhs;
  elements::StridedView given;        ///< the kernel before it is copied
  llvm::SmallVector<int64_t> strides; ///< strides of the result
  int64_t lanes = 1, groups = 1, features = 0, inputs = 0; ///< sizes of a group
  Lanes along = Lanes::Outputs;
  bool inputsOutside = false;
  llvm::SmallVector<WindowLoop> windows;
  int64_t tiled = 0, tiledSpatial = -1, period = 1; ///< -1 if samples are tiled
  Tile tile{1, 1, 1};
  mlir::Value sample, tilePlace,
      resultBase;                       ///< values at the tile's first place
  mlir::Value firstFeature, firstInput; ///< first numbers in the group
  mlir::Value extendedSample;           ///< null if loads extend the elements
  mlir::Value panel;        ///< memory of the panel; null if there are none
  Tile panelTile{};         ///< the tiles that are walked with the panel
  mlir::Value panelFeature; ///< the panel's first feature
};

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_CONVOLUTIONNEST_H
