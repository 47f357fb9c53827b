//===- LayoutPrice.h - the price of layouts, for explanations ---*- C++ -*-===//
//
// Propagation says of a function whose layouts were chosen by price
//
//   weft.layout_price = array<i64: 4124615, 4123948, 7>
//
// what its movements and its repeated work take, in picoseconds of the mesh's
// links, that no choice of its graph takes less than the second number
// (passes/sharding/propagation/LayoutQuestion.h), and how many bytes the fastest
// link moves in the difference: no choice sends fewer by more. Of a function
// whose conflicts were resolved one after the other, as it has too many devices
// or layouts, it says `array<i64>`: nothing is known of other choices.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_LAYOUTPRICE_H
#define WEFT_DIALECTS_WEFT_LAYOUTPRICE_H

#include "llvm/ADT/StringRef.h"

namespace weft {

inline constexpr llvm::StringLiteral kLayoutPriceAttr = "weft.layout_price";
/// What a byte that a device holds at its fullest moment costs, in 1024ths of a
/// byte that it moves: an integer of a module. The driver raises it until a step
/// fits (compiler/driver/FittingLayouts.h).
inline constexpr llvm::StringLiteral kMemoryWeightAttr = "weft.memory_weight";

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_LAYOUTPRICE_H
