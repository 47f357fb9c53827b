#include "weft/training/EpochOrder.h"

#include <algorithm>
#include <numeric>

namespace weft {

EpochOrder::EpochOrder(Options options, MersenneTwister *generator)
    : options(options), generator(generator) {
  if (!options.firstFit || options.shuffle == Shuffle::None)
    return;
  bool areAll = options.shuffle == Shuffle::All;
  generator->permutation( // its order is not used
      areAll ? options.samples : std::min(options.batchSize, options.samples));
}

int64_t EpochOrder::batches() const {
  int64_t whole = options.samples / options.batchSize;
  bool rest = options.samples % options.batchSize != 0;
  return whole + (rest && !options.dropRemainder);
}

void EpochOrder::startEpoch() {
  exhausted = false;
  at.inEpoch = 0;
  // A pass continues after the last epoch's end if steps per epoch are given.
  if (!options.stepsPerEpoch || at.inPass >= batches()) {
    at.inPass = 0;
    at.order.clear();
  }
}

std::vector<int64_t> EpochOrder::orderOf(MersenneTwister *from) const {
  if (options.shuffle == Shuffle::All)
    return from->permutation(options.samples);
  std::vector<int64_t> order(static_cast<size_t>(options.samples));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void EpochOrder::startPass() {
  if (drawn && drawn->before == generator->position()) {
    at.order = std::move(drawn->order);
    *generator = drawn->after;
  } else {
    at.order = orderOf(generator);
  }
  drawn.reset();
}

void EpochOrder::take(const std::vector<int64_t> &order, int64_t batch,
                      MersenneTwister *from,
                      std::vector<int64_t> &indices) const {
  int64_t begin = batch * options.batchSize;
  int64_t end = std::min(begin + options.batchSize, options.samples);
  indices.assign(order.begin() + begin, order.begin() + end);
  if (options.shuffle == Shuffle::InBatches) {
    indices = from->permutation(end - begin);
    for (int64_t &index : indices)
      index += begin;
  }
}

void EpochOrder::peek(std::vector<int64_t> &indices) {
  indices.clear();
  bool isOver = at.inEpoch >= steps() || at.inPass >= batches();
  bool isNewPass =
      at.order.empty() ||
      (isOver && (!options.stepsPerEpoch || at.inPass >= batches()));
  if (batches() == 0)
    return;
  std::optional<MersenneTwister> copy;
  if (generator)
    copy = *generator;
  MersenneTwister *from = copy ? &*copy : nullptr;
  if (!isNewPass)
    return take(at.order, at.inPass, from, indices);
  if (options.shuffle != Shuffle::All)
    return take(orderOf(from), 0, from, indices);
  if (!drawn || drawn->before != generator->position()) {
    std::vector<int64_t> order = orderOf(from);
    drawn = Drawn{std::move(order), generator->position(), *from};
  }
  take(drawn->order, 0, from, indices);
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
  take(at.order, at.inPass, generator, indices);
  ++at.inPass;
  ++at.inEpoch;
  return true;
}

} // namespace weft
