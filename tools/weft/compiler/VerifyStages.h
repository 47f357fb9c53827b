//===- VerifyStages.h - do the stages keep a step's meaning? ----*- C++ -*-===//
//
//   verified: global program = 8 devices (stage partitioned, scheduled)
//
// is printed by `--verify` before a step is compiled. Inputs are drawn from the
// seed; both programs run in the reference interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_VERIFYSTAGES_H
#define WEFT_TOOLS_WEFT_COMPILER_VERIFYSTAGES_H

#include "weft/tools/weft/compiler/StepCompiler.h"

namespace weft::tool {

/// Whether the differentiated step and the program of each later stage that can
/// be interpreted give the same results on every device; prints the line above,
/// or an error with the first element that differs, to standard error.
bool verifyStages(StepCompiler &steps, const std::string &step,
                  int64_t batchSize);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_VERIFYSTAGES_H
