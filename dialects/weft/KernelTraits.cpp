//===- KernelTraits.cpp - the role of an op in kernels --------------------===//

#include "weft/dialects/weft/KernelTraits.h"

#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/dialects/weft/ops/WindowOps.h"

using namespace mlir;

namespace weft {

bool isElementSource(Operation *op) {
  return op->hasTrait<MovesElements>() || op->hasTrait<GeneratesElements>();
}

bool keepsPositions(Operation *op) {
  return op->getNumResults() == 1 && (op->hasTrait<OpTrait::Elementwise>() ||
                                      op->hasTrait<KeepsPositions>());
}

bool hasLoopNest(Operation *op) {
  return op->hasTrait<ReductionNest>() || op->hasTrait<ContractionNest>() ||
         hasLoopsOfItsOwn(op);
}

int64_t elementsReadElsewhere(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto kernelOp = dyn_cast<KernelOpInterface>(op))
    return kernelOp.getElementsReadElsewhere(operand.getOperandNumber());
  return op->hasTrait<OpTrait::Elementwise>() ? 0 : 1;
}

bool isKernel(Operation *function) { return function->hasAttr(kKernelAttr); }

bool mayWorkInPlace(Operation *kernel) {
  auto kind = kernel->getAttrOfType<KernelKindAttr>(kKernelAttr);
  return kind && kind.getValue() == KernelKind::Elementwise;
}

static double elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? double(type.getNumElements()) : 1;
}

double instructionsForEach(Operation *op, double instructions) {
  double elements = 0;
  for (Value value : op->getResults())
    elements = std::max(elements, elementsOf(value));
  for (Value value : op->getOperands())
    elements = std::max(elements, elementsOf(value));
  return elements * instructions;
}

double workByTraits(Operation *op) {
  return instructionsForEach(op, op->hasTrait<Costly>()        ? 32
                                 : op->hasTrait<OwnLoopNest>() ? 64
                                                               : 4);
}

double workOf(Operation *op) {
  if (updatesInPlace(op)) { // all operands except the updated operand
    double elements = 0;
    for (OpOperand &operand : op->getOpOperands())
      if (&operand != updatedOperand(op))
        elements = std::max(elements, elementsOf(operand.get()));
    return elements * (op->hasTrait<OwnLoopNest>() ? 64 : 4);
  }
  if (auto kernelOp = dyn_cast<KernelOpInterface>(op))
    return kernelOp.getWork();
  return workByTraits(op);
}

int64_t BroadcastOp::getElementsReadElsewhere(unsigned) {
  // A broadcast without new dimensions is its operand.
  return getInput().getType().getRank() == getResult().getType().getRank() ? 0
                                                                           : 1;
}

int64_t RngBitsOp::getElementsReadElsewhere(unsigned operand) {
  return operand == 0 ? getKey().getType().getNumElements() : 1;
}

double RngBitsOp::getWork() {
  return instructionsForEach(*this, 128); // twenty rounds of Threefry
}

int64_t GatherOp::getElementsReadElsewhere(unsigned operand) {
  return operand == 1 ? std::max<int64_t>(getStartIndexMap().size(), 1) : 1;
}

double DotOp::getWork() {
  double work = elementsOf(getResult());
  for (int64_t dim : getLhsContract())
    work *= getLhs().getType().getDimSize(dim);
  return work;
}

double ConvolutionOp::getWork() { // Products with padding count.
  int64_t features = getRhs().getType().getDimSize(getRhsDims()[0]);
  return elementsOf(getResult()) * elementsOf(getRhs()) /
         std::max<int64_t>(features, 1);
}

} // namespace weft
