//===- Initializer.h - how a variable's first value is made ------*- C++ -*-===//
//
// An initializer of Keras: its options, and the values that it draws. One
// without a seed takes a number from Python's generator when Keras constructs
// it.
//
//   "glorot_uniform"                       draws when it is constructed
//   {"class_name": "HeNormal",
//    "config": {"seed": 7}}               has its seed
//   "zeros"                                needs no seed
//
//   Result<Draw> draw = glorotUniform()->draw({{784, 200}, Float32, 663307073});
//   (*draw)(200, row);                     // elements 200 to 399
//
// The values are those of Keras 3 on JAX: uniform draws bit for bit, normal
// draws up to the last steps of the inverse error function, orthogonal
// matrices up to the rounding of the QR factorization.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_INITIALIZERS_INITIALIZER_H
#define WEFT_DATA_INITIALIZERS_INITIALIZER_H

#include "weft/base/ElementTypes.h"
#include "weft/base/config/Options.h"

#include <functional>
#include <span>

namespace weft::keras {

/// Writes the elements of an array from `first` on, row-major, as many as fill
/// `out`; each depends on its place alone.
using Draw = std::function<void(uint64_t first, std::span<float> out)>;

/// The array whose first value is drawn.
struct Drawn {
  std::vector<int64_t> shape;
  /// Types of 16 bits have draws of their own.
  ElementType type = ElementType::Float32;
  /// The seed of the draw, unless the initializer has a seed.
  std::optional<uint32_t> seed = std::nullopt;
  /// The axes from which fans are computed; if one list is empty, the
  /// initializer chooses.
  std::vector<int64_t> inputAxes = {}, outputAxes = {};
};

class Initializer : public Configured {
public:
  void options(Options &) override {}
  /// The values of an array; an error for a shape, or without a seed.
  virtual Result<Draw> draw(const Drawn &array) const = 0;
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

/// The class of ofSeed's result, in the metadata of variables.
inline constexpr const char *kSeedGenerator = "SeedGenerator";

using InitializerPtr = std::shared_ptr<const Initializer>;
/// The initializers of Keras.
const Table<Initializer> &initializerTable();
/// Those and the ones that only programs have: the results of the functions
/// below.
const Table<Initializer> &variableInitializerTable();

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

#endif // WEFT_DATA_INITIALIZERS_INITIALIZER_H
