//===- DotShape.h - a contraction as strides --------------------*- C++ -*-===//
//
//   %c = weft.dot %a, %b contract [1] x [0]
//        : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32>
//
//   rows {16: lhs 784, result 200}, columns {200: rhs 1, result 1},
//   contract {784: lhs 1, rhs 200}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H
#define WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H

#include "weft/compiler/codegen/cpu/KernelEmitter.h"

namespace weft::cpu {

/// `size` steps, each so many elements apart in the three tensors.
struct DotDimension {
  int64_t size, lhs, rhs, result;
};

/// Neighbouring dimensions are joined where strides allow, and dimensions of
/// one element are left out.
struct DotShape {
  mlir::Value lhs, rhs, result;
  mlir::Type lhsType, rhsType, resultType; ///< of elements
  llvm::SmallVector<DotDimension, 2> batch, rows, columns, contract;
};

/// Nothing if an operand is not in memory.
std::optional<DotShape> dotShape(elements::ElementEmitter &emitter, DotOp op);
/// How rows can be shared by parts: in tiles, of which one takes some at least.
struct DotRows {
  int64_t tile, partTiles;
};

/// Elements of the result in a vector.
int64_t lanesOf(const KernelEmitter &kernel, const DotShape &shape);
/// In register tiles (FloatDot.cpp, large ones PackedDot.cpp); false, and
/// nothing emitted, where the element types or strides do not suit.
bool emitFloatDot(KernelEmitter &kernel, const DotShape &shape);
/// Nothing where emitFloatDot would emit nothing.
std::optional<DotRows> floatDotRows(KernelEmitter &kernel,
                                    const DotShape &shape);
/// Is a contraction large enough to pay for packing it? Awkward: its strides
/// suit no tile that is not packed.
bool suitsPackedDot(KernelEmitter &kernel, const DotShape &shape,
                    bool isAwkward);
void emitPackedDot(KernelEmitter &kernel, const DotShape &shape);
DotRows packedDotRows(KernelEmitter &kernel);
void emitSimpleDot(KernelEmitter &kernel, const DotShape &shape);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H
