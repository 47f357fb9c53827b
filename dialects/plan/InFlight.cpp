//===- InFlight.cpp - collectives between their start and their wait ------===//

#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/PlannedFlow.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <iterator>
#include <optional>

using namespace mlir;
using namespace weft;
using namespace weft::plan;

//===----------------------------------------------------------------------===//
// Before buffers are placed
//===----------------------------------------------------------------------===//

Operation *plan::collectiveOf(Operation *op) {
  if (isa<PlanInstructionOpInterface>(op))
    return op;
  if (!isa<PlannedBranchOpInterface>(op) || op->getRegion(0).empty())
    return nullptr;
  Block &block = op->getRegion(0).front();
  Operation *first = &block.front(), *end = block.getTerminator();
  bool isAlone = isa<PlanInstructionOpInterface>(first) &&
                 first->getNextNode() == end &&
                 first->getResults() == end->getOperands();
  return isAlone ? first : nullptr;
}

AwaitOp plan::awaitOf(Operation *collective) {
  Operation *around = collective->getParentOp();
  if (around && isa<PlannedBranchOpInterface>(around) &&
      collectiveOf(around) == collective)
    collective = around;
  for (Value result : collective->getResults())
    for (Operation *user : result.getUsers())
      if (auto await = dyn_cast<AwaitOp>(user))
        return await;
  return {};
}

Operation *plan::awaitedBy(Operation *op) {
  auto await = dyn_cast<AwaitOp>(op);
  return await ? collectiveOf(await.getValues().front().getDefiningOp())
               : nullptr;
}

LogicalResult AwaitOp::verify() {
  Operation *start =
      getValues().empty() ? nullptr : getValues().front().getDefiningOp();
  if (!start || !collectiveOf(start) ||
      start->getBlock() != (*this)->getBlock() ||
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

/// Whether an instruction of devices in a part leaves alone what the collective
/// uses on them meanwhile.
static bool leavesAlone(const Touch &touch, const MeshPart &part,
                        StartOp start) {
  auto isIn = [&](ValueRange buffers) {
    return llvm::any_of(
        buffers, [&](Value its) { return mayOverlap(its, touch.buffer); });
  };
  MeshPart senders, receivers;
  if (auto movement = dyn_cast<MovementAttr>(start.getCommunication())) {
    senders = movement.getFrom().getLayout().part;
    receivers = movement.getTo().getLayout().part;
  }
  bool isTarget = intersects(part, receivers) && isIn(start.getTargets()),
       isSource = intersects(part, senders) && isIn(start.getSources());
  return !isTarget && !(touch.isWritten && isSource);
}

namespace {
/// What is known in front of an instruction, by any path to it.
struct Reached {
  llvm::SetVector<StartOp> open; ///< collectives that may be under way
  MeshPart part;                 ///< in which the devices are that come here

  /// Adds another path; returns whether anything has changed.
  bool join(const Reached &path) {
    size_t before = open.size();
    open.insert(path.open.begin(), path.open.end());
    MeshPart both;
    std::ranges::set_intersection(part, path.part, std::back_inserter(both));
    bool isChanged = open.size() != before || both != part;
    part = std::move(both);
    return isChanged;
  }
};

/// Finds for each instruction of a program the collectives that a device may have
/// under way there, by any path.
class CollectivesUnderWay {
public:
  explicit CollectivesUnderWay(ProgramOp program) : program(program) {}
  LogicalResult check();

private:
  /// The name of the label at which a jump may go on, or null.
  static StringAttr targetOf(Operation &op);
  /// Goes on behind the instruction; returns whether a label is reached with
  /// more than before.
  bool pass(Operation &op);
  bool jump(StringAttr target);
  LogicalResult checkTouched(Operation &op) const;

  ProgramOp program;
  std::optional<Reached> here; ///< nothing behind a jump
  llvm::DenseMap<StringAttr, Reached> atLabels;
};
} // namespace

StringAttr CollectivesUnderWay::targetOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, StringAttr>(&op)
      .Case<JumpOp, JumpUnlessOp, JumpOutsideOp>(
          [](auto jump) { return jump.getTargetAttr(); })
      .Default(StringAttr());
}

bool CollectivesUnderWay::jump(StringAttr target) {
  auto [there, isNew] = atLabels.try_emplace(target, *here);
  return isNew || there->second.join(*here);
}

bool CollectivesUnderWay::pass(Operation &op) {
  if (auto label = dyn_cast<LabelOp>(op)) {
    if (auto known = atLabels.find(label.getNameAttr());
        known != atLabels.end()) {
      if (here)
        known->second.join(*here);
      here = known->second;
    }
  } else if (!here) {
    return false;
  } else if (auto wait = dyn_cast<WaitOp>(op)) {
    here->open.remove(wait.getStarted().getDefiningOp<StartOp>());
  } else if (auto start = dyn_cast<StartOp>(op)) {
    here->open.insert(start);
  } else if (StringAttr target = targetOf(op)) {
    bool isMore = jump(target);
    if (isa<JumpOp>(op))
      here.reset();
    if (auto outside = dyn_cast<JumpOutsideOp>(op)) {
      MeshPart both;
      std::ranges::set_union(here->part, outside.getPlace().getLayout().part,
                             std::back_inserter(both));
      here->part = std::move(both);
    }
    return isMore;
  }
  return false;
}

LogicalResult CollectivesUnderWay::checkTouched(Operation &op) const {
  if (!here || here->open.empty() || isa<BufferOp, plan::ConstantOp>(op))
    return success();
  for (const Touch &touch : touchedBy(&op))
    for (StartOp start : here->open)
      if (!leavesAlone(touch, here->part, start)) // (C7)
        return op.emitOpError(touch.isWritten ? "writes" : "takes")
                   .append(" a buffer of a collective before the program "
                           "waits for it")
                   .attachNote(start.getLoc())
               << "the start";
  return success();
}

LogicalResult CollectivesUnderWay::check() {
  Block &block = program.getBody().front();
  for (bool isMore = true; isMore;) {
    isMore = false;
    here.emplace();
    for (Operation &op : block)
      isMore |= pass(op);
  }
  here.emplace();
  for (Operation &op : block) {
    auto start = dyn_cast<StartOp>(op);
    if (start && here && here->open.contains(start)) // (C8)
      return start.emitOpError("is started again before the program waits for "
                               "it");
    if (failed(checkTouched(op)))
      return failure();
    pass(op);
  }
  for (StartOp start : here ? here->open : llvm::SetVector<StartOp>()) // (C8)
    return start.emitOpError("is not awaited where a device jumps over its "
                             "wait");
  return success();
}

LogicalResult plan::checkInFlight(ProgramOp program) {
  return CollectivesUnderWay(program).check();
}
