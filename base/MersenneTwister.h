//===- MersenneTwister.h - the random numbers of NumPy and Python -*- C++ -*-===//
//
// Keras shuffles by NumPy's generator and draws seeds from Python's:
//
//   keras.utils.set_random_seed(1337)   MersenneTwister::python(1337)
//   first Dense: random.randint(1, 10**9)   kerasSeed() == 663307073
//   then Dropout                            kerasSeed() == 993786079
//
// Python seeds the generator by init_by_array with the 32-bit digits of the
// integer (CPython, Modules/_randommodule.c).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_MERSENNETWISTER_H
#define WEFT_BASE_MERSENNETWISTER_H

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// MT19937, the generator of NumPy's legacy functions and Python's `random`.
class MersenneTwister {
public:
  /// Equals numpy.random.seed(seed).
  static MersenneTwister numpy(uint32_t seed);
  /// Equals random.seed(seed) for a non-negative integer.
  static MersenneTwister python(uint64_t seed);
  uint32_t next();

  /// Equals numpy.random.permutation(n).
  std::vector<int64_t> permutation(int64_t n);
  /// Equals random.getrandbits(bits), for 1 to 32 bits.
  uint32_t bits(unsigned bits) { return next() >> (32 - bits); }
  /// Equals random.randint(1, 10**9): the seed that Keras gives an initializer
  /// or a seed generator without a seed (keras.random.make_default_seed).
  uint32_t kerasSeed();

  /// The whole state: 624 words, then the number of words already used.
  std::vector<uint32_t> position() const;
  /// Restores a state; false if the words are no state.
  bool resume(std::span<const uint32_t> words);

private:
  void seed(uint32_t value);
  uint32_t state[624];
  int used = 624;
};

} // namespace weft

#endif // WEFT_BASE_MERSENNETWISTER_H
