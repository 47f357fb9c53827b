//===- ExplainedBytes.cpp - bytes of a plan's only collective -------------===//
//
// This function has a file of its own because the names of the compiler and of
// the plan's schema clash.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/ExplainedBytes.h"

#include "weft/compiler/explain/Explain.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Parser/Parser.h"

int64_t explainedBytes(const std::string &plan) {
  static mlir::MLIRContext context;
  context.loadDialect<weft::WeftDialect, weft::plan::PlanDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(plan, &context);
  if (!module)
    return -1;
  weft::Explanation explained = weft::explainProgram(*module);
  return explained.collectives.size() == 1 ? explained.collectives.front().bytes
                                           : -1;
}
