//===- Plan.cpp - the plan dialect ----------------------------------------===//

#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Sizes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;
using namespace weft::plan;

#include "weft/dialects/plan/PlanDialect.cpp.inc"
#define GET_OP_CLASSES
#include "weft/dialects/plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/plan/PlanOps.cpp.inc"
      >();
}

LogicalResult ProgramOp::verifyRegions() {
  llvm::StringSet<> labels;
  for (auto label : getOps<LabelOp>())
    if (!labels.insert(label.getName()).second) // (C2)
      return label.emitOpError("defines label ")
             << label.getNameAttr() << " twice";
  for (auto buffer : getOps<BufferOp>()) {
    int64_t offset = buffer.getOffset();
    int64_t end =
        saturatingAdd(offset, bufferBytes(cast<MemRefType>(buffer.getType())));
    if (offset < 0 || end > static_cast<int64_t>(getArena())) // (C1)
      return buffer.emitOpError("ends at byte ")
             << end << " of an arena of " << getArena();
  }
  auto checkTarget = [&](Operation *op, StringAttr target) -> LogicalResult {
    if (labels.contains(target.getValue()))
      return success();
    return op->emitOpError("jumps to unknown label ") << target; // (C2)
  };
  for (auto jump : getOps<JumpOp>())
    if (failed(checkTarget(jump, jump.getTargetAttr())))
      return failure();
  for (auto jump : getOps<JumpUnlessOp>())
    if (failed(checkTarget(jump, jump.getTargetAttr())))
      return failure();
  return success();
}

LogicalResult OutputOp::verify() {
  if (!getDonor())
    return success();
  if (!getDonor().getDefiningOp<InputOp>()) // (C1)
    return emitOpError("takes over a buffer that is no input");
  if (getDonor().getType() != getBuffer().getType()) // (C1)
    return emitOpError("takes over ")
           << getDonor().getType() << " but has type " << getBuffer().getType();
  return success();
}

ArrayRef<llvm::StringLiteral> plan::collectiveKinds() {
  static constexpr llvm::StringLiteral kinds[] = {
      "all_reduce", "all_gather", "reduce_scatter",
      "all_to_all", "permute",    "exchange",
      "fetch",      "pick",       "collective_permute",
      "host_call"};
  return kinds;
}

LogicalResult CollectiveOp::verify() {
  if (!llvm::is_contained(collectiveKinds(), getKind())) // (C1)
    return emitOpError("has unknown kind ") << getKindAttr();
  return success();
}
