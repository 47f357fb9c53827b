//===- Initializer.h - how a variable's first value is made ------*- C++ -*-===//
//
// The runtime computes the values (data/initializers/Initializers.h) from the class,
// the config in the file, and a seed. Classes here define the options of the
// config and the seeds: an initializer without a seed takes a number from
// Python's generator when Keras constructs it.
//
//   "glorot_uniform"                       draws when it is constructed
//   {"class_name": "HeNormal",
//    "config": {"seed": 7}}               has its seed
//   "zeros"                                needs no seed
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_INITIALIZER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_INITIALIZER_H

#include "weft/base/config/Options.h"

namespace weft::keras {

class Initializer : public Configured {
public:
  void options(Options &) override {}
  /// Whether the initializer takes a number from Python's generator.
  virtual bool drawsSeed() const { return false; }
  /// The seed in the config.
  virtual std::optional<int64_t> ownSeed() const { return std::nullopt; }
  /// Whether the values are computed with the seed of `by`.
  virtual bool seeded(const std::shared_ptr<const Initializer> &by) const {
    return by.get() == this;
  }
  /// The initial value {seed, 0} of the state of a layer that draws random
  /// numbers in its calls.
  static std::shared_ptr<const Configured> ofSeed(std::optional<int64_t> given);
};

class RandomInitializer : public Initializer {
public:
  std::optional<int64_t> seed;

  void options(Options &o) override {
    o.maybeInteger("seed", seed, kAnyNumber);
  }
  bool drawsSeed() const override { return !seed; }
  std::optional<int64_t> ownSeed() const override { return seed; }
};

/// The class of ofSeed's result, in the metadata of variables.
inline constexpr const char *kSeedGenerator = "SeedGenerator";

using InitializerPtr = std::shared_ptr<const Initializer>;
const Table<Initializer> &initializerTable();

/// Initializers in common use; each call makes a new object, as each draws its
/// own seed.
inline InitializerPtr glorotUniform() {
  return initializerTable().make("GlorotUniform");
}
inline InitializerPtr zeros() { return initializerTable().make("Zeros"); }
inline InitializerPtr ones() { return initializerTable().make("Ones"); }

/// An initializer with the same values, except that the second quarter of a
/// vector is 1: the biases of an LSTM's forget gate.
InitializerPtr withUnitForgetBias(const InitializerPtr &initializer);

/// An initializer of the square roots of another one's values; it draws its own
/// seed if the other one draws one.
InitializerPtr squareRootOf(const InitializerPtr &initializer);

/// An initializer that sets every element to `value`.
InitializerPtr constant(double value);

/// An initializer of normal numbers with mean 0, truncated at two standard
/// deviations.
InitializerPtr truncatedNormal(double stddev);

/// Another initializer with the same config, which draws its own seed unless
/// the config has one.
InitializerPtr cloneOf(const InitializerPtr &initializer);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_INITIALIZER_H
