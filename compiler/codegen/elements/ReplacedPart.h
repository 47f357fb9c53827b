//===- ReplacedPart.h - ops that change a part of a tensor -------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_REPLACEDPART_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_REPLACEDPART_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"

#include <optional>

namespace weft::elements {

/// A result that is `input` except for a block of `sizes` at `starts`.
struct ReplacedPart {
  mlir::Value input;
  llvm::SmallVector<mlir::Value> starts; ///< computed before all loops
  llvm::SmallVector<int64_t> sizes;
};

/// The replaced part of an op's argument of the kernel, if the op replaces one.
mlir::FailureOr<std::optional<ReplacedPart>>
replacedPart(ElementEmitter &emitter, mlir::Operation *op);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_REPLACEDPART_H
