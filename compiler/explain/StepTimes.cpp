//===- StepTimes.cpp - computing and communication over time --------------===//

#include "weft/compiler/explain/StepTimes.h"

#include "weft/compiler/explain/DeviceClasses.h"
#include "weft/dialects/nest/KernelWork.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/planning/StepClock.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

namespace {

/// Follows the instructions of one class of devices.
class StepReader {
public:
  StepReader(Block &instructions,
             const StepPrices &prices [[clang::lifetimebound]],
             SymbolTable &symbols [[clang::lifetimebound]],
             const MeshPart &devices)
      : prices(prices), symbols(symbols), devices(devices) {
    for (Operation &op : instructions) {
      if (auto label = dyn_cast<plan::LabelOp>(op))
        labels[label.getName()] = all.size();
      all.push_back(&op);
    }
  }
  StepTimes read();

private:
  /// Times that a loop counts again.
  struct Sums {
    double now, computing, communication, exposed;
  };
  Sums sums() const {
    return {clock.now() + more.now, clock.computing() + more.computing,
            clock.communicating() + more.communication,
            clock.exposed() + more.exposed};
  }
  void launch(plan::LaunchOp op);
  void start(plan::StartOp op);
  void wait(plan::WaitOp op);
  /// Counts what is since the label as often as its loop runs.
  void repeat(plan::LabelOp label);
  double operationsOf(Operation *kernel);

  const StepPrices &prices;
  SymbolTable &symbols;
  MeshPart devices;
  std::vector<Operation *> all;
  llvm::StringMap<size_t> labels;
  llvm::DenseMap<Operation *, Sums> atLabel;
  llvm::DenseMap<Operation *, double> ends;
  StepClock clock;
  Sums more = {0, 0, 0, 0}; ///< sums of further iterations
  StepTimes out;
};

} // namespace

double StepReader::operationsOf(Operation *kernel) {
  if (auto function = dyn_cast_or_null<func::FuncOp>(kernel))
    return function.isExternal() ? 0 : nest::operationsOf(function);
  if (auto stated =
          kernel ? kernel->getAttrOfType<FloatAttr>(plan::kOperationsAttr)
                 : FloatAttr())
    return stated.getValueAsDouble();
  auto routine = dyn_cast_or_null<plan::RoutineOp>(kernel);
  double operations = 0, rounds = 1;
  if (routine)
    for (Operation &op : routine.getBody().front()) {
      if (auto label = dyn_cast<plan::LabelOp>(op); label && label.getRounds())
        rounds *= double(*label.getRounds());
      if (auto launch = dyn_cast<plan::LaunchOp>(op))
        operations += rounds * operationsOf(symbols.lookup(launch.getKernel()));
    }
  return operations;
}

void StepReader::launch(plan::LaunchOp op) {
  double begin = clock.now();
  clock.compute(prices.ofWork(operationsOf(symbols.lookup(op.getKernel()))));
  out.computed.push_back({begin, clock.now(), op.getKernel().str()});
}

void StepReader::start(plan::StartOp op) {
  SubAxes links = op.getLinks();
  double seconds = prices.ofSending(op.getBytesSent(), links);
  double end = clock.send(axisNumbers(links), seconds);
  ends[op] = end;
  if (seconds > 0)
    out.sent.push_back({end - seconds, end, op.getName().str()});
}

void StepReader::wait(plan::WaitOp op) {
  auto start = op.getStarted().getDefiningOp<plan::StartOp>();
  double begin = clock.now();
  clock.wait(ends.lookup(start));
  if (clock.now() > begin)
    out.waited.push_back({begin, clock.now(), start.getName().str()});
}

void StepReader::repeat(plan::LabelOp label) {
  auto before = atLabel.find(label);
  if (before == atLabel.end() || !label.getRounds())
    return;
  double times = double(*label.getRounds()) - 1;
  Sums from = before->second, to = sums();
  more.now += times * (to.now - from.now);
  more.computing += times * (to.computing - from.computing);
  more.communication += times * (to.communication - from.communication);
  more.exposed += times * (to.exposed - from.exposed);
}

StepTimes StepReader::read() {
  for (size_t i = 0; i < all.size(); ++i) {
    if (auto op = dyn_cast<plan::LaunchOp>(all[i])) {
      launch(op);
    } else if (auto op = dyn_cast<plan::StartOp>(all[i])) {
      start(op);
    } else if (auto op = dyn_cast<plan::WaitOp>(all[i])) {
      wait(op);
    } else if (auto op = dyn_cast<plan::LabelOp>(all[i])) {
      atLabel[op] = sums();
    } else if (auto op = dyn_cast<plan::JumpOutsideOp>(all[i])) {
      if (!includes(op.getPlace().getLayout().part, devices))
        i = labels.lookup(op.getTarget());
    } else if (auto op = dyn_cast<plan::JumpOp>(all[i])) {
      size_t target = labels.lookup(op.getTarget());
      if (target > i) // The first branch has been followed.
        i = target;
      else
        repeat(cast<plan::LabelOp>(all[target]));
    }
  }
  Sums end = sums();
  out.step = end.now;
  out.computing = end.computing;
  out.communication = end.communication;
  out.exposed = end.exposed;
  return std::move(out);
}

/// Whether a collective is awaited after another instruction.
static bool hasOverlap(plan::ProgramOp program) {
  return llvm::any_of(program.getOps<plan::StartOp>(), [](plan::StartOp op) {
    return !isa<plan::WaitOp>(op->getNextNode());
  });
}

/// The target of the module's kernels.
static std::string targetOf(ModuleOp module) {
  for (auto kernel : module.getOps<func::FuncOp>())
    if (nest::KernelAttr decisions = nest::decisionsOf(kernel))
      return decisions.getTarget().str();
  return "cpu";
}

std::vector<StepTimes> weft::timesOf(plan::ProgramOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  Mesh mesh = program.getMesh().getMesh();
  if (!module || program.getOps<plan::StartOp>().empty())
    return {};
  StepPrices prices(mesh, targetOf(module));
  if (!prices.isBesideWork && !hasOverlap(program))
    return {};
  std::vector<MeshPart> parts;
  for (auto jump : program.getOps<plan::JumpOutsideOp>())
    parts.push_back(jump.getPlace().getLayout().part);
  std::vector<MeshPart> classes = deviceClasses(parts);
  if (classes.empty())
    classes.emplace_back();
  SymbolTable symbols(module);
  std::vector<StepTimes> out;
  for (const MeshPart &devices : classes) {
    out.push_back(
        StepReader(program.getBody().front(), prices, symbols, devices).read());
    out.back().devices = devices.empty() ? "all" : describe(mesh.axes, devices);
  }
  return out;
}

std::string weft::rowOf(const std::vector<BusyTime> &times, double step,
                        size_t width, char mark) {
  std::string row(width, '.');
  for (const BusyTime &time : times) {
    double scale = step > 0 ? double(width) / step : 0;
    auto first = std::min(size_t(time.begin * scale), width - 1);
    auto last = std::min(size_t(time.end * scale), width - 1);
    for (size_t i = first; i <= last; ++i)
      row[i] = mark;
  }
  return row;
}
