//===- RandomComplex.cpp - complex numbers and Fourier transforms ---------===//
//
//   %c0 = weft.complex %x, %y        two real values
//   %c1 = weft.mul %c0, %c0          a step or some: |c| has a bound
//   %c2 = weft.fft fft %c1 dim 0
//   %3 = weft.real %c2               for other ops
//   %4 = weft.imag %c2
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <cmath>

namespace weft {

/// A complex value, and the slopes of its components by the components of the
/// first and of the second complex operand.
struct ProgramGenerator::RandomComplex {
  RandomValue value;
  double first = 0, second = 0;
};

static const ElementKind &complexOf(const ElementKind &component) {
  static const ElementKind kinds[] = {
      {"complex<f32>", 32, true, false, 1 << 22, 6e-8, 0},
      {"complex<f64>", 64, true, false, 1e15, 1.2e-16, 0}};
  return kinds[component.width == 64];
}

std::string ProgramGenerator::complexLine(const std::string &text) {
  std::string name = fresh("c");
  line(name + " = weft." + text);
  return name;
}

/// Combines two real values into a complex one.
ProgramGenerator::RandomComplex
ProgramGenerator::complexFrom(const RandomValue &re, const RandomValue &im) {
  RandomComplex z;
  z.value = like(re);
  join(z.value, im);
  z.value.bound = re.bound + im.bound;
  z.value.element = &complexOf(*re.element);
  z.value.name =
      complexLine("complex " + re.name + ", " + im.name + " : " + typeOf(re) +
                  ", " + typeOf(im) + " -> " + typeOf(z.value));
  return z;
}

/// Applies moves, or a change of sign, which do not change slopes.
void ProgramGenerator::moveComplex(RandomComplex &z) {
  RandomValue &x = z.value;
  std::string type = typeOf(x),
              dim = x.shape.empty() ? "" : std::to_string(dimOf(x));
  int64_t kind = below(x.shape.empty() ? 2 : 5);
  if (kind == 0)
    x.name = complexLine("neg " + x.name + " : " + type);
  else if (kind == 1)
    x.name = complexLine("conj " + x.name + " : (" + type + ") -> " + type);
  else if (kind == 2)
    x.name = complexLine("reverse " + x.name + " dims [" + dim + "] : " + type);
  else if (kind == 3)
    x.name =
        complexLine("constrain " + x.name + " to " +
                    drawLayout(x.shape.size()) + " : " + type + " -> " + type);
  else
    addComplex(z);
}

/// Sums along a dimension.
void ProgramGenerator::addComplex(RandomComplex &z) {
  RandomValue &x = z.value;
  int64_t dim = dimOf(x);
  RandomValue sum = sumLike(x, x.shape, static_cast<double>(x.shape[dim]));
  sum.shape.erase(sum.shape.begin() + dim);
  if (isTooLarge(sum))
    return;
  sum.name =
      complexLine("reduce sum " + x.name + " dims [" + std::to_string(dim) +
                  "] : " + typeOf(x) + " -> " + typeOf(sum));
  x = sum;
}

/// Adds, subtracts or multiplies a second value of the same type.
void ProgramGenerator::combineComplex(RandomComplex &z,
                                      const RandomComplex &w) {
  const char *ops[] = {"add", "sub", "mul"};
  int64_t kind = below(3);
  RandomComplex result = z;
  join(result.value, w.value);
  if (kind == 2) {
    result.first = z.first * w.value.bound + w.first * z.value.bound;
    result.second = z.second * w.value.bound + w.second * z.value.bound;
    result.value.bound = z.value.bound * w.value.bound;
  } else {
    result.first = z.first + w.first;
    result.second = z.second + w.second;
    result.value.bound = z.value.bound + w.value.bound;
  }
  if (!result.value.integral)
    result.value.depth = z.value.depth + w.value.depth + 3;
  if (isTooLarge(result.value))
    return;
  result.value.name =
      complexLine(std::string(ops[kind]) + " " + z.value.name + ", " +
                  w.value.name + " : " + typeOf(z.value));
  z = result;
}

/// Applies a Fourier transform, whose roots of unity are no integers except for
/// few lengths.
void ProgramGenerator::transform(RandomComplex &z) {
  RandomValue &x = z.value;
  int64_t dim = dimOf(x), n = x.shape[dim];
  RandomValue result = x;
  result.integral = false;
  result.bound = x.bound * static_cast<double>(n);
  // The result is always rounded: a partial sum is transformed before it is
  // reduced.
  result.depth = x.depth + 64 + rounding(64);
  result.unit = std::max(result.unit, x.element->unit);
  if (isTooLarge(result))
    return;
  result.name = complexLine(
      std::string("fft ") + (oneIn(2) ? "fft " : "ifft ") + x.name + " dim " +
      std::to_string(dim) + " : " + typeOf(x) + " -> " + typeOf(x));
  x = result;
}

void ProgramGenerator::complexNumbers() {
  auto test = [&](const RandomValue &v) {
    return v.isFloat() && v.element->width >= 32 && canSum(v);
  };
  auto re = pick(test);
  if (!re)
    return;
  auto other = [&] {
    return *pick([&](const RandomValue &v) {
      return test(v) && typeOf(v) == typeOf(*re);
    });
  };
  RandomValue im = other(), re2 = other(), im2 = other();
  RandomComplex z = complexFrom(*re, im), w = complexFrom(re2, im2);
  z.first = w.second = 1;
  for (int64_t i = 0, n = 1 + below(3); i < n; ++i) {
    if (z.value.shape == w.value.shape && oneIn(2))
      combineComplex(z, oneIn(3) ? z : w);
    else
      moveComplex(z);
  }
  if (!inLoss && !z.value.shape.empty() && oneIn(2))
    transform(z);
  for (const char *part : {"real", "imag"}) {
    RandomValue result = z.value;
    result.element = re->element;
    std::string name =
        complexLine(std::string(part) + " " + z.value.name + " : (" +
                    typeOf(z.value) + ") -> " + typeOf(result));
    define(name, result,
           {{*re, z.first}, {im, z.first}, {re2, z.second}, {im2, z.second}});
  }
}

} // namespace weft
