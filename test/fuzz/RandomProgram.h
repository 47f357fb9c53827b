//===- RandomProgram.h - programs from a seed -------------------*- C++ -*-===//

#ifndef WEFT_TEST_FUZZ_RANDOMPROGRAM_H
#define WEFT_TEST_FUZZ_RANDOMPROGRAM_H

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

/// The attribute of a result with the largest difference of two correct
/// programs (f64); none: equal.
inline constexpr char kErrorBoundAttr[] = "weft.error_bound";
/// The attribute of an argument with its kind of numbers. "special": NaN,
/// infinities and -0 among the integers; "large": multiples of 8192, whose sums
/// overflow f16.
inline constexpr char kDrawAttr[] = "weft.draw";

struct ProgramOptions {
  unsigned ops = 8;
  /// Whether inputs are reals, and sums of fractions are generated, too.
  bool reals = false;
  /// Whether the program will also run as machine code, whose exp differs from
  /// the interpreter's: results that depend on one get an error bound.
  bool compiled = false;
  /// Whether the program is planned and explained only: its sizes and its mesh
  /// may be as large as can be written.
  bool planned = false;
  /// Whether the program is compiled only, for every target: a tensor has up to
  /// 2^24 elements, of any value.
  bool large = false;
  /// Of a large program: the number of the only construct that it has, below
  /// numConstructs(); nothing: `ops` random ones. And the number of the ops
  /// after the last value, below numFollowers(): none, a second use, a narrower
  /// type, a reduction, ...
  std::optional<unsigned> construct;
  unsigned follower = 0;
};

unsigned numConstructs();
unsigned numFollowers();

/// The text of a module with one entry function @main on a random mesh of up
/// to 8 devices, with layouts on its arguments and sizes that often do not
/// divide.
///
/// Where inputs are integers in [-4, 4] (unsigned ones in [0, 8]) every value
/// that is summed is an integer so small that every order of additions is
/// exact, so right programs agree to the bit.
///
/// With `reals` inputs lie in [-1, 1), and each result has a bound: a value's
/// majorant M is its value in the same program with all numbers replaced by
/// their sizes and all functions by their steepest slopes, its depth D the
/// number of roundings on the longest path to it. To first order each of two
/// runs is off by at most D*u*M, u the rounding unit of its coarsest type; the
/// bound is 2*D*u*M. Ops that jump (floor, compare, sort) are applied only to
/// values with D=0.
std::string randomProgram(uint64_t seed, const ProgramOptions &options = {});

} // namespace weft

#endif // WEFT_TEST_FUZZ_RANDOMPROGRAM_H
