//===- ProgramWork.cpp - how much a run of a program computes -------------===//

#include "weft/compiler/driver/ProgramWork.h"

#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/WindowOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;

static double elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? double(type.getNumElements()) : 1;
}

/// Instructions for an element of the largest operand or result.
static double instructionsOf(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op)) {
    double depth = 1;
    for (int64_t dim : dot.getLhsContract())
      depth *= dot.getLhs().getType().getDimSize(dim);
    return depth;
  }
  if (isa<ConvolutionOp>(op)) // at most
    return elementsOf(op->getOperand(1));
  if (isa<RngBitsOp>(op))
    return 128; // twenty rounds
  if (isa<ExpOp, Expm1Op, LogOp, Log1pOp, TanhOp, LogisticOp, ErfOp, CbrtOp,
          SinOp, CosOp, TanOp, PowOp, Atan2Op>(op))
    return 32;
  return op->hasTrait<ComputedWhole>() ? 64 : 4;
}

static double workOfKernel(func::FuncOp kernel) {
  double work = 0;
  kernel.walk([&](Operation *op) {
    double elements = 0;
    for (Value result : op->getResults())
      elements = std::max(elements, elementsOf(result));
    if (!isa<DotOp, ConvolutionOp, func::FuncOp>(op))
      for (Value operand : op->getOperands())
        elements = std::max(elements, elementsOf(operand));
    work += elements * instructionsOf(op);
  });
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
      launches.push_back(kernel ? workOfKernel(kernel) : 0);
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
