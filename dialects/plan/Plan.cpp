//===- Plan.cpp - the plan dialect ----------------------------------------===//

#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/PortFactsAttr.h"
#include "weft/layout/Sizes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::plan;

#include "weft/dialects/plan/PlanDialect.cpp.inc"
#include "weft/dialects/plan/PlanEnums.cpp.inc"
#include "weft/dialects/plan/PlanInstruction.cpp.inc"
#include "weft/dialects/plan/PlanInterfaces.cpp.inc"

/// A ring is written as a keyword at the end.
static ParseResult parseRing(AsmParser &parser, bool &isRing) {
  isRing = succeeded(parser.parseOptionalKeyword("ring"));
  return success();
}

static void printRing(AsmPrinter &printer, bool isRing) {
  if (isRing)
    printer << " ring";
}

#define GET_ATTRDEF_CLASSES
#include "weft/dialects/plan/PlanAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "weft/dialects/plan/PlanTypes.cpp.inc"
#define GET_OP_CLASSES
#include "weft/dialects/plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/plan/PlanOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "weft/dialects/plan/PlanAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "weft/dialects/plan/PlanTypes.cpp.inc"
      >();
}

/// (C3) Checks the groups of a program's collectives.
static LogicalResult checkGroups(ProgramOp program) {
  for (Operation &op : program.getBody().front()) {
    auto group = op.getAttrOfType<LayoutAttr>("group");
    if (group && (group.getMesh() != program.getMesh() ||
                  group.getLayout().dims.size() != 1)) // (C3)
      return op.emitOpError("has the group ")
             << group << ", which is no layout of rank 1 on the program's mesh "
             << program.getMesh();
  }
  return success();
}

/// Checks that labels are distinct and that jumps name labels.
static LogicalResult checkLabels(Block &block) {
  llvm::StringSet<> labels;
  for (auto label : block.getOps<LabelOp>())
    if (!labels.insert(label.getName()).second)
      return label.emitOpError("defines label ")
             << label.getNameAttr() << " twice";
  auto checkTarget = [&](Operation *op, StringAttr target) -> LogicalResult {
    if (labels.contains(target.getValue()))
      return success();
    return op->emitOpError("jumps to unknown label ") << target;
  };
  for (Operation &op : block) {
    auto jump = dyn_cast<JumpOp>(op);
    auto unless = dyn_cast<JumpUnlessOp>(op);
    auto outside = dyn_cast<JumpOutsideOp>(op);
    if ((outside && failed(checkTarget(&op, outside.getTargetAttr()))) ||
        (jump && failed(checkTarget(&op, jump.getTargetAttr()))) ||
        (unless && failed(checkTarget(&op, unless.getTargetAttr()))))
      return failure();
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  for (auto buffer : getOps<BufferOp>()) {
    int64_t offset = buffer.getOffset();
    int64_t end =
        saturatingAdd(offset, bufferBytes(cast<MemRefType>(buffer.getType())));
    if (offset < 0 || end > static_cast<int64_t>(getArena())) // (C1)
      return buffer.emitOpError("ends at byte ")
             << end << " of an arena of " << getArena();
  }
  if (failed(checkLabels(getBody().front()))) // (C2)
    return failure();
  if (failed(checkGroups(*this)) || failed(checkSharing(*this)))
    return failure();
  return checkInFlight(*this);
}

LogicalResult JumpOutsideOp::verify() {
  if (getPlace().getLayout().part.empty()) // (C1)
    return emitOpError("names the whole mesh, which no device is outside of");
  MeshAttr mesh = getOperation()->getParentOfType<ProgramOp>().getMesh();
  if (getPlace().getMesh() != mesh) // (C2)
    return emitOpError("names a part of ")
           << getPlace().getMesh() << ", the program runs on " << mesh;
  return success();
}

bool plan::isInstruction(Operation &op) {
  return !isa<LabelOp, BufferOp, ConstantOp, InputOp, OutputOp>(op);
}

LogicalResult RoutineOp::verifyRegions() {
  SymbolTableCollection symbols;
  for (auto launch : getOps<LaunchOp>())
    if (!isa_and_nonnull<FunctionOpInterface>(symbols.lookupNearestSymbolFrom(
            *this, launch.getKernelAttr()))) // (C2)
      return launch.emitOpError("in a routine launches ")
             << launch.getKernelAttr()
             << ", which is no function of the module";
  return checkLabels(getBody().front()); // (C1)
}

static LogicalResult verifyFacts(Operation *op, Attribute facts) {
  return factsOf(facts, [&] { return op->emitOpError(); });
}

LogicalResult InputOp::verify() { return verifyFacts(*this, getFactsAttr()); }

LogicalResult OutputOp::verify() {
  if (failed(verifyFacts(*this, getFactsAttr())))
    return failure();
  if (!getDonated())
    return success();
  if (!getDonated().getDefiningOp<InputOp>()) // (C1)
    return emitOpError("is an alias of a buffer that is no input");
  if (getDonated().getType() != getBuffer().getType()) // (C1)
    return emitOpError("is an alias of ")
           << getDonated().getType() << " but has type "
           << getBuffer().getType();
  return success();
}
