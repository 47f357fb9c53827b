//===- Draws.h - jax.random in a type of floats -----------------*- C++ -*-===//
//
//   Draws draws(ThreefryKey::ofSeed(1337), ElementType::BFloat16);
//   std::vector<float> u(6);
//   draws.uniform(u, -0.05, 0.05); // = jax.random.uniform(key, (6,), bfloat16, ...)
//
// A type of 16 bits has other random bits than float32: a bfloat16 takes 8 of each
// element's 32, a float16 16; and each operation is rounded to it, as XLA's CPU
// backend rounds them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_INITIALIZERS_DRAWS_H
#define WEFT_DATA_INITIALIZERS_DRAWS_H

#include "weft/base/Threefry.h"
#include "weft/data/arrays/Array.h"

namespace weft {

class Draws {
public:
  /// Takes the key and the type; types without random numbers of their own draw
  /// as float32.
  Draws(ThreefryKey key, ElementType type) : key(key), type(type) {}

  /// Element i of `out` is element `first + i` of the array.
  void uniform(std::span<float> out, double minimum, double maximum,
               uint64_t first = 0) const;
  void normal(std::span<float> out, uint64_t first = 0) const;
  void truncatedNormal(std::span<float> out, double lower, double upper,
                       uint64_t first = 0) const;
  /// x * factor + summand, each step rounded.
  void rescale(std::span<float> values, double factor, double summand) const;

private:
  bool isShort() const {
    return type == ElementType::Float16 || type == ElementType::BFloat16;
  }
  /// The number of the type that is nearest to the value.
  float rounded(double value) const;
  /// The next number of the type towards 0.
  float inward(float value) const;
  /// A number in [0, 1) for element `index`.
  float unit(uint64_t index) const;

  ThreefryKey key;
  ElementType type;
};

} // namespace weft

#endif // WEFT_DATA_INITIALIZERS_DRAWS_H
