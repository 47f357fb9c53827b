//===- ReplacedPart.h - ops that change a part of a tensor -------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_REPLACEDPART_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_REPLACEDPART_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"

#include <optional>

namespace weft::elements {

/// The result is `input` but for the block that starts there.
struct ReplacedPart {
  mlir::Value input;
  llvm::SmallVector<mlir::Value> starts; ///< known in front of all loops
  llvm::SmallVector<int64_t> sizes;
};

/// Of an op that replaces a part of an argument of the kernel.
mlir::FailureOr<std::optional<ReplacedPart>>
replacedPart(ElementEmitter &emitter, mlir::Operation *op);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_REPLACEDPART_H
