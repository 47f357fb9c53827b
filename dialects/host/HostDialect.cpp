//===- HostDialect.cpp - the host dialect ---------------------------------===//

#include "weft/dialects/host/Host.h"
#include "weft/dialects/plan/Plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace weft;

#include "weft/dialects/host/HostDialect.cpp.inc"

#define GET_OP_CLASSES
#include "weft/dialects/host/HostOps.cpp.inc"

void host::HostDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/host/HostOps.cpp.inc"
      >();
}

LogicalResult host::CallOp::verify() {
  if (static_cast<int64_t>(getFunction()) < 0) // (C1)
    return emitOpError("calls function ")
           << static_cast<int64_t>(getFunction()) << "; numbers start at 0";
  return success();
}

plan::CommunicationAttrInterface host::CallOp::getCommunication() {
  return plan::HostCallAttr::get(getContext(), getFunction());
}

StringRef host::CallOp::getCollectiveName() { return kCallName; }
