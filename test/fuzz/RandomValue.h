//===- RandomValue.h - facts about a randomly drawn value -------*- C++ -*-===//
//
//   %3 : tensor<5xf32>, bound 20, integral     each element is one of -20 ... 20
//   %4 = weft.tanh %3                          a fraction: never summed, but with
//                                              --reals
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_RANDOMVALUE_H
#define WEFT_TEST_FUZZ_RANDOMVALUE_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

using Shape = std::vector<int64_t>;

/// An element type, and how often it is drawn.
struct ElementKind {
  const char *name;
  unsigned width;
  bool isFloat, isUnsigned;
  double largest; ///< integers up to here, and their sums, are exact
  double unit;    ///< rounding unit; 0: exact
  unsigned weight;
};

struct RandomValue {
  std::string name;
  Shape shape;
  const ElementKind *element = nullptr;
  /// The bound of elements' sizes: the majorant of RandomProgram.h. Infinite if
  /// elements may be infinite or NaN.
  double bound = 4;
  double depth = 0;     ///< roundings on the longest path to it
  double unit = 0;      ///< rounding unit of the coarsest type on it
  bool integral = true; ///< elements are integers
  bool onTape = true;   ///< its derivative by every argument is tracked
  bool special = false; ///< an argument with NaN and infinities among integers
  /// Whether signs of its zeros do not depend on sums.
  bool signedZeros = false;
  unsigned id = 0;

  bool isFloat() const { return element->isFloat; }
  bool isBool() const { return element->width == 1; }
  bool isNumber() const { return element->width > 1; }
  bool isFinite() const { return bound < 1e30; }
};

/// A value that depends on another: d result / d operand, summed over the
/// elements of the result, is no larger than `slope`.
struct TapeEdge {
  unsigned result, operand;
  double slope;
  double terms; ///< the most terms that are summed in the operand's gradient
};

/// The text [1, 2]
std::string list(const std::vector<int64_t> &values);
/// The text name = array<i64: 1, 2>
std::string arrayAttribute(const std::string &name,
                           const std::vector<int64_t> &values);
/// The text tensor<1x2xf32>
std::string typeOf(const Shape &shape, const std::string &element = "f32");
inline std::string typeOf(const RandomValue &x) {
  return typeOf(x.shape, x.element->name);
}
/// The names of values, separated by commas.
std::string namesOf(const std::vector<RandomValue> &values);
std::string typesOf(const std::vector<RandomValue> &values);
/// The number of elements, at most the largest int64_t.
int64_t elements(const Shape &shape);
/// The n numbers first, first + 1, ...
std::vector<int64_t> counted(size_t n, int64_t first = 0);

const ElementKind &elementKind(const std::string &name);
/// Whether every number of `from` is one of `to`.
bool isExactIn(const ElementKind &from, const ElementKind &to);
const std::vector<ElementKind> &elementKinds();

} // namespace weft

#endif // WEFT_TEST_FUZZ_RANDOMVALUE_H
