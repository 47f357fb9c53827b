//===- ConvolutionNest.h - convolutions in registers ------------*- C++ -*-===//
//
// A tile of a few places and vectors of output features is kept in registers
// while the window and the input features are walked; nothing is unfolded or
// packed. 8x32x32x3 with 3x3x3x16, tiles of 6 places and one vector of 16:
//
//   for sample, row, tile of 6 columns     acc[6] = 0
//     for ky, kx, c                          w = kernel[ky, kx, c, 0..16]
//                                            acc[i] += x[.., column + i + kx - 1, c] * w
//     result = acc
//
// Where output features of the kernel do not lie side by side but input features
// do (the derivative of the input), vectors run along these and are summed at
// the end. With one input feature in each group (depthwise), or one sample, x is a
// vector too.
// Places tile along the last spatial dimension, or along samples where that is
// short (the derivative of the kernel).
//
// Base dilation is not computed: window element k counts for place p only where
// p * stride + k - low is a multiple of it, so k starts at the first that is
// and steps by it, and a tile has every so-manieth place.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_CONVOLUTIONNEST_H
#define WEFT_COMPILER_CODEGEN_CPU_CONVOLUTIONNEST_H

#include "weft/compiler/codegen/cpu/KernelEmitter.h"

namespace weft {
class ConvolutionOp;
} // namespace weft

namespace weft::cpu {

/// The dimension of the result whose loop is tiled.
int64_t tiledDimension(ConvolutionOp op);
/// False, and nothing emitted, where strides or element types do not suit.
bool emitTiledConvolution(KernelEmitter &kernel, ConvolutionOp op);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_CONVOLUTIONNEST_H
