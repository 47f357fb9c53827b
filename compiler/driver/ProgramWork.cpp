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

double weft::workOfProgram(plan::ProgramOp program) {
  constexpr double rounds = 1000;
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  llvm::StringMap<size_t> labels;
  SmallVector<double> launches;
  auto jump = [&](StringRef target) {
    if (auto label = labels.find(target); label != labels.end())
      for (double &work : llvm::drop_begin(launches, label->second))
        work *= rounds;
  };
  for (Operation &op : program.getBody().front()) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
      auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
      launches.push_back(kernel ? workOfBlock(kernel.getBody().front()) : 0);
    } else if (auto label = dyn_cast<plan::LabelOp>(op)) {
      labels[label.getName()] = launches.size();
    } else if (auto always = dyn_cast<plan::JumpOp>(op)) {
      jump(always.getTarget());
    } else if (auto unless = dyn_cast<plan::JumpUnlessOp>(op)) {
      jump(unless.getTarget());
    }
  }
  double work = 0;
  for (double launch : launches)
    work += launch;
  return work;
}
