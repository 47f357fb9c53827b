//===- VerifyStages.h - do the stages keep a step's meaning? ----*- C++ -*-===//
//
//   verified: global program = 8 devices (stage partitioned, scheduled)
//
// is what `--verify` prints before a step is compiled. Inputs are drawn from
// the seed; both programs run in the reference interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_VERIFYSTAGES_H
#define WEFT_TOOLS_WEFT_COMPILER_VERIFYSTAGES_H

#include "weft/tools/weft/compiler/StepCompiler.h"

namespace weft::tool {

/// Whether the differentiated step means the same on every device of the mesh
/// after each later stage that can be interpreted; the line above, or an error
/// that names the first element that differs, is on standard error.
bool verifyStages(StepCompiler &steps, const std::string &step,
                  int64_t batchSize);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_VERIFYSTAGES_H
