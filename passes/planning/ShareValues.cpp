//===- ShareValues.cpp - what devices of one process hold once ------------===//
//
// A train step whose batch is divided, on 8 devices:
//
//   %s:2 = coll.all_reduce sum %g1, %g2 over ["batch"]
//   %m = call @moment(%w1, %s#0)   // \ equal on all devices: one run of ops,
//   %v = call @update(%w1, %m)     // / for which the devices wait once
//
// All of %s, %m and %v get plan.shared = ["batch"], and so does the donated
// argument %w1 in whose memory %v is returned.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/nest/KernelWork.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/dialects/weft/PlannedFlow.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/passes/planning/BufferAssignment.h"
#include "weft/passes/planning/EqualValues.h"
#include "weft/passes/planning/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SHAREVALUESPASS
#include "weft/passes/planning/Passes.h.inc"

namespace {

// The price of computing once. Devices that compute a value on their own take
// their times after each other where a worker runs several devices; computing
// once costs a wait of all for all instead, about as long as that of a
// collective without data. The three rates are estimates.

/// Nanoseconds that a device more makes the wait longer.
constexpr double kWaitOfDevice = 250;
/// Nanoseconds for a byte of a kernel's arrays, and for an operation.
constexpr double kTimeOfByte = 0.1, kTimeOfOperation = 0.03;

/// Consecutive ops that compute values which are equal along these axes.
struct EqualRun {
  MeshAxes axes;
  SmallVector<Operation *> ops;
  double time = 0; ///< nanoseconds on one device
};

class Sharing {
public:
  Sharing(func::FuncOp function, MeshAttr mesh)
      : function(function), mesh(mesh), values(function, mesh) {}
  void run();
  void undo();
  unsigned launches = 0, ports = 0;

private:
  int64_t devices(const MeshAxes &axes) const;
  LayoutAttr groupOf(const MeshAxes &axes) const;
  double timeOf(Operation &op) const;
  MeshAxes equalResults(Operation &op) const;
  void shareCollective(plan::PlanInstructionOpInterface op);
  bool pays(const MeshAxes &axes, double time) const;
  void add(EqualRun &run, Operation &op);
  void close(EqualRun &run);
  void sharePorts();
  LayoutAttr returned(unsigned result) const;

  func::FuncOp function;
  MeshAttr mesh;
  EqualValues values;
};
} // namespace

int64_t Sharing::devices(const MeshAxes &axes) const {
  int64_t count = 1;
  for (unsigned axis : axes.set_bits())
    count *= mesh.getMesh().axes[axis].size;
  return count;
}

LayoutAttr Sharing::groupOf(const MeshAxes &axes) const {
  SubAxes digits;
  for (unsigned axis : axes.set_bits())
    if (mesh.getMesh().axes[axis].size > 1)
      digits.push_back(fullAxis(mesh.getMesh(), axis));
  return plan::groupOver(mesh, digits);
}

double Sharing::timeOf(Operation &op) const {
  double bytes = 0, operations = 0;
  for (Type type :
       llvm::concat<Type>(op.getOperandTypes(), op.getResultTypes()))
    bytes += double(bufferBytes(bufferType(type)));
  if (auto call = dyn_cast<func::CallOp>(op)) {
    if (auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            call, call.getCalleeAttr()))
      operations = nest::operationsOf(kernel);
  } else if (auto builtin = dyn_cast<PlannedCallOpInterface>(op)) {
    operations = builtin.getOperations();
  }
  return std::max(bytes * kTimeOfByte, operations * kTimeOfOperation);
}

/// The axes along which all results of an op are equal.
MeshAxes Sharing::equalResults(Operation &op) const {
  MeshAxes axes = values.none().flip();
  for (Value result : op.getResults())
    axes &= values.equal(result);
  return axes;
}

/// A collective writes what all members of its group receive once. They wait
/// for each other anyway.
void Sharing::shareCollective(plan::PlanInstructionOpInterface op) {
  MeshAxes axes = equalResults(*op);
  axes &= values.fullAxesOf(plan::groupAxes(op.getCommunicatingGroup()));
  if (op->getNumResults() && devices(axes) > 1)
    op->setAttr(plan::kSharedAttr, groupOf(axes));
}

/// Whether the other devices save more time, on two workers, than the wait for
/// each other takes.
bool Sharing::pays(const MeshAxes &axes, double time) const {
  auto count = double(devices(axes));
  return count > 1 && time * (count - 1) / 2 > kWaitOfDevice * count;
}

static bool isSubset(const MeshAxes &part, const MeshAxes &whole) {
  return !part.test(whole);
}

/// Adds an op to the run, or to a new one. What does not pay for a wait of its
/// own is done over fewer axes, in the run beside it.
void Sharing::add(EqualRun &run, Operation &op) {
  MeshAxes axes = equalResults(op);
  double time = timeOf(op);
  bool joins = isSubset(run.axes, axes) && !pays(axes, time);
  bool isJoined = isSubset(axes, run.axes) && !pays(run.axes, run.time);
  if (axes != run.axes && !run.ops.empty() && !joins && !isJoined)
    close(run);
  if (run.ops.empty() || !joins)
    run.axes = axes;
  run.ops.push_back(&op);
  run.time += time;
}

