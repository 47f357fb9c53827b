//===- UpdatedSlice.h - ops that change a slice of a tensor -----*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_UPDATEDSLICE_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_UPDATEDSLICE_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"

#include <optional>

namespace weft::elements {

/// A result that is `input` except for a block of `sizes` at `starts`.
struct UpdatedSlice {
  mlir::Value input;
  llvm::SmallVector<mlir::Value> starts; ///< computed before all loops
  llvm::SmallVector<int64_t> sizes;
};

/// The slice that the op updates of an argument of the kernel; nothing for
/// other ops.
mlir::FailureOr<std::optional<UpdatedSlice>>
updatedSlice(ElementEmitter &emitter, mlir::Operation *op);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_UPDATEDSLICE_H
