//===- DotPanels.h - operands of a contraction, packed ----------*- C++ -*-===//
//
// The register tile of a large contraction reads its operands from panels: for
// each step of the contraction the `width` rows (or columns) of a tile are
// adjacent. Of the rows 0..5 of x in panels of width 3,
//
//   x = 00 01 02 03      panel 0: 00 10 20 | 01 11 21 | 02 12 22 | 03 13 23
//       10 11 12 13
//       ...              panel 1: 30 40 50 | 31 41 51 | ...
//       50 51 52 53
//
// so that reads are sequential for any strides of x, and a block of panels fits
// in a cache. A panel past the end repeats the last row. Elements of a panel
// have the type of the sums: bf16 becomes f32 as it is packed.
//
// Integers of at most 16 bits whose sums have 32 are packed with two or four
// steps in an element, whose products x86 adds at once:
//
//   00 10 20 | 01 11 21 | ...   becomes   00,01 10,11 20,21 | 02,03 ...
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_DOTPANELS_H
#define WEFT_COMPILER_CODEGEN_CPU_DOTPANELS_H

#include "weft/compiler/codegen/cpu/DotShape.h"

namespace weft::cpu {

using nest::DotPath;
/// The offset of a position of a path.
mlir::Value offset(elements::ElementEmitter &emitter, const DotPath &path,
                   mlir::Value position);

/// Panels of one operand with elements of `type`: `width` positions across, and
/// the contraction along them.
struct DotPanels {
  mlir::Value pointer, base; ///< base: the offset of the batch's element
  mlir::Type type;
  DotPath across, along;
  int64_t width;
  int64_t together = 1; ///< steps in an element
  /// Whether the high bit of each byte is flipped: the processor takes the bytes
  /// of one operand as unsigned, so -1 is 127, for 128 more.
  bool flips = false;
};

/// Positions [first, first + count) of a path.
struct DotRange {
  mlir::Value first, count;
};

/// Packs positions `across` in ceil(count / width) panels of along.count steps
/// each, of elements of type `packed`. `across` starts at a multiple of the
/// width, `along` at one of the vector's length.
void packPanels(KernelEmitter &kernel, const DotPanels &panels, DotRange across,
                DotRange along, mlir::Type packed, mlir::Value to);

/// The elements of a panel for each position across.
mlir::Value packedSteps(elements::ElementEmitter &emitter, mlir::Value steps,
                        const DotPanels &panels);

/// The number of panels: ceil(positions / width).
mlir::Value panelCount(elements::ElementEmitter &emitter, mlir::Value positions,
                       int64_t width);

/// Emits an if whose branches are emitted by `then` and `otherwise`.
void emitIf(elements::ElementEmitter &emitter, mlir::Value condition,
            llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise);

/// Builds a loop over [begin, end) that LLVM does not transform: unrolling and
/// vectorizing all loops of a packed contraction took 150 ms of compile time,
/// and made nothing faster.
void eachPlain(elements::ElementEmitter &emitter, mlir::Value begin,
               mlir::Value end, llvm::function_ref<void(mlir::Value i)> body);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_DOTPANELS_H
