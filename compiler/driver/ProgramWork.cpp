//===- ProgramWork.cpp - how much a run of a program computes -------------===//

#include "weft/compiler/driver/ProgramWork.h"

#include "weft/dialects/nest/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;

/// The work of a kernel's body, or of one of its loop nests.
static double workOfBlock(Block &block) {
  double work = 0;
  for (Operation &op : block.without_terminator()) {
    auto loops = dyn_cast<nest::LoopsOp>(op);
    work += loops ? workOfBlock(loops.getBody().front()) : workOf(&op);
  }
  return work;
}

namespace {
/// Adds up the work of instructions.
class InstructionWork {
public:
  explicit InstructionWork(SymbolTable &symbols [[clang::lifetimebound]])
      : symbols(symbols) {}
  double of(Block &instructions) const;

private:
  double ofLaunch(plan::LaunchOp launch) const;
  SymbolTable &symbols;
};
} // namespace

double InstructionWork::ofLaunch(plan::LaunchOp launch) const {
  Operation *kernel = symbols.lookup(launch.getKernel());
  if (auto routine = dyn_cast_or_null<plan::RoutineOp>(kernel))
    return of(routine.getBody().front());
  auto function = dyn_cast_or_null<func::FuncOp>(kernel);
  return function ? workOfBlock(function.getBody().front()) : 0;
}

double InstructionWork::of(Block &instructions) const {
  struct Label {
    size_t launches;
    double rounds;
  };
  llvm::StringMap<Label> labels;
  SmallVector<double> launches;
  auto jump = [&](StringRef target) {
    if (auto label = labels.find(target); label != labels.end())
      for (double &work : llvm::drop_begin(launches, label->second.launches))
        work *= label->second.rounds;
  };
  for (Operation &op : instructions) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      launches.push_back(ofLaunch(launch));
    else if (auto label = dyn_cast<plan::LabelOp>(op))
      labels[label.getName()] = {launches.size(),
                                 label.getRounds() ? double(*label.getRounds())
                                                   : kUnknownRounds};
    else if (auto always = dyn_cast<plan::JumpOp>(op))
      jump(always.getTarget());
    else if (auto unless = dyn_cast<plan::JumpUnlessOp>(op))
      jump(unless.getTarget());
  }
  double work = 0;
  for (double launch : launches)
    work += launch;
  return work;
}

double weft::workOfProgram(plan::ProgramOp program) {
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  return InstructionWork(symbols).of(program.getBody().front());
}
