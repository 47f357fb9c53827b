//===- PythonRandom.cpp - MT19937 as CPython seeds it ---------------------===//

#include "weft/compiler/frontends/keras/initializers/PythonRandom.h"

#include <algorithm>

using namespace weft::keras;

void PythonRandom::initialise(uint32_t seed) {
  state[0] = seed;
  for (uint32_t i = 1; i < state.size(); ++i)
    state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

PythonRandom::PythonRandom(uint64_t seed) {
  std::array<uint32_t, 2> key = {uint32_t(seed), uint32_t(seed >> 32)};
  const unsigned length = key[1] ? 2 : 1, n = state.size();
  initialise(19650218u);
  unsigned i = 1, j = 0;
  auto advance = [&] {
    if (++i >= n) {
      state[0] = state[n - 1];
      i = 1;
    }
  };
  for (unsigned k = 0; k < n; ++k) {
    uint32_t before = state[i - 1] ^ (state[i - 1] >> 30);
    state[i] = (state[i] ^ (before * 1664525u)) + key[j] + j;
    j = (j + 1) % length;
    advance();
  }
  for (unsigned k = 1; k < n; ++k) {
    uint32_t before = state[i - 1] ^ (state[i - 1] >> 30);
    state[i] = (state[i] ^ (before * 1566083941u)) - i;
    advance();
  }
  state[0] = 0x80000000u;
}

void PythonRandom::refill() {
  const unsigned n = state.size();
  for (unsigned k = 0; k < n; ++k) {
    uint32_t y = (state[k] & 0x80000000u) | (state[(k + 1) % n] & 0x7fffffffu);
    state[k] = state[(k + 397) % n] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0u);
  }
  position = 0;
}

uint32_t PythonRandom::bits(unsigned bits) {
  if (position >= state.size())
    refill();
  uint32_t y = state[position++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  y ^= y >> 18;
  return y >> (32 - bits);
}

int64_t PythonRandom::seed() {
  // randint(1, n) is 1 + randbelow(n), which draws 30 bits until they are below
  // n.
  constexpr uint32_t limit = 1000000000u;
  uint32_t drawn;
  do
    drawn = bits(30);
  while (drawn >= limit);
  return int64_t(drawn) + 1;
}
