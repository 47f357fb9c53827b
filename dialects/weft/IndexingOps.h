//===- IndexingOps.h - gather, scatter, one_hot -----------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_INDEXINGOPS_H
#define WEFT_DIALECTS_WEFT_INDEXINGOPS_H

#include "weft/dialects/weft/IndexedBlocks.h"
#include "weft/dialects/weft/Weft.h"

#define GET_OP_CLASSES
#include "weft/dialects/weft/IndexingOps.h.inc"

namespace weft {
/// The reduction that combines updates; none for `set`, where the last one stays.
std::optional<ReduceKind> reductionOf(ScatterKind kind);
} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INDEXINGOPS_H
