//===- Initializer.h - how a variable's first value is made ------*- C++ -*-===//
//
// The runtime computes the values (runtime/data/Initializers.h) from the class,
// the config in the file, and a seed. Classes here define the options of the
// config and the seeds: an initializer without a seed takes a number from
// Python's generator when Keras constructs it.
//
//   "glorot_uniform"                            draws when it is constructed
//   {"class_name": "HeNormal", {"seed": 7}}     has its seed
//   "zeros"                                     needs none
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_INITIALIZER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_INITIALIZER_H

#include "weft/compiler/frontends/keras/schema/Options.h"

namespace weft::keras {

class Initializer : public Configured {
public:
  void options(Options &) override {}
  /// Whether it takes a number from Python's generator.
  virtual bool drawsSeed() const { return false; }
  /// The seed in its config.
  virtual std::optional<int64_t> ownSeed() const { return std::nullopt; }
  /// Whether its values are made with the seed of this generator.
  virtual bool seeded(const std::shared_ptr<const Initializer> &by) const {
    return by.get() == this;
  }
  /// The state {seed, 0} of a layer that draws random numbers while it runs.
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

/// An initializer with the same values, except for ones in the second quarter
/// of a vector: the bias of an LSTM's forget gate.
InitializerPtr withUnitForgetBias(const InitializerPtr &initializer);

/// An initializer of the square roots of these values; it draws its own seed.
InitializerPtr squareRootOf(const InitializerPtr &initializer);

/// An initializer whose every element is the number.
InitializerPtr constant(double value);

/// An initializer of normal numbers around 0, within two deviations.
InitializerPtr truncatedNormal(double stddev);

/// Another initializer with the same config, which draws its own seed.
InitializerPtr cloneOf(const InitializerPtr &initializer);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_INITIALIZER_H
