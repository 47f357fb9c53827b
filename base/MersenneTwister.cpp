//===- MersenneTwister.cpp - the random numbers of NumPy and Python -------===//

#include "weft/base/MersenneTwister.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

namespace weft {

void MersenneTwister::seed(uint32_t value) {
  for (int i = 0; i < 624; ++i) {
    state[i] = value;
    value = 1812433253u * (value ^ value >> 30) + i + 1;
  }
  used = 624;
}

MersenneTwister MersenneTwister::numpy(uint32_t seed) {
  MersenneTwister generator;
  generator.seed(seed);
  return generator;
}

MersenneTwister MersenneTwister::python(uint64_t seed) {
  // Equals init_by_array with the seed's 32-bit digits.
  MersenneTwister generator;
  generator.seed(19650218);
  uint32_t key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  int length = key[1] ? 2 : 1, i = 1, j = 0;
  uint32_t *mt = generator.state;
  for (int k = 624; k; --k) {
    mt[i] = (mt[i] ^ (mt[i - 1] ^ mt[i - 1] >> 30) * 1664525u) + key[j] + j;
    if (++i == 624) {
      mt[0] = mt[623];
      i = 1;
    }
    j = (j + 1) % length;
  }
  for (int k = 623; k; --k) {
    mt[i] = (mt[i] ^ (mt[i - 1] ^ mt[i - 1] >> 30) * 1566083941u) - i;
    if (++i == 624) {
      mt[0] = mt[623];
      i = 1;
    }
  }
  mt[0] = 0x80000000u;
  return generator;
}

uint32_t MersenneTwister::next() {
  if (used == 624) {
    for (int i = 0; i < 624; ++i) {
      uint32_t y =
          (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7FFFFFFFu);
      state[i] = state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908B0DFu : 0);
    }
    used = 0;
  }
  uint32_t y = state[used++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9D2C5680u;
  y ^= y << 15 & 0xEFC60000u;
  return y ^ y >> 18;
}

std::vector<int64_t> MersenneTwister::permutation(int64_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) {
    // Equals random_interval: bits under the smallest mask that covers i, drawn
    // again if above i.
    uint64_t mask = std::bit_ceil(uint64_t(i) + 1) - 1, drawn;
    do {
      drawn = next();
      if (mask >> 32)
        drawn = drawn << 32 | next();
      drawn &= mask;
    } while (drawn > uint64_t(i));
    std::swap(order[i], order[drawn]);
  }
  return order;
}

std::vector<uint32_t> MersenneTwister::position() const {
  std::vector<uint32_t> words(std::begin(state), std::end(state));
  words.push_back(uint32_t(used));
  return words;
}

bool MersenneTwister::resume(std::span<const uint32_t> words) {
  if (words.size() != std::size(state) + 1 || words.back() > std::size(state))
    return false;
  std::copy(words.begin(), words.end() - 1, std::begin(state));
  used = int(words.back());
  return true;
}

uint32_t MersenneTwister::kerasSeed() {
  uint32_t drawn;
  do
    drawn = bits(30);
  while (drawn >= 1000000000);
  return drawn + 1;
}

} // namespace weft
