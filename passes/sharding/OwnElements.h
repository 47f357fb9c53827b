//===- OwnElements.h - moves for which devices have all they need *- C++ -*-===//
//
// Eight rows over "x"=2, of which the first takes the place of the second and
// the last that of the last but one: the result's rows 0 to 3 are rows 0, 0, 2,
// 3 of device 0 and rows 4 to 7 are rows 4, 5, 7, 7 of device 1. No element
// moves to another device: each takes its elements from its own shard.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_OWNELEMENTS_H
#define WEFT_PASSES_SHARDING_OWNELEMENTS_H

#include "weft/dialects/weft/local/LocalBuilder.h"

namespace weft {

/// The movement of an op's operand, whose shard the device has.
struct OwnMove {
  const MovedBoxes &boxes;
  MeshAttr mesh;
  const Layout &from, &to;
};

/// Builds the boxes in the device's block of the first result, of this shape,
/// from its own shard. Elements in no box are undefined.
mlir::Value takeOwnElements(LocalBuilder &b, mlir::Value shard,
                            llvm::ArrayRef<int64_t> shape, const OwnMove &move,
                            const LocalPlacement &placement);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_OWNELEMENTS_H
