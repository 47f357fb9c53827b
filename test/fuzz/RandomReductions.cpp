//===- RandomReductions.cpp - steps that sum, multiply and contract -------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {

/// Draws the dimensions to reduce; adds the sizes of the others to `shape`.
template <typename Below>
static std::vector<int64_t> drawDims(const RandomValue &x, Shape &shape,
                                     Below below) {
  std::vector<int64_t> dims;
  for (size_t dim = 0; dim < x.shape.size(); ++dim) {
    if (below(2))
      dims.push_back(static_cast<int64_t>(dim));
    else
      shape.push_back(x.shape[dim]);
  }
  return dims;
}

static std::string reduceText(const char *kind, const RandomValue &x,
                              const std::vector<int64_t> &dims,
                              const RandomValue &result) {
  return std::string("weft.reduce ") + kind + " " + x.name + " dims " +
         list(dims) + " : " + typeOf(x) + " -> " + typeOf(result);
}

void ProgramGenerator::reduce() {
  static const char *kinds[] = {"sum", "sum", "max", "min", "prod"};
  const char *kind = kinds[below(5)];
  bool sums = kind[0] == 's', multiplies = kind[0] == 'p';
  auto x = pick([&](const RandomValue &v) {
    return v.isNumber() && (sums         ? canSum(v) || v.special
                            : multiplies ? canSum(v)
                                         : canBend(v));
  });
  if (!x)
    return;
  Shape shape;
  auto dims = drawDims(*x, shape, [&](int64_t n) { return below(n); });
  if (dims.empty())
    return;
  double n = 1;
  for (int64_t dim : dims)
    n *= static_cast<double>(x->shape[dim]);
  if (n == 0 && !sums)
    return; // only a sum may have no elements: max and min are infinite
  // Numbers among NaN and infinities are integers up to 4, so sums of too many
  // are skipped.
  if (sums && x->special && 4 * n > x->element->largest)
    return;
  RandomValue from = sums || multiplies ? widened(*x) : *x,
              result = sums ? sumLike(from, shape, n) : moved(from, shape);
  double slope = 1;
  if (multiplies) {
    double base = std::max(x->bound, 1.0);
    slope = std::pow(base, n - 1);
    result.bound = slope * base;
    if (!x->integral)
      result.depth = n * (1 + x->depth);
    if (inLoss && (!canJump(*x) || n > 4))
      return;
  } else if (!sums && inLoss) {
    // Ties share the gradient, so there is one such op, of at most 8 elements.
    if (sharings || n > 8)
      return;
    sharings = 1;
  }
  emit(reduceText(kind, *x, dims, result), result, {{*x, slope}});
}

void ProgramGenerator::reduceBits() {
  static const char *kinds[] = {"and", "or"};
  auto x = pick([](const RandomValue &v) { return !v.isFloat(); });
  if (!x)
    return;
  Shape shape;
  auto dims = drawDims(*x, shape, [&](int64_t n) { return below(n); });
  RandomValue result = like(*x, shape);
  result.bound = std::ldexp(1.0, static_cast<int>(x->element->width));
  if (!dims.empty())
    emit(reduceText(kinds[below(2)], *x, dims, result), result);
}

/// Generates a sum or a matrix product whose partial sums overflow f16,
/// although the total may not: terms are added exactly, and the total is
/// rounded once. No op uses the result, as its infinities would depend on the
/// order of sums.
void ProgramGenerator::largeSum() {
  RandomValue x;
  x.element = &elementKind("f16");
  x.shape = {1 + below(8), 1 + below(40)};
  x.bound = std::numeric_limits<double>::infinity();
  x.integral = false;
  x.unit = x.element->unit;
  addArgument("%large", x, "large", /*partialToo=*/false);
  x = values.back();
  values.pop_back();
  RandomValue result = x;
  result.name = fresh("sum");
  if (oneIn(2)) {
    int64_t dim = below(2);
    result.shape.erase(result.shape.begin() + dim);
    line(result.name + " = weft.reduce sum " + x.name + " dims " + list({dim}) +
         " : " + typeOf(x) + " -> " + typeOf(result));
  } else {
    RandomValue y = x;
    y.shape = {x.shape[1], 1 + below(4)};
    y.bound = 4;
    y.integral = true;
    // The argument is not partial, as summands have other signs than their sum.
    addArgument("%factors", y, "", /*partialToo=*/false);
    y = values.back();
    values.pop_back();
    result.shape = {x.shape[0], y.shape[1]};
    line(result.name + " = weft.dot " + x.name + ", " + y.name +
         " contract [1] x [0] : " + typeOf(x) + ", " + typeOf(y) + " -> " +
         typeOf(result));
  }
  lastValues.push_back(result);
}

/// Contracts one pair of dimensions, or two, sometimes with a batch.
void ProgramGenerator::dot() {
  auto x = pick([&](const RandomValue &v) { return canSum(v); });
  if (!x)
    return;
  RandomValue from = widened(*x);
  bool mixes = from.element != x->element && oneIn(2);
  auto y = pick([&](const RandomValue &v) {
    return canSum(v) && (mixes ? isExactIn(*v.element, *from.element)
                               : v.element == x->element);
  });
  static const char *precisions[] = {"", "", "", "precision high ",
                                     "precision highest "};
  std::vector<int64_t> contract[2], batch[2];
  std::vector<bool> used(y->shape.size());
  double terms = 1;
  for (size_t i = 0; i < x->shape.size(); ++i)
    for (size_t j = 0; j < y->shape.size(); ++j) {
      if (x->shape[i] != y->shape[j] || used[j] || oneIn(3))
        continue;
      bool batched = oneIn(3);
      (batched ? batch : contract)[0].push_back(static_cast<int64_t>(i));
      (batched ? batch : contract)[1].push_back(static_cast<int64_t>(j));
      terms *= batched ? 1 : static_cast<double>(x->shape[i]);
      used[j] = true;
      break;
    }
  Shape shape;
  double free[2] = {1, 1};
  for (int64_t dim : batch[0])
    shape.push_back(x->shape[dim]);
  for (int side : {0, 1}) {
    const RandomValue &v = side ? *y : *x;
    for (int64_t dim : counted(v.shape.size()))
      if (!std::count(contract[side].begin(), contract[side].end(), dim) &&
          !std::count(batch[side].begin(), batch[side].end(), dim)) {
        shape.push_back(v.shape[dim]);
        free[side] *= static_cast<double>(v.shape[dim]);
      }
  }
  RandomValue result = sumLike(from, shape, terms);
  join(result, *y);
  result.bound = x->bound * y->bound * terms;
  if (!result.integral)
    result.depth = x->depth + y->depth + terms + 1;
  std::string batches = batch[0].empty() ? ""
                                         : "batch " + list(batch[0]) + " x " +
                                               list(batch[1]) + " ";
  emit("weft.dot " + x->name + ", " + y->name + " " + batches + "contract " +
           list(contract[0]) + " x " + list(contract[1]) + " " +
           precisions[below(5)] + ": " + typeOf(*x) + ", " + typeOf(*y) +
           " -> " + typeOf(result),
       result, {{*x, y->bound * free[1]}, {*y, x->bound * free[0]}});
}

} // namespace weft
