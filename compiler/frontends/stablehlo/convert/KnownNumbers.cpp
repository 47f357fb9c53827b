//===- KnownNumbers.cpp - integers that a program calculates --------------===//

#include "weft/compiler/frontends/stablehlo/convert/KnownNumbers.h"

#include "weft/passes/interpret/Interpret.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace weft;

/// The limits of elements in each value, and of ops.
static constexpr int64_t kMostElements = 64, kMostKnownOps = 256;

static std::optional<weft::Tensor> known(Value value, int64_t &ops) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || !op || type.getNumElements() > kMostElements ||
      op->getNumResults() != 1 || op->getNumRegions() ||
      !isMemoryEffectFree(op) || ++ops > kMostKnownOps)
    return std::nullopt;
  Tensors operands;
  for (Value operand : op->getOperands()) {
    auto found = known(operand, ops);
    if (!found)
      return std::nullopt;
    operands.push_back(std::move(*found));
  }
  SmallVector<const weft::Tensor *> all;
  for (const weft::Tensor &operand : operands)
    all.push_back(&operand);
  auto results = interpretOp(op, all);
  return failed(results) ? std::nullopt
                         : std::optional(std::move(results->front()));
}

std::optional<stablehlo::Ints> stablehlo::knownNumbers(Value value) {
  // The interpreter's errors for ops that it cannot run on one device are
  // ignored.
  ScopedDiagnosticHandler silent(value.getContext(),
                                 [](Diagnostic &) { return success(); });
  int64_t ops = 0;
  auto found = known(value, ops);
  if (!found || !isa<IntegerType>(found->getElementType()))
    return std::nullopt;
  Ints numbers;
  for (int64_t i = 0; i < found->size(); ++i)
    numbers.push_back(found->integer(i));
  return numbers;
}
