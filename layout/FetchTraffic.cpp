//===- FetchTraffic.cpp - positions that members of a group send ----------===//

#include "weft/layout/FetchTraffic.h"

#include "weft/layout/Shards.h"

#include <algorithm>
#include <vector>

using namespace weft;

namespace {
// An integer that holds the product of two int64_t, as a program written by
// hand may have any attributes.
using Wide = __int128;

/// first + step * j for j in [0, count).
struct Progression {
  Wide first, step, count;

  Wide last() const { return first + step * (count - 1); }
};
} // namespace

/// The remainder in [0, modulus).
static Wide positiveRemainder(Wide number, Wide modulus) {
  Wide remainder = number % modulus;
  return remainder < 0 ? remainder + modulus : remainder;
}

/// Splits the progression, modulo the modulus, where it wraps around.
static std::vector<Progression> cutAtWraps(Progression numbers, Wide modulus) {
  if (modulus == 0)
    return {numbers};
  std::vector<Progression> runs;
  Wide first = positiveRemainder(numbers.first, modulus);
  Wide step = positiveRemainder(numbers.step, modulus);
  // The shorter step backwards gives the same numbers.
  if (step > modulus / 2)
    step -= modulus;
  for (Wide left = numbers.count; left > 0;) {
    Wide run = left;
    if (step > 0)
      run = std::min(left, (modulus - 1 - first) / step + 1);
    else if (step < 0)
      run = std::min(left, first / -step + 1);
    runs.push_back({first, step, run});
    first = positiveRemainder(first + step * run, modulus);
    left -= run;
  }
  return runs;
}

static Wide greatestCommonDivisor(Wide a, Wide b) {
  while (b != 0)
    std::swap(a %= b, b);
  return a < 0 ? -a : a;
}

/// x with a * x == 1 modulo the modulus, for coprime numbers: Euclid's
/// algorithm with the factors of a.
static Wide inverse(Wide a, Wide modulus) {
  Wide dividend = modulus, divisor = positiveRemainder(a, modulus);
  Wide before = 0, factor = 1;
  while (divisor > 1) {
    Wide quotient = dividend / divisor;
    std::swap(dividend -= quotient * divisor, divisor);
    std::swap(before -= quotient * factor, factor);
  }
  return positiveRemainder(factor, modulus);
}

/// The quotients of the numbers that the divisor divides.
static Progression quotients(const Progression &numbers, Wide divisor) {
  Wide common = greatestCommonDivisor(numbers.step, divisor);
  // The period of the indices j at which the divisor divides the number.
  Wide period = divisor / common;
  if (numbers.first % common != 0)
    return {0, 0, 0};
  Wide start = 0;
  if (period > 1)
    start = positiveRemainder(-(numbers.first / common), period) *
            inverse(numbers.step / common, period) % period;
  if (start >= numbers.count)
    return {0, 0, 0};
  return {(numbers.first + numbers.step * start) / divisor,
          numbers.step / common, (numbers.count - 1 - start) / period + 1};
}

/// The numbers in [0, size), smallest first.
static Progression clip(Progression numbers, Wide size) {
  if (numbers.step < 0)
    numbers = {numbers.last(), -numbers.step, numbers.count};
  if (numbers.count == 0 || numbers.last() < 0 || numbers.first >= size)
    return {0, 0, 0};
  if (numbers.step == 0)
    return numbers;
  if (numbers.first < 0) {
    Wide skipped = (-numbers.first + numbers.step - 1) / numbers.step;
    numbers.first += skipped * numbers.step;
    numbers.count -= skipped;
  }
  if (numbers.first >= size)
    return {0, 0, 0};
  numbers.count =
      std::min(numbers.count, (size - 1 - numbers.first) / numbers.step + 1);
  return numbers;
}

/// Adds the number of positions in each member's block, except the receiver's
/// own block.
static void addSent(Progression positions, int64_t held, int64_t receiver,
                    std::vector<int64_t> &sent) {
  while (positions.count > 0) {
    auto member = static_cast<int64_t>(positions.first / held);
    Wide run = positions.count;
    if (positions.step > 0)
      run = std::min(
          run,
          (Wide(member + 1) * held - 1 - positions.first) / positions.step + 1);
    if (member != receiver)
      sent[member] += static_cast<int64_t>(run);
    positions.first += run * positions.step;
    positions.count -= run;
  }
}

int64_t weft::mostPositionsSent(const FetchedPositions &fetched,
                                int64_t members, int64_t count) {
  int64_t held = shardSize(fetched.size, members);
  std::vector<int64_t> sent(members, 0);
  for (int64_t k = 0; k < members; ++k) {
    Progression numbers = {Wide(fetched.block) * k + fetched.offset,
                           fetched.step, count};
    for (const Progression &run : cutAtWraps(numbers, fetched.modulus))
      addSent(clip(quotients(run, fetched.divisor), fetched.size), held, k,
              sent);
  }
  return *std::ranges::max_element(sent);
}
