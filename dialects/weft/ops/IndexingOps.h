//===- IndexingOps.h - gather, scatter, one_hot -----------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_OPS_INDEXINGOPS_H
#define WEFT_DIALECTS_WEFT_OPS_INDEXINGOPS_H

#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/IndexedBlocks.h"

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/IndexingOps.h.inc"

namespace weft {
/// The reduction that combines updates; none for `set`, which keeps the last
/// one.
std::optional<ReduceKind> reductionOf(ScatterKind kind);
} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_INDEXINGOPS_H
