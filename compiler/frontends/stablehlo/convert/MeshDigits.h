//===- MeshDigits.h - an axis of one mesh as sub-axes of another ----------===//
//
// Private to the StableHLO front end. A program has one mesh. Shardings over
// another mesh of the same devices are expressed by the axes of the former.
// With the mesh <"data"=2, "model"=4>:
//
//   <"batch"=8>                   "batch"  ["data", "model"]
//   <"a"=4, "b"=2>                "a"      ["data", "model":(1)2]
//   <"m"=4, "d"=2>, transposed    "m"      ["model"]
//
// Any order of the devices can be expressed, too: the axes then name positions
// in the order of the program's mesh, and a list has the device at each
// position. <"x"=4, devices = [3, 2, 1, 0]> in <"y"=4>:
//
//   alignedTo      <"x"=4>        "x"      ["y"]
//   orderOn        [3, 2, 1, 0]   place 0 is device 3's
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_MESHDIGITS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_MESHDIGITS_H

#include "weft/layout/Layout.h"

#include <optional>

namespace weft::stablehlo {

/// The axes of `to` that correspond to `axis` of the mesh `from`, major to
/// minor; nothing if no axes of `to` group the devices in the same way.
std::optional<SubAxes> digitsOf(const Mesh &from, const SubAxis &axis,
                                const Mesh &to);

/// Whether all axes of `from` can be expressed by axes of `to` that have the
/// same devices at the same positions.
bool isSameDevices(const Mesh &from, const Mesh &to);

/// The mesh `from`, with its devices reordered if its axes cannot be expressed
/// by those of `to` otherwise. Nothing unless both have the devices 0 to n - 1.
std::optional<Mesh> alignedTo(const Mesh &from, const Mesh &to);

/// The device of `from` at each position of `to`, for axes that are expressed
/// by `aligned`; empty if `aligned` is `from`.
llvm::SmallVector<int64_t> orderOn(const Mesh &from, const Mesh &aligned,
                                   const Mesh &to);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_MESHDIGITS_H
