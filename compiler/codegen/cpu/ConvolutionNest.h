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

/// A dimension of the window.
struct WindowDim {
  Window window;
  int64_t size;     ///< size of the input
  int64_t lhs, rhs; ///< strides in the operands
};

/// A convolution with vectors, one tile at a time.
class TiledConvolution {
  using Lanes = nest::ConvolutionLanes;
  using Values = llvm::SmallVector<mlir::Value>;

public:
  TiledConvolution(KernelEmitter &kernel [[clang::lifetimebound]],
                   ConvolutionOp op, nest::ConvolutionAttr walk)
      : kernel(kernel), e(kernel.elements), b(e.builder), loc(e.loc), op(op),
        walk(walk), type(typeOf(op.getResult())),
        element(type.getElementType()), vectors(b, loc, element, element),
        along(walk.getLanes()) {}
  mlir::LogicalResult emit();

private:
  /// A tensor that the products read.
  struct Operand {
    elements::StridedView view;
    ElementVectors vectors;
  };
  struct Tile {
    int64_t places, columns; ///< columns: a count of vectors or of features
    int64_t features;        ///< output features of the tile
  };
  /// The panel that all places are walked with: the kernel's elements for the
  /// output features of a tile.
  struct Panel {
    Tile tile;
    mlir::Value feature; ///< the first one
  };
  /// The operands of a tile, and its first place: each loop adds what it knows.
  struct At {
    Operand lhs, rhs;
    std::optional<Panel> panel = {};
    mlir::Value result = {}; ///< offset of the first place in the result
    mlir::Value sample = {};
    Values places = {}; ///< positions in the result, for each window dimension
    mlir::Value firstInput = {}; ///< first input feature of the group
    unsigned depth = 0;          ///< loops around the tile
  };
  /// The iterations of a loop over the products of a tile.
  struct Range {
    mlir::Value first, end, step;
  };
  /// An element that a window reads: its position along one dimension, or its
  /// offset in memory, and whether it exists (null: always).
  struct Seen {
    mlir::Value at, exists;
  };

  std::optional<At> place();
  mlir::Value constant(int64_t value) { return e.constant(value); }
  mlir::Value scaled(mlir::Value value, int64_t by) { return e.mul(value, by); }

  /// Copies the kernel's elements in loops over these dimensions.
  void
  copyKernel(llvm::ArrayRef<int64_t> dims, const At &at, mlir::Value from,
             mlir::Value to,
             llvm::function_ref<void(mlir::Value from, mlir::Value to)> copy);
  void copyKernel(At &at);
  void extendSample(At &at);
  void copyPanel(At &at, const Tile &tile, mlir::Value feature);
  /// Gives full tiles of the features from `first` on to `emit`, then the rest.
  void eachTile(
      mlir::Value first,
      llvm::function_ref<void(const Tile &tile, mlir::Value feature)> emit);
  void emitRows(llvm::ArrayRef<int64_t> dims, const At &at);
  void emitPlaces(const At &at);
  void emitGroups(const At &at);
  void emitTile(const Tile &tile, mlir::Value feature, At at);

  using Body = llvm::function_ref<Values(mlir::Value i, mlir::ValueRange sums)>;
  using InWindow =
      llvm::function_ref<Values(mlir::ValueRange k, mlir::ValueRange sums)>;
  Values sumLoop(const At &at, const Range &range, mlir::ValueRange sums,
                 Body body);
  Values overInputs(const At &at, mlir::ValueRange sums, Body body);
  Values overWindow(const At &at, mlir::ValueRange k, mlir::ValueRange sums,
                    InWindow body);
  bool isClipped(unsigned i) const;
  mlir::Value firstInWindow(const Window &w, mlir::Value before);
  std::optional<Range> rangeOf(unsigned i, mlir::Value place);
  Seen see(unsigned i, unsigned place, mlir::Value first, mlir::Value k);
  Seen see(unsigned place, const At &at, mlir::ValueRange k, mlir::Value input);
  Values lanesOfInputs(const Tile &tile, mlir::Value feature, const At &at,
                       mlir::ValueRange k, mlir::ValueRange sums);
  Values products(const Tile &tile, mlir::Value feature, const At &at,
                  mlir::ValueRange k, mlir::Value input, int64_t count,
                  mlir::ValueRange sums);
  void store(const Tile &tile, mlir::Value feature, const At &at,
             llvm::ArrayRef<mlir::Value> sums);

  KernelEmitter &kernel;
  elements::ElementEmitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  ConvolutionOp op;
  nest::ConvolutionAttr walk;
  mlir::RankedTensorType type;
  mlir::Type element; ///< the element type of the result
  ElementVectors vectors;
  Lanes along;
  // Set by place():
  nest::ConvolutionShape shape;
  std::optional<Operand> given; ///< the kernel before it is copied
  int64_t lanes = 1;
  Tile tile{1, 1, 1};
  llvm::SmallVector<WindowDim> windows;
  mlir::Value sampleMemory; ///< null if samples are read where they are
};

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_CONVOLUTIONNEST_H
