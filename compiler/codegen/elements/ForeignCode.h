//===- ForeignCode.h - code that ops of other projects make -----*- C++ -*-===//
//
//   std::string names = foreignOps(kernel);          "mine.scale"
//   ... emit the kernel's code ...
//   if (failed(verifyForeignCode(names, code)))      code of mine.scale
//
// Weft's own element code is tested for every op and not verified in each
// program. Another project's may compute an element outside of the loop that
// counts its position, or add numbers of two types.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_FOREIGNCODE_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_FOREIGNCODE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace weft::elements {

/// The names of the ops in a kernel that are not Weft's, with commas; empty if
/// all are Weft's.
std::string foreignOps(mlir::func::FuncOp kernel);

/// Verifies the code of a kernel with foreign ops; nothing if there are none.
llvm::LogicalResult verifyForeignCode(llvm::StringRef names,
                                      mlir::Operation *code);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_FOREIGNCODE_H
