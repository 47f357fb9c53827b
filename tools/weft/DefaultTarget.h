//===- DefaultTarget.h - the target of WEFT_TARGET --------------*- C++ -*-===//
//
//   WEFT_TARGET=cpu:avx2 weft fit model.keras ...   // as with --target cpu:avx2
//
// Only the programs and the PJRT plugin read it, not the libraries.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_DEFAULTTARGET_H
#define WEFT_TOOLS_WEFT_DEFAULTTARGET_H

#include <cstdlib>
#include <string>

namespace weft::tool {

/// The target without --target: the best that this machine runs, unless
/// WEFT_TARGET names another.
inline std::string defaultTarget() {
  const char *target = std::getenv("WEFT_TARGET");
  return target && *target ? target : "native";
}

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_DEFAULTTARGET_H
