//===- PythonRandom.h - the numbers of Python's random ----------*- C++ -*-===//
//
// Python's `random` module, from which Keras draws a seed for every initializer
// and every layer of random numbers that is given none. An example:
//
//   keras.utils.set_random_seed(1337)   ->  PythonRandom random(1337);
//   first Dense: random.randint(1, 10**9)   random.seed() == 663307073
//   then Dropout                            random.seed() == 993786079
//
// The generator is MT19937 seeded by init_by_array with the 32-bit digits of
// the integer (CPython, Modules/_randommodule.c).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_PYTHONRANDOM_H
#define WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_PYTHONRANDOM_H

#include <array>
#include <cstdint>

namespace weft::keras {

class PythonRandom {
public:
  /// Seeds the generator like random.seed(seed).
  explicit PythonRandom(uint64_t seed);
  /// Draws like random.getrandbits(bits), for 1 to 32 bits.
  uint32_t bits(unsigned bits);
  /// Draws like random.randint(1, 10**9), as keras.random.make_default_seed
  /// does.
  int64_t seed();

private:
  void initialise(uint32_t seed);
  void refill();

  std::array<uint32_t, 624> state;
  unsigned position = 624;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_INITIALIZERS_PYTHONRANDOM_H
