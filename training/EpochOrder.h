//===- EpochOrder.h - which samples make up each batch ----------*- C++ -*-===//
//
//   MersenneTwister generator = MersenneTwister::numpy(seed);
//   EpochOrder order({.samples = 10, .batchSize = 4}, &generator);
//   for (int epoch = 0; epoch < 3; ++epoch) {
//     order.startEpoch();
//     while (order.next(indices))     // 4, 4 and 2 samples
//       step(indices);
//   }
//
// The order is that of Keras 3.15: one draw of NumPy's legacy generator for
// each pass over the data (for each batch with Shuffle::InBatches), and one at
// the first fit() of a model without training (Keras reads a batch to build
// loss and metrics).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_EPOCHORDER_H
#define WEFT_TRAINING_EPOCHORDER_H

#include "weft/base/MersenneTwister.h"

#include <optional>

namespace weft {

/// The values of Keras' argument shuffle: False, True and "batch", which keeps
/// batches together and shuffles inside each.
enum class Shuffle { None, All, InBatches };

class EpochOrder {
public:
  struct Options {
    int64_t samples = 0;
    int64_t batchSize = 32;
    Shuffle shuffle = Shuffle::All;
    bool dropRemainder = false;
    std::optional<int64_t> stepsPerEpoch = {};
    bool firstFit = true; ///< false: no draw for Keras' first batch
  };
  /// Takes a generator that outlives this object; it may be null without
  /// shuffling.
  EpochOrder(Options options, MersenneTwister *generator);
  /// The number of batches in one pass over the data.
  int64_t batches() const;
  /// The number of steps that is announced for an epoch.
  int64_t steps() const { return options.stepsPerEpoch.value_or(batches()); }
  void startEpoch();
  /// Sets `indices` to the samples of the next batch; false at the end of the
  /// epoch.
  bool next(std::vector<int64_t> &indices);
  /// Sets `indices` to the samples that the following next() is expected to
  /// give, those of a new epoch if this one is over; does not affect next().
  void peek(std::vector<int64_t> &indices);
  /// Whether the last epoch ended early, with fewer samples than stepsPerEpoch
  /// needs.
  bool ranOut() const { return exhausted; }

  /// The position in the order, without the generator.
  struct Position {
    std::vector<int64_t> order; ///< order of the pass; empty until it begins
    int64_t inPass = 0, inEpoch = 0; ///< batches taken
  };
  const Position &position() const { return at; }
  void resume(Position position) { at = std::move(position); }

private:
  /// The order of a pass; with Shuffle::All drawn from a generator in the state
  /// of `generator`.
  std::vector<int64_t> orderOf(MersenneTwister *from) const;
  void startPass();
  void take(const std::vector<int64_t> &order, int64_t batch,
            MersenneTwister *from, std::vector<int64_t> &indices) const;
  /// A pass that peek() drew before it began.
  struct Drawn {
    std::vector<int64_t> order;
    std::vector<uint32_t> before; ///< the generator's state before the pass
    MersenneTwister after;
  };
  Options options;
  MersenneTwister *generator;
  Position at;
  std::optional<Drawn> drawn;
  bool exhausted = false;
};

} // namespace weft

#endif // WEFT_TRAINING_EPOCHORDER_H
