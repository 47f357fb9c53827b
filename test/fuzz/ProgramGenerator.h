//===- ProgramGenerator.h - one random program, step by step ----*- C++ -*-===//
//
// A step draws values that exist and emits one op on them:
//
//   %0 = weft.roll %x0 by [2] : tensor<5xf32>
//
// All values are floats that hold integers no larger than their bound, so that
// sums are exact in any order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_PROGRAMGENERATOR_H
#define WEFT_TEST_FUZZ_PROGRAMGENERATOR_H

#include "weft/test/fuzz/RandomProgram.h"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weft {

using Shape = std::vector<int64_t>;

struct RandomValue {
  std::string name;
  Shape shape;
  double bound; ///< no element is larger in size
};

/// [1, 2]
std::string list(const std::vector<int64_t> &values);
/// tensor<1x2xf32>
std::string typeOf(const Shape &shape, const std::string &element = "f32");
int64_t elements(const Shape &shape);

class ProgramGenerator {
public:
  explicit ProgramGenerator(uint64_t seed) : random(seed) {}
  std::string run(const ProgramOptions &options);

private:
  static constexpr double kLargest = 1 << 22;

  int64_t below(int64_t n) { return static_cast<int64_t>(random() % n); }
  const RandomValue &any() { return values[below(values.size())]; }
  Shape randomShape() {
    Shape shape(1 + below(3));
    for (int64_t &size : shape)
      size = 1 + below(9);
    return shape;
  }
  std::string drawMesh();
  std::string drawLayout(size_t rank);
  /// A value of the same shape: another, or itself.
  RandomValue partner(const RandomValue &x);
  /// Adds `%n = text`; nothing where elements could grow too large.
  void emit(const std::string &text, Shape shape, double bound);
  /// One of those below.
  void step();
  void unary();
  void binary();
  void selection();
  void constrain();
  void broadcast();
  void transpose();
  void reshape();
  void slice();
  void pad();
  void concatenate();
  void reduce();
  void dot();
  void source();
  // RandomMoves.cpp
  void clamp();
  void reverse();
  void roll();
  void dynamicSlice();
  void dynamicUpdateSlice();
  /// One i32 that depends on data, often out of range: its name.
  std::string randomStart();

  // RandomIndexing.cpp
  void gather();
  void gatherRows(const RandomValue &x, const RandomValue &ids);
  void scatter();
  void oneHot();
  void cumulative();
  void argument();
  void topK();
  void sort();
  // RandomWindows.cpp
  void reduceWindow();
  void selectAndScatter();
  void convolution();
  // RandomMatrices.cpp
  void triangularSolve();
  void cholesky();
  /// Square matrices of -1, 0 and 1 for the batch of x, which is contracted
  /// over one of its last two dimensions: their name.
  std::string randomMatrices(const RandomValue &x, int64_t contract);
  /// A value as i32, in and out of any range.
  RandomValue randomIndices();

  std::mt19937_64 random;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<RandomValue> values;
  std::string body;
  unsigned count = 0, starts = 0;
};

} // namespace weft

#endif // WEFT_TEST_FUZZ_PROGRAMGENERATOR_H
