//===- DotPanels.h - operands of a contraction, packed ----------*- C++ -*-===//
//
// The register tile of a large contraction reads its operands from panels: for
// each step of the contraction the `width` rows (or columns) of a tile, side
// by side. Of the rows 0..5 of x in panels of width 3,
//
//   x = 00 01 02 03      panel 0: 00 10 20 | 01 11 21 | 02 12 22 | 03 13 23
//       10 11 12 13
//       ...              panel 1: 30 40 50 | 31 41 51 | ...
//       50 51 52 53
//
// so that whatever the strides of x, what is read next lies next, and a block
// of panels fits a cache. A panel past the end repeats the last row. Elements of
// a panel have the type that is computed in: bf16 becomes f32 as it is packed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_DOTPANELS_H
#define WEFT_COMPILER_CODEGEN_CPU_DOTPANELS_H

#include "weft/compiler/codegen/cpu/DotShape.h"

namespace weft::cpu {

using nest::DotPath;
/// Where a position of a path lies.
mlir::Value offset(elements::ElementEmitter &emitter, const DotPath &path,
                   mlir::Value position);

/// One operand of elements of `type`: panels of `width` positions across, and
/// the contraction along them.
struct DotPanels {
  mlir::Value pointer, base; ///< base: the offset of the batch's element
  mlir::Type type;
  DotPath across, along;
  int64_t width;
};

/// Positions [first, first + count) of a path.
struct DotRange {
  mlir::Value first, count;
};

/// Packs positions `across` in ceil(count / width) panels of along.count steps
/// each, of elements of type `packed`. Both ranges begin at a multiple of what they are counted in: the width
/// and the vector.
void packPanels(KernelEmitter &kernel, const DotPanels &panels, DotRange across,
                DotRange along, mlir::Type packed, mlir::Value to);

/// ceil(positions / width).
mlir::Value panelCount(elements::ElementEmitter &emitter, mlir::Value positions,
                       int64_t width);

/// Both close the loops that they open.
void emitIf(elements::ElementEmitter &emitter, mlir::Value condition,
            llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise);

/// A loop that LLVM leaves as it is: unrolling and vectorizing all loops of a
/// packed contraction took 150 ms of compile time, and made nothing faster.
mlir::Value openPlainLoop(elements::ElementEmitter &emitter, mlir::Value begin,
                          mlir::Value end, mlir::ValueRange carried = {});

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_DOTPANELS_H
