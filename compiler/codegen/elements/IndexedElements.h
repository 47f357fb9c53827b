//===- IndexedElements.h - positions that are data --------------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_INDEXEDELEMENTS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_INDEXEDELEMENTS_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

namespace weft::elements {

/// The position of a block's element in the tensor. `dims` are always valid
/// positions; `inside` is whether they are the positions of the element, which
/// may be outside of the tensor.
struct BlockPosition {
  llvm::SmallVector<mlir::Value> dims;
  mlir::Value inside;
};

/// The position of the element `index` of the blocks that `indices` choose
/// (gather's result, scatter's updates). With `clamped`, blocks are moved into
/// the tensor.
mlir::FailureOr<BlockPosition>
positionInTensor(ElementEmitter &emitter, const IndexedBlocks &blocks,
                 mlir::Value indices, const ElementIndex &index, bool clamped);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_INDEXEDELEMENTS_H
