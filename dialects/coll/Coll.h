//===- Coll.h - the coll dialect --------------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_COLL_COLL_H
#define WEFT_DIALECTS_COLL_COLL_H

#include "weft/dialects/plan/PlanInstruction.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weft::coll {

/// A resource that collectives read, so that no collective is moved into or out
/// of a condition.
struct Links : mlir::SideEffects::Resource::Base<Links> {
  llvm::StringRef getName() final { return "links"; }
};

using plan::groupAxes;
using plan::groupOver;
using plan::groupSize;
/// The names of the dialect's collectives: all_gather, all_reduce, ...
std::vector<llvm::StringRef> collectiveNames();

} // namespace weft::coll

#include "weft/dialects/coll/CollDialect.h.inc"
#define GET_OP_CLASSES
#include "weft/dialects/coll/CollOps.h.inc"

#endif // WEFT_DIALECTS_COLL_COLL_H
