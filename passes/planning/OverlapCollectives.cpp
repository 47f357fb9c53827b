//===- OverlapCollectives.cpp - communication under compute ---------------===//
//
// The backward pass of two layers, whose gradients are summed over "batch":
//
//   %g2 = call @gradient(%x2, %d2)        %g2 = call @gradient(%x2, %d2)
//   %d1 = call @input_gradient(%d2)       %s2 = coll.all_reduce sum %g2
//   %g1 = call @gradient(%x1, %d1)        %d1 = call @input_gradient(%d2)
//   %s:2 = coll.all_reduce sum %g2, %g1   %g1 = call @gradient(%x1, %d1)
//   ...                                   %s1 = coll.all_reduce sum %g1
//                                         plan.await %s2
//                                         ...
//
// The sum of %g2 is sent while %d1 and %g1 are computed.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/planning/OverlapGraph.h"
#include "weft/passes/planning/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "weft/passes/planning/Passes.h.inc"

namespace {

/// A step may need a quarter more memory, where the module states none.
constexpr int64_t kMoreMemory = 4;
/// A part of a divided all-reduce is sent for at least this many latencies, so
/// that they cost an eighth of its time at most.
constexpr int64_t kLatencies = 8;
/// The most parts of an all-reduce that is divided although its time is less.
constexpr int64_t kForcedParts = 4;
/// A step must end earlier by this share of its time.
constexpr double kLeastGain = 0.01;

/// Overlaps the collectives of one function.
class FunctionOverlap {
public:
  FunctionOverlap(func::FuncOp function,
                  const StepPrices &prices [[clang::lifetimebound]],
                  bool isForced, bool divides)
      : function(function), prices(prices), isForced(isForced),
        divides(divides) {}
  /// Does so within a device's `memory`, if it is stated.
  void run(std::optional<int64_t> memory);
  unsigned overlapped = 0, divided = 0;

private:
  /// Pieces with their new orders.
  struct Plan {
    std::vector<std::pair<OverlapGraph, ListSchedule>> pieces;
    double before = 0, after = 0; ///< seconds
  };
  Plan plan(int64_t room) const;
  bool isPossible() const;
  void divideSums();
  /// Divides a collective of several tensors, if there are parts.
  bool divide(plan::PlanInstructionOpInterface op);
  std::optional<Plan> choose(int64_t room, func::FuncOp original);
  void restore(func::FuncOp original);

  func::FuncOp function;
  const StepPrices &prices;
  bool isForced; ///< whether prices do not count
  bool divides;  ///< whether sums of several tensors may be divided
};
} // namespace

