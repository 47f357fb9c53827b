//===- MeshDigits.h - an axis of one mesh as sub-axes of another ----------===//
//
// Private to the StableHLO front end. A program has one mesh; shardings over
// another mesh of the same devices are said in its axes. With the mesh
// <"data"=2, "model"=4>:
//
//   <"batch"=8>                   "batch"  ["data", "model"]
//   <"a"=4, "b"=2>                "a"      ["data", "model":(1)2]
//   <"m"=4, "d"=2>, transposed    "m"      ["model"]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_MESHDIGITS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_MESHDIGITS_H

#include "weft/dialects/weft/Layout.h"

#include <optional>

namespace weft::stablehlo {

/// `part` of the mesh `from`, major to minor; nothing where the devices along
/// it are no digits of `to`.
std::optional<SubAxes> digitsOf(const Mesh &from, const SubAxis &part,
                                const Mesh &to);

/// Can all axes of `from` be said in those of `to`, and do the same devices
/// then lie at the same places?
bool isSameDevices(const Mesh &from, const Mesh &to);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_MESHDIGITS_H
