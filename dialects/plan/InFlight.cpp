//===- InFlight.cpp - collectives between their start and their wait ------===//

#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;
using namespace weft::plan;

//===----------------------------------------------------------------------===//
// Before buffers are placed
//===----------------------------------------------------------------------===//

AwaitOp plan::awaitOf(Operation *collective) {
  for (Value result : collective->getResults())
    for (Operation *user : result.getUsers())
      if (auto await = dyn_cast<AwaitOp>(user))
        return await;
  return {};
}

Operation *plan::awaitedBy(Operation *op) {
  auto await = dyn_cast<AwaitOp>(op);
  return await ? await.getValues().front().getDefiningOp() : nullptr;
}

LogicalResult AwaitOp::verify() {
  Operation *start =
      getValues().empty() ? nullptr : getValues().front().getDefiningOp();
  auto collective = dyn_cast_or_null<PlanInstructionOpInterface>(start);
  if (!collective || start->getBlock() != (*this)->getBlock() ||
      ValueRange(getValues()) != start->getResults()) // (C1)
    return emitOpError("does not name all results of one collective of its "
                       "block, in order");
  for (Operation *user : start->getUsers()) {
    if (user == getOperation())
      continue;
    if (isa<AwaitOp>(user)) // (C1)
      return emitOpError("waits again").attachNote(user->getLoc())
             << "the other wait";
    Operation *here = (*this)->getBlock()->findAncestorOpInBlock(*user);
    if (here->isBeforeInBlock(getOperation())) // (C2)
      return user->emitOpError("uses the result of a collective before the "
                               "function waits for it")
                 .attachNote(getLoc())
             << "the wait";
  }
  for (Operation *op = start; op != getOperation(); op = op->getNextNode())
    if (op->getNumRegions()) // (C3)
      return op->emitOpError("is between a collective's start and wait")
                 .attachNote(start->getLoc())
             << "the start";
  return success();
}

//===----------------------------------------------------------------------===//
// In a plan
//===----------------------------------------------------------------------===//

/// Whether two buffers of a program may share a byte, in the arena or in memory
/// that devices share. Ports have memory of their own, of which a donated
/// input's output is another name.
static bool mayOverlap(Value a, Value b) {
  auto named = [](Value buffer) {
    auto output = buffer.getDefiningOp<OutputOp>();
    return output && output.getDonated() ? output.getDonated() : buffer;
  };
  if (named(a) == named(b))
    return true;
  auto x = a.getDefiningOp<BufferOp>(), y = b.getDefiningOp<BufferOp>();
  if (!x || !y)
    return false;
  auto meet = [&](int64_t first, int64_t second) {
    auto bytes = [](BufferOp buffer) {
      return bufferBytes(cast<MemRefType>(buffer.getType()));
    };
    return first < second + bytes(y) && second < first + bytes(x);
  };
  auto shared = [](BufferOp buffer) {
    return buffer->getAttrOfType<IntegerAttr>(kSharedOffsetAttr);
  };
  bool areShared = shared(x) && shared(y) && sharedOver(a) == sharedOver(b);
  return meet(int64_t(x.getOffset()), int64_t(y.getOffset())) ||
         (areShared && meet(shared(x).getInt(), shared(y).getInt()));
}

namespace {
/// A buffer that an instruction uses.
struct Touch {
  Value buffer;
  bool isWritten;
};
} // namespace

/// The buffers of an instruction. Those that a launch writes are known where
/// its kernel is a function, and are scratch memory otherwise.
static SmallVector<Touch> touchedBy(Operation *op) {
  SmallVector<Touch> out;
  if (auto start = dyn_cast<StartOp>(op)) {
    for (Value source : start.getSources())
      out.push_back({source, false});
    for (Value target : start.getTargets())
      out.push_back({target, true});
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    out = {{copy.getSource(), false}, {copy.getTarget(), true}};
  } else if (auto launch = dyn_cast<LaunchOp>(op)) {
    auto kernel = dyn_cast_or_null<FunctionOpInterface>(
        SymbolTable::lookupNearestSymbolFrom(op, launch.getKernelAttr()));
    size_t results = kernel ? kernel.getNumResults() : 0;
    size_t read = launch.getBuffers().size() -
                  std::min(results, launch.getBuffers().size());
    for (auto [n, buffer] : llvm::enumerate(launch.getBuffers()))
      out.push_back({buffer, n >= read});
    if (launch.getScratch())
      out.push_back({launch.getScratch(), true});
  } else {
    for (Value buffer : op->getOperands())
      if (isa<MemRefType>(buffer.getType()))
        out.push_back({buffer, false});
  }
  return out;
}

/// Whether the instruction leaves alone what the collective uses meanwhile.
static bool leavesAlone(const Touch &touch, StartOp start) {
  auto isIn = [&](ValueRange buffers) {
    return llvm::any_of(
        buffers, [&](Value its) { return mayOverlap(its, touch.buffer); });
  };
  return !isIn(start.getTargets()) &&
         !(touch.isWritten && isIn(start.getSources()));
}

LogicalResult plan::checkInFlight(ProgramOp program) {
  llvm::SetVector<StartOp> open;
  for (Operation &op : program.getBody().front()) {
    if (auto wait = dyn_cast<WaitOp>(op)) {
      open.remove(wait.getStarted().getDefiningOp<StartOp>());
      continue;
    }
    if (!open.empty() && !isa<BufferOp, ConstantOp>(op))
      for (const Touch &touch : touchedBy(&op))
        for (StartOp start : open)
          if (!leavesAlone(touch, start)) // (C7)
            return op.emitOpError(touch.isWritten ? "writes" : "takes")
                       .append(" a buffer of a collective before the program "
                               "waits for it")
                       .attachNote(start.getLoc())
                   << "the start";
    if (auto start = dyn_cast<StartOp>(op))
      open.insert(start);
  }
  return success();
}
