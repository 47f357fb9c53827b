//===- Threefry.h - the random numbers of JAX -------------------*- C++ -*-===//
//
// A seed gives the same numbers as Keras on JAX.
//
//   ThreefryKey key = ThreefryKey::ofSeed(1337);   // jnp.uint32([1337, 0])
//   std::vector<float> u(6);
//   key.uniform(u, -0.05f, 0.05f);   // = jax.random.uniform(key, (6,), ...)
//
// Element i depends on the key and i alone (jax_threefry_partitionable), so a
// shard draws its own elements and all shards together draw the same array.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_THREEFRY_H
#define WEFT_BASE_THREEFRY_H

#include <cstdint>
#include <span>
#include <utility>

namespace weft {

/// Threefry-2x32 with 20 rounds (Salmon et al., SC 2011).
std::pair<uint32_t, uint32_t> threefry2x32(uint32_t key0, uint32_t key1,
                                           uint32_t counter0,
                                           uint32_t counter1);

/// XLA's float32 inverse error function (Giles' polynomials).
float erfInv(float x);

struct ThreefryKey {
  uint32_t k0 = 0, k1 = 0;
  /// The key that Keras makes from an integer seed.
  static ThreefryKey ofSeed(uint32_t seed) { return {seed, 0}; }

  /// Equals jax.random.bits of element `index` in row-major order.
  uint32_t bits(uint64_t index) const;
  /// Equals jax.random.fold_in.
  ThreefryKey foldIn(uint32_t data) const;
  /// Equals jax.random.split(key, n)[index].
  ThreefryKey split(uint64_t index) const;

  /// Equals jax.random.uniform; element i of `out` is element `first + i` of
  /// the array.
  void uniform(std::span<float> out, float minimum = 0, float maximum = 1,
               uint64_t first = 0) const;
  void normal(std::span<float> out, uint64_t first = 0) const;
  /// Equals jax.random.truncated_normal(key, lower, upper).
  void truncatedNormal(std::span<float> out, float lower, float upper,
                       uint64_t first = 0) const;
};

} // namespace weft

#endif // WEFT_BASE_THREEFRY_H
