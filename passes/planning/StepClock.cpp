//===- StepClock.cpp - computing and communication of a step --------------===//

#include "weft/passes/planning/StepClock.h"

#include "weft/passes/sharding/resharding/Price.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace weft;

double StepClock::send(llvm::ArrayRef<unsigned> axes, double seconds) {
  double begin = present;
  for (unsigned axis : axes) {
    if (freeAt.size() <= axis)
      freeAt.resize(axis + 1);
    begin = std::max(begin, freeAt[axis]);
  }
  for (unsigned axis : axes)
    freeAt[axis] = begin + seconds;
  sent += seconds;
  return begin + seconds;
}

StepPrices::StepPrices(const Mesh &given, llvm::StringRef target) {
  if (const TargetRates *row = ratesOf(target))
    rates = row;
  mesh = withRates(given, *rates);
  isBesideWork = rates->isBesideWork || statesLinks(given);
}

double StepPrices::ofSending(int64_t bytes,
                             llvm::ArrayRef<SubAxis> links) const {
  Link link = slowestLink(mesh, links);
  return links.empty() ? 0 : link.latency + link.moving(bytes);
}

int64_t StepPrices::bytesOfLatency(llvm::ArrayRef<SubAxis> links) const {
  Link link = slowestLink(mesh, links);
  return links.empty() ? 0 : int64_t(link.latency * link.bandwidth);
}

llvm::SmallVector<unsigned> weft::axisNumbers(llvm::ArrayRef<SubAxis> digits) {
  llvm::SmallVector<unsigned> numbers;
  for (const SubAxis &digit : digits)
    if (!llvm::is_contained(numbers, digit.axis))
      numbers.push_back(digit.axis);
  return numbers;
}
