//===- ReadArtifact.h - portable artifacts that may be damaged --*- C++ -*-===//
//
// Reads artifacts in a process of its own, which returns text, as MLIR's reader
// of bytecode is not safe on damaged files (found by fuzzing).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_ARTIFACT_READARTIFACT_H
#define WEFT_TOOLS_WEFT_ARTIFACT_READARTIFACT_H

#include "weft/base/Result.h"

#include <string>

namespace weft::tool {

/// The program as text that stablehlo::read takes; `name` is used in messages.
/// The time of computing is limited by the number of bytes.
Result<std::string> artifactText(const std::string &bytes,
                                 const std::string &name);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_ARTIFACT_READARTIFACT_H
