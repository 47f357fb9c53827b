//===- KnownNumbers.h - integers that a program calculates ------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_KNOWNNUMBERS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_KNOWNNUMBERS_H

#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"

namespace weft::stablehlo {

/// The integers of a converted value that is computed from constants only: a
/// shape such as concatenate(get_dimension_size %x, 2 * 3). At most 64 of them;
/// empty if it depends on an argument.
std::optional<Ints> knownNumbers(mlir::Value value);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_KNOWNNUMBERS_H
