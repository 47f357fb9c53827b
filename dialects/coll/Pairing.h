//===- Pairing.h - collectives of pairs -------------------------*- C++ -*-===//
//
// The sender of each device's value in coll.collective_permute and
// coll.permute, as XLA's source_target_pairs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_COLL_PAIRING_H
#define WEFT_DIALECTS_COLL_PAIRING_H

#include "mlir/IR/OpDefinition.h"

#include "weft/dialects/coll/CollPairing.h.inc"

namespace weft::coll {

/// Gives the ops of a loaded dialect the interface.
void attachPairings(mlir::MLIRContext *context);

} // namespace weft::coll

#endif // WEFT_DIALECTS_COLL_PAIRING_H