bool FunctionOverlap::isPossible() const {
  func::FuncOp its = function;
  return its
      .walk([](plan::PlanInstructionOpInterface op) {
        return isSentOverLinks(op) ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Sums of several tensors
//===----------------------------------------------------------------------===//

/// The places of chosen operands in the program, if the location of a collective
/// of several tensors has one for each; else all of them.
static Location locationOf(Operation *op, ArrayRef<unsigned> chosen) {
  auto all = dyn_cast<FusedLoc>(op->getLoc());
  if (!all || all.getLocations().size() != op->getNumOperands())
    return op->getLoc();
  return FusedLoc::get(op->getContext(),
                       llvm::map_to_vector(chosen, [&](unsigned n) {
                         return all.getLocations()[n];
                       }));
}

/// The clauses of the provenance for chosen operands, likewise.
static StringAttr reasonOf(plan::PlanInstructionOpInterface op,
                           ArrayRef<unsigned> chosen) {
  StringAttr all = op.getProvenance();
  SmallVector<StringRef> clauses;
  if (all)
    all.getValue().split(clauses, "; ");
  if (clauses.size() != op->getNumOperands())
    return all;
  return StringAttr::get(
      op->getContext(),
      llvm::join(
          llvm::map_range(chosen, [&](unsigned n) { return clauses[n]; }),
          "; "));
}

/// A collective of some of the operands and the results of these.
static Operation *partOf(plan::PlanInstructionOpInterface op,
                         ArrayRef<unsigned> chosen) {
  OperationState state(locationOf(op, chosen), op->getName());
  for (unsigned n : chosen) {
    state.addOperands(op->getOperand(n));
    state.addTypes(op->getResult(n).getType());
  }
  NamedAttrList attributes(op->getAttrDictionary());
  if (StringAttr reason = reasonOf(op, chosen))
    attributes.set("reason", reason);
  state.addAttributes(attributes);
  return OpBuilder(op).create(state);
}

/// Whether another collective comes before the first use of a result, so that
/// there is time for it.
static bool isUsedLate(OpResult result) {
  Operation *op = result.getOwner();
  Operation *first = firstUser(Value(result), *op->getBlock());
  for (Operation *next = op->getNextNode(); next && next != first;
       next = next->getNextNode())
    if (isSentOverLinks(next))
      return true;
  return false;
}

/// The operands of a collective: those first whose results are used soon, and
/// of these and the others those that are computed first.
static SmallVector<unsigned> orderOfOperands(Operation *op) {
  auto isComputedBefore = [&](unsigned a, unsigned b) {
    Operation *x = op->getOperand(a).getDefiningOp(),
              *y = op->getOperand(b).getDefiningOp();
    if (!x || !y || x->getBlock() != y->getBlock())
      return !x && y;
    return x->isBeforeInBlock(y);
  };
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
  llvm::stable_sort(order, isComputedBefore);
  std::stable_partition(order.begin(), order.end(), [&](unsigned n) {
    return !isUsedLate(op->getResult(n));
  });
  return order;
}

/// Divides a collective into parts: what is used soon is apart from the rest,
/// and no other part has less than `least` bytes.
static SmallVector<SmallVector<unsigned>> partsOf(Operation *op,
                                                  int64_t least) {
  auto bytesOf = [&](unsigned n) {
    return bufferBytes(bufferType(op->getOperand(n).getType()));
  };
  SmallVector<SmallVector<unsigned>> parts;
  int64_t bytes = 0, left[2] = {0, 0}; // used soon, and late
  SmallVector<unsigned> order = orderOfOperands(op);
  for (unsigned n : order)
    left[isUsedLate(op->getResult(n))] += bytesOf(n);
  std::optional<bool> wasLate;
  for (unsigned n : order) {
    bool isLate = isUsedLate(op->getResult(n));
    if (wasLate != isLate || (bytes >= least && left[isLate] >= least)) {
      parts.emplace_back();
      bytes = 0;
    }
    wasLate = isLate;
    parts.back().push_back(n);
    bytes += bytesOf(n);
    left[isLate] -= bytesOf(n);
  }
  return parts;
}

bool FunctionOverlap::divide(plan::PlanInstructionOpInterface collective) {
  Operation *op = collective;
  if (!isSentOverLinks(op) || !collective.keepsArraysApart() ||
      op->getNumOperands() < 2 || op->getNumOperands() != op->getNumResults())
    return false;
  int64_t all = 0;
  for (Value operand : op->getOperands())
    all += bufferBytes(bufferType(operand.getType()));
  int64_t least = kLatencies * prices.bytesOfLatency(collective.getLinks());
  if (isForced)
    least = std::min(least, all / kForcedParts);
  SmallVector<SmallVector<unsigned>> parts = partsOf(op, least);
  if (parts.size() == 1)
    return false;
  for (ArrayRef<unsigned> part : parts) {
    Operation *made = partOf(collective, part);
    for (auto [result, n] : llvm::zip_equal(made->getResults(), part))
      op->getResult(n).replaceAllUsesWith(result);
  }
  op->erase();
  return true;
}

void FunctionOverlap::divideSums() {
  SmallVector<plan::PlanInstructionOpInterface> all;
  function.walk(
      [&](plan::PlanInstructionOpInterface op) { all.push_back(op); });
  for (plan::PlanInstructionOpInterface op : all)
    divided += divide(op);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Finds the best order of each piece, in which its buffers take at most `room`
/// bytes more.
FunctionOverlap::Plan FunctionOverlap::plan(int64_t room) const {
  func::FuncOp its = function;
  BufferAssignment assignment(its), apart(its, /*shares=*/false);
  Plan out;
  its.walk([&](Block *block) {
    for (StraightOps &piece : straightPieces(*block)) {
      OverlapGraph graph(std::move(piece), assignment, apart, prices);
      ListSchedule before = asWritten(graph.steps());
      int64_t most = before.peak + room;
      ListSchedule best = findOverlap(graph.steps(), Preference::Order, most);
      ListSchedule other = findOverlap(graph.steps(), Preference::Path, most);
      if (other.seconds < best.seconds)
        best = std::move(other);
      bool isBetter = best.seconds < before.seconds * (1 - kLeastGain);
      out.before += before.seconds;
      out.after += isBetter ? best.seconds : before.seconds;
      if (isBetter || isForced)
        out.pieces.emplace_back(std::move(graph), std::move(best));
    }
  });
  return out;
}

void FunctionOverlap::restore(func::FuncOp original) {
  IRMapping mapping;
  function.getBody().dropAllReferences();
  function.getBody().getBlocks().clear();
  original.getBody().cloneInto(&function.getBody(), mapping);
  divided = 0;
}

/// The plan with which the step ends first; nothing if that is the step as it
/// is.
std::optional<FunctionOverlap::Plan>
FunctionOverlap::choose(int64_t room, func::FuncOp original) {
  Plan whole = plan(room);
  if (divides)
    divideSums();
  if (divided) {
    Plan parts = plan(room);
    if (isForced || parts.after < whole.after * (1 - kLeastGain))
      return parts;
    restore(original);
    whole = plan(room);
  }
  if (whole.pieces.empty())
    return std::nullopt;
  return whole;
}

void FunctionOverlap::run(std::optional<int64_t> memory) {
  if (!isPossible())
    return;
  OwningOpRef<func::FuncOp> original = function.clone();
  int64_t before = bytesNeeded(function);
  int64_t limit = memory.value_or(before + before / kMoreMemory);
  // Room for buffers of a piece is an estimate; a smaller one follows if the
  // arena needs more.
  for (int64_t room = std::max<int64_t>(limit - before, 0);; room /= 2) {
    std::optional<Plan> chosen = choose(room, *original);
    if (!chosen)
      return;
    overlapped = 0;
    for (auto &[graph, schedule] : chosen->pieces)
      overlapped += graph.apply(schedule);
    if (bytesNeeded(function) <= limit)
      return;
    overlapped = 0;
    restore(*original);
    if (room == 0)
      return;
  }
}

std::optional<Choice> choiceOf(ModuleOp module, StringRef name) {
  Attribute given = module->getDiscardableAttr(name);
  if (!given)
    return Choice::Auto;
  auto text = dyn_cast<StringAttr>(given);
  auto choice =
      llvm::StringSwitch<std::optional<Choice>>(text ? text.getValue() : "")
          .Case("auto", Choice::Auto)
          .Case("on", Choice::On)
          .Case("off", Choice::Off)
          .Default(std::nullopt);
  if (!choice)
    module.emitError() << name << " is " << given
                       << "; write \"auto\", \"on\" or \"off\"";
  return choice;
}

namespace {
struct OverlapCollectivesPass
    : impl::OverlapCollectivesPassBase<OverlapCollectivesPass> {
  using OverlapCollectivesPassBase::OverlapCollectivesPassBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    ModuleOp module = getOperation();
    std::optional<Choice> overlap = choiceOf(module, kOverlapAttr);
    if (!overlap)
      return signalPassFailure();
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh || overlap == Choice::Off)
      return;
    StepPrices prices(mesh.getMesh(), target);
    bool isForced = overlap == Choice::On;
    if (!isForced && !prices.isBesideWork)
      return;
    auto memory = module->getAttrOfType<IntegerAttr>(kMemoryAttr);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!becomesProgram(function))
        continue;
      FunctionOverlap its(function, prices, isForced,
                          isForced || !module->hasAttr(kWholeSumsAttr));
      its.run(memory ? std::optional(memory.getInt()) : std::nullopt);
      numOverlapped += its.overlapped;
      numDivided += its.divided;
    }
  }
};
} // namespace
} // namespace weft
