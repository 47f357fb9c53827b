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

#include "weft/base/Result.h"
#include "weft/compiler/stages/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace weft::tool {

/// The program at a stage; null after a printed error.
using ReachStage =
    std::function<Result<mlir::OwningOpRef<mlir::ModuleOp>>(Stage)>;

/// Whether the differentiated program and the one of each later stage that can
/// be interpreted give the same results on every device; prints the line above,
/// or an error with the first element that differs, to standard error.
Status verifyStages(const ReachStage &reach, uint64_t seed);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_VERIFYSTAGES_H
