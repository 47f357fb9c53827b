#include "weft/runtime/training/EpochOrder.h"

#include <algorithm>
#include <numeric>

namespace weft {

EpochOrder::EpochOrder(Options options, MersenneTwister *generator)
    : options(options), generator(generator) {
  if (options.shuffle && options.firstFit)
    generator->permutation(options.samples); // its order is used by nothing
}

int64_t EpochOrder::batches() const {
  int64_t whole = options.samples / options.batchSize;
  bool rest = options.samples % options.batchSize != 0;
  return whole + (rest && !options.dropRemainder);
}

void EpochOrder::startEpoch() {
  exhausted = false;
  inEpoch = 0;
  // With steps per epoch a pass goes on where the last epoch stopped.
  if (!options.stepsPerEpoch || inPass >= batches()) {
    inPass = 0;
    order.clear();
  }
}

bool EpochOrder::next(std::vector<int64_t> &indices) {
  if (inEpoch >= steps())
    return false;
  if (inPass >= batches()) {
    exhausted = true;
    return false;
  }
  if (order.empty()) {
    if (options.shuffle) {
      order = generator->permutation(options.samples);
    } else {
      order.resize(options.samples);
      std::iota(order.begin(), order.end(), 0);
    }
  }
  int64_t begin = inPass * options.batchSize;
  int64_t end = std::min(begin + options.batchSize, options.samples);
  indices.assign(order.begin() + begin, order.begin() + end);
  ++inPass;
  ++inEpoch;
  return true;
}

} // namespace weft
