#include "weft/runtime/training/EpochOrder.h"

#include <algorithm>
#include <numeric>

namespace weft {

EpochOrder::EpochOrder(Options options, MersenneTwister *generator)
    : options(options), generator(generator) {
  if (!options.firstFit || options.shuffle == Shuffle::None)
    return;
  bool isWhole = options.shuffle == Shuffle::All;
  generator->permutation( // its order is used by nothing
      isWhole ? options.samples : std::min(options.batchSize, options.samples));
}

int64_t EpochOrder::batches() const {
  int64_t whole = options.samples / options.batchSize;
  bool rest = options.samples % options.batchSize != 0;
  return whole + (rest && !options.dropRemainder);
}

void EpochOrder::startEpoch() {
  exhausted = false;
  at.inEpoch = 0;
  // With steps per epoch a pass goes on where the last epoch stopped.
  if (!options.stepsPerEpoch || at.inPass >= batches()) {
    at.inPass = 0;
    at.order.clear();
  }
}

void EpochOrder::startPass() {
  if (options.shuffle == Shuffle::All) {
    at.order = generator->permutation(options.samples);
    return;
  }
  at.order.resize(options.samples);
  std::iota(at.order.begin(), at.order.end(), 0);
}

bool EpochOrder::next(std::vector<int64_t> &indices) {
  if (at.inEpoch >= steps())
    return false;
  if (at.inPass >= batches()) {
    exhausted = true;
    return false;
  }
  if (at.order.empty())
    startPass();
  int64_t begin = at.inPass * options.batchSize;
  int64_t end = std::min(begin + options.batchSize, options.samples);
  indices.assign(at.order.begin() + begin, at.order.begin() + end);
  if (options.shuffle == Shuffle::InBatches) {
    indices = generator->permutation(end - begin);
    for (int64_t &index : indices)
      index += begin;
  }
  ++at.inPass;
  ++at.inEpoch;
  return true;
}

} // namespace weft
