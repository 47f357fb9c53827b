//===- TermChoice.cpp - how threads share the terms of sums ---------------===//
//
//   %0 = weft.reduce sum %x dims [1]   : tensor<4x4096x2304xbf16> -> tensor<4x2304xf32>
//
//   #nest.sums<block = 16, lanes = 32, side = 4, together = 8>
//
// There are 9216 sums: 32 threads share four that are side by side. A block of
// threads then reads 64 adjacent bytes of a row, and each thread eight rows
// before it waits.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/nest/RowWalk.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace weft::nest {

/// The number of terms in a block, which a thread combines before it adds the
/// blocks: the rounding error grows with the terms of one accumulator. 0 if all
/// terms are one block.
static int64_t blockOf(int64_t terms, int64_t together) {
  constexpr int64_t kLong = 256;
  return terms > kLong ? int64_t(llvm::alignTo(
                             int64_t(std::sqrt(double(terms))), together))
                       : 0;
}

/// The elements of 16 bytes that a thread reads side by side: the op reduces
/// other dimensions than the last.
static int64_t sideOf(ReduceOp op) {
  constexpr int64_t kBytes = 16;
  RankedTensorType input = typeOf(op.getInput());
  if (input.getRank() == 0 ||
      llvm::is_contained(op.getDims(), input.getRank() - 1))
    return 1;
  int64_t side = std::max<int64_t>(kBytes / bytesOf(input.getElementType()), 1);
  while (input.getShape().back() % side != 0)
    side /= 2;
  return side;
}

Attribute chooseTerms(Operation *sum, const TargetLimits &limits,
                      int64_t manyTerms) {
  // Few sums of many terms leave processors idle, so threads share a sum.
  constexpr int64_t kThreads = 1024, kLanes = 8, kLeastRun = 64, kBlocks = 2;
  int64_t terms = termsOf(sum),
          elements = typeOf(sum->getResult(0)).getNumElements(),
          processors = limits.block.processors, lanes = 1, side = 1;
  auto reduce = dyn_cast<ReduceOp>(sum);
  if (reduce && elements > 0)
    side = sideOf(reduce);
  // A block of threads has 32 adjacent elements where a thread has one.
  int64_t most = side > 1 ? limits.rowLanes : kLanes;
  if (terms >= manyTerms && elements > 0 && !reduce)
    lanes = elements < processors * kThreads * 2 ? kLanes : 1;
  while (terms >= manyTerms && reduce && elements > 0 && lanes < most &&
         elements / side * lanes < processors * kThreads)
    lanes *= 2;
  int64_t bytes = bytesOf(typeOf(sum->getOperand(0)).getElementType());
  auto areFewBlocks = [&] {
    return elements / side * lanes <
           processors * kBlocks * limits.block.threads;
  };
  while (side > 1 && areFewBlocks() &&
         limits.block.threads / lanes * side / 2 * bytes >= kLeastRun)
    side /= 2;
  int64_t together = reduce ? limits.block.loads : 1;
  // Each read computes the ops in front of the sum.
  int64_t ops = sum->getBlock()->getOperations().size();
  while (together > 1 && (together > terms / lanes ||
                          together * side * ops > limits.block.heldOps))
    together /= 2;
  return SumsAttr::get(sum->getContext(), blockOf(terms / lanes, together),
                       lanes, side, together);
}

std::string refuseTerms(SumsAttr walk, ValueRange stored,
                        const TargetLimits &limits) {
  int64_t lanes = walk.getLanes(), side = walk.getSide();
  if (lanes < 1 || lanes > limits.rowLanes || !llvm::isPowerOf2_64(lanes))
    return std::to_string(lanes) +
           " lanes share an element; use a power of two up to " +
           std::to_string(limits.rowLanes);
  if (side < 1 || side > 16 || !llvm::isPowerOf2_64(side) ||
      walk.getTogether() < 1)
    return std::to_string(walk.getTogether()) + " terms of " +
           std::to_string(side) +
           " elements are read at once; use a power of two up to 16 for the "
           "elements";
  for (Value value : stored)
    if (side > 1 && (typeOf(value).getRank() == 0 ||
                     typeOf(value).getShape().back() % side != 0))
      return std::to_string(side) +
             " does not divide the last dimension of a stored value";
  return "";
}

} // namespace weft::nest
