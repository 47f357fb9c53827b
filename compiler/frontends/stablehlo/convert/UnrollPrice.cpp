//===- UnrollPrice.cpp - whether a loop is unrolled -----------------------===//

#include "weft/compiler/frontends/stablehlo/convert/UnrollPrice.h"

#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace weft::stablehlo {

UnrollPrice::UnrollPrice(Block &body) { add(body, 1); }

/// How often a region of the op runs, at least.
static double timesOf(Operation &op) {
  if (auto loop = dyn_cast<WhileOp>(op))
    return loop.getTripCount() ? double(*loop.getTripCount())
                               : std::numeric_limits<double>::infinity();
  return 1;
}

void UnrollPrice::add(Block &block, double times) {
  for (Operation &op : block.without_terminator()) {
    ++count;
    if (op.getNumRegions() > 0) {
      fuses = false;
      for (Region &region : op.getRegions())
        if (region.hasOneBlock())
          add(region.front(), times * timesOf(op));
      continue;
    }
    if (isElementSource(&op))
      continue;
    fuses &= keepsPositions(&op);
    work += times * workOf(&op);
  }
}

bool UnrollPrice::pays(uint64_t rounds, uint64_t already) const {
  if (rounds <= 1)
    return true; // no loop is left, and nothing is compiled twice
  uint64_t made = llvm::SaturatingMultiply(rounds, count);
  return made <= kMostOps && already + made <= kMostOfProgram &&
         (fuses || work <= kOverhead);
}

} // namespace weft::stablehlo
