//===- PortName.h - names of arguments and results for people ---*- C++ -*-===//
//
// A program of JAX has a name in its text for each argument and result:
//
//   func.func public @main(%arg0: tensor<8xf32> loc("p['l'][0]['d']"), ...)
//       -> (tensor<f32> {jax.result_info = "result[0]"})
//
// Arrays in files are named in/000 and out/000; reports use the program's names:
//
//   %arg0: tensor<8xf32> {weft.name = "in/000", weft.source_name = "p['l'][0]['d']"}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_PORTNAME_H
#define WEFT_DIALECTS_WEFT_PORTNAME_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

/// The attribute with the name in the program's text.
inline constexpr llvm::StringLiteral kSourceNameAttr = "weft.source_name";

/// The name for people of an argument or result with these attributes, which may
/// be null; null if it has none.
inline mlir::StringAttr shownName(mlir::DictionaryAttr attributes) {
  if (!attributes)
    return {};
  auto name = attributes.getAs<mlir::StringAttr>(kSourceNameAttr);
  return name ? name : attributes.getAs<mlir::StringAttr>(kNameAttr);
}

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_PORTNAME_H