void Sharing::close(EqualRun &run) {
  if (!run.ops.empty() && pays(run.axes, run.time))
    for (Operation *op : run.ops) {
      op->setAttr(plan::kSharedAttr, groupOf(run.axes));
      ++launches;
    }
  run = {};
}

/// The axes over which a result is shared: those of its value, if all devices
/// that differ along them hold the same shard of the result.
LayoutAttr Sharing::returned(unsigned result) const {
  func::FuncOp of = function;
  Value value = of.getBody().front().getTerminator()->getOperand(result);
  Operation *op = value.getDefiningOp();
  auto its = op ? op->getAttrOfType<LayoutAttr>(plan::kSharedAttr) : nullptr;
  auto layout = of.getResultAttrOfType<LayoutAttr>(result, kLayoutAttr);
  bool isSplit =
      its && layout &&
      values.axesOf(layout).anyCommon(values.axesOf(plan::groupAxes(its)));
  return isSplit ? LayoutAttr() : its;
}

void Sharing::sharePorts() {
  auto results = function.getBody().front().getTerminator()->getOperands();
  for (unsigned result = 0; result < results.size(); ++result)
    if (LayoutAttr its = returned(result))
      function.setResultAttr(result, plan::kSharedAttr, its);
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto result = donatedResult(function, number);
    LayoutAttr its;
    MeshAxes equal = values.equal(argument);
    if (result && results[*result] != argument)
      its = returned(*result);
    else if (devices(equal) > 1) // the devices only read it
      its = groupOf(equal);
    if (its && isSubset(values.axesOf(plan::groupAxes(its)), equal)) {
      function.setArgAttr(number, plan::kSharedAttr, its);
      ++ports;
    } else {
      its = {};
    }
    // A donated argument and its result have one memory.
    if (result && its)
      function.setResultAttr(*result, plan::kSharedAttr, its);
    else if (result)
      function.removeResultAttr(
          *result, StringAttr::get(function.getContext(), plan::kSharedAttr));
  }
}

void Sharing::run() {
  EqualRun run;
  for (Operation &op : function.getBody().front()) {
    if (isa<PlannedDataOpInterface>(op))
      continue;
    if (auto collective = dyn_cast<plan::PlanInstructionOpInterface>(op)) {
      close(run);
      shareCollective(collective);
      continue;
    }
    // Loops and branches, and what they hold, stay on each device.
    if (!isa<func::CallOp, PlannedCallOpInterface>(op) ||
        devices(equalResults(op)) == 1)
      close(run);
    else
      add(run, op);
  }
  close(run);
  sharePorts();
}

void Sharing::undo() {
  for (Operation &op : function.getBody().front())
    op.removeAttr(plan::kSharedAttr);
  auto name = StringAttr::get(function.getContext(), plan::kSharedAttr);
  for (unsigned n = 0; n < function.getNumArguments(); ++n)
    function.removeArgAttr(n, name);
  for (unsigned n = 0; n < function.getNumResults(); ++n)
    function.removeResultAttr(n, name);
}

/// Whether a collective moves values from or to a part of the mesh.
static bool movesParts(Operation *op) {
  auto instruction = dyn_cast<plan::PlanInstructionOpInterface>(op);
  if (!instruction)
    return false;
  Communication communication =
      instruction.getCommunication().getCommunication();
  const auto *its = std::get_if<Movement>(&communication);
  return its && !(its->from.part.empty() && its->to.part.empty());
}

/// Whether a value is on a part of the mesh, or a region runs on one. Devices
/// outside of it have no such value, so they could share nothing with the others.
static bool hasParts(func::FuncOp function) {
  auto isOnPart = [](Operation *op) {
    return isa<PlannedPartOpInterface>(op) || movesParts(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return hasPortOnPart(function) || function.walk(isOnPart).wasInterrupted();
}

namespace {
struct ShareValuesPass : impl::ShareValuesPassBase<ShareValuesPass> {
  using ShareValuesPassBase::ShareValuesPassBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    FailureOr<nest::TargetLimits> limits =
        nest::targetLimits(target, getOperation());
    if (failed(limits))
      return signalPassFailure();
    // The virtual devices of a GPU have memory of their own.
    if (!mesh || limits->block.threads)
      return;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!becomesProgram(function) || hasParts(function))
        continue;
      Sharing sharing(function, mesh);
      sharing.run();
      // Copies between shared memory and a device's take room.
      auto memory = module->getAttrOfType<IntegerAttr>(kMemoryAttr);
      if (memory && bytesNeeded(function) > memory.getInt()) {
        sharing.undo();
        continue;
      }
      numLaunches += sharing.launches;
      numPorts += sharing.ports;
    }
  }
};
} // namespace
} // namespace weft
