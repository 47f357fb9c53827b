//===- WeftOps.td - the ops that every pass and front end meets --------------//
//
// Ops of other families have separate headers (IndexingOps.h, ...).

#ifndef WEFT_DIALECTS_WEFT_OPS
#define WEFT_DIALECTS_WEFT_OPS

include "weft/dialects/weft/ops/ElementwiseOps.td"
include "weft/dialects/weft/ops/SourceOps.td"
include "weft/dialects/weft/ops/MovementOps.td"
include "weft/dialects/weft/ops/ReductionOps.td"
include "weft/dialects/weft/ops/LayoutOps.td"

#endif // WEFT_DIALECTS_WEFT_OPS
