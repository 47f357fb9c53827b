//===- KnownNumbers.h - integers that a program calculates ------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_KNOWNNUMBERS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_KNOWNNUMBERS_H

#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"

namespace weft::stablehlo {

/// The integers of a converted value, at most 64, if it is computed from
/// constants only, as the shape concatenate(get_dimension_size %x, 2 * 3).
/// Nothing if it depends on an argument, or on more than 256 ops.
std::optional<Ints> knownNumbers(mlir::Value value);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_KNOWNNUMBERS_H
