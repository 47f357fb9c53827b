//===- Placement.h - which elements of a tile a thread has ------*- C++ -*-===//
//
// Threads or warps of a block, lanes of a warp, registers of a lane and rounds
// of a loop are the axes of a mesh, and a placement is a layout over them, as of a tensor
// over devices (layout/Layout.h). The sums of an instruction on tensor cores,
// 16 x 8 in four registers (PTX ISA, "Matrix Fragments for mma.m16n8k16"):
//
//   mesh "lane"=32, "register"=4
//   rows    [{"register":(1)2, "lane":(1)8}]   register / 2 * 8 + lane / 4
//   columns [{"lane":(8)4, "register":(2)2}]   lane % 4 * 2 + register % 2
//
//   Placement sums({{kLane, 32}, {kRegister, 4}},
//                  {{{kRegister, 1, 2}, {kLane, 1, 8}},
//                   {{kLane, 8, 4}, {kRegister, 2, 2}}});
//   sums.at(nest, 0, {{kLane, lane}})          emits lane / 4
//   sums.at(0, kRegister, 3)                   is 8
//
// A position is the sum of what each axis contributes, so that the part of the
// lane is computed once and registers are constant distances.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_PLACEMENT_H
#define WEFT_COMPILER_CODEGEN_GPU_PLACEMENT_H

#include "weft/compiler/codegen/elements/LoopNest.h"
#include "weft/layout/Layout.h"

namespace weft::gpu {

/// The axes of all placements, major to minor.
enum PlacementAxis : uint32_t { kRound, kThread, kWarp, kLane, kRegister };

class Placement {
public:
  /// Takes the axes' sizes (1 by default), and for each dimension of the tile
  /// its digits, major to minor. Digits must divide their axes.
  Placement(llvm::ArrayRef<std::pair<PlacementAxis, int64_t>> axes,
            std::vector<SubAxes> dims);
  /// Emits the position in a dimension at these coordinates; those of other
  /// axes are 0.
  mlir::Value
  at(elements::LoopNest &nest, unsigned dim,
     llvm::ArrayRef<std::pair<PlacementAxis, mlir::Value>> coordinates) const;
  /// The distance that a coordinate on one axis adds to a position.
  int64_t at(unsigned dim, PlacementAxis axis, int64_t coordinate) const;

private:
  std::vector<MeshAxis> axes;
  std::vector<SubAxes> dims;
};

/// The warp of a thread in its block, and its lane in the warp: digits of its
/// number.
mlir::Value warpOf(elements::LoopNest &nest, mlir::Value thread);
mlir::Value laneOf(elements::LoopNest &nest, mlir::Value thread);

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_PLACEMENT_H
