//===- RandomShapes.cpp - steps that repeat, order, cut and join ----------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <numeric>

namespace weft {

/// Constrains a value to a layout, or only by options: {weft.open = array<i64:
/// 0, 1>, weft.group = ..}.
void ProgramGenerator::constrain() {
  auto x = pick();
  size_t rank = x->shape.size();
  bool partial = mayBePartial(*x) && oneIn(6);
  std::string layout = drawLayout(rank, partial ? &*x : nullptr), options;
  if (rank == 0 || !oneIn(3)) {
    options = drawAnnotationOptions(rank, /*annotated=*/true);
  } else {
    std::string dims, open;
    for (size_t i = 0; i < rank; ++i) {
      dims += i ? ", {}" : "{}";
      open += (i ? ", " : "") + std::to_string(i);
    }
    auto order = axes;
    layout = "#weft.layout<#mesh, [" + dims + "]" + drawPart(order) + ">";
    options = ", weft.open = array<i64: " + open + ">" +
              drawAnnotationOptions(rank, /*annotated=*/false);
  }
  if (oneIn(2))
    layout = layout.substr(layout.find('<'));
  RandomValue result = moved(*x, x->shape);
  result.signedZeros &= layout.find("partial") == std::string::npos;
  emit("weft.constrain " + x->name + " to " + layout +
           (options.empty() ? "" : " {" + options.substr(2) + "}") + " : " +
           typeOf(*x) + " -> " + typeOf(*x),
       result, {{*x}});
}

/// A barrier of several values that have nothing to do with each other.
void ProgramGenerator::barrier() {
  if (inLoss)
    return;
  std::vector<RandomValue> chosen;
  for (int64_t i = 0, n = 2 + below(3); i < n; ++i)
    chosen.push_back(*pick());
  std::string name = fresh("barrier"), types = typesOf(chosen);
  line(name + ":" + std::to_string(chosen.size()) +
       " = weft.optimization_barrier " + namesOf(chosen) + " : " + types +
       " -> " + types);
  for (size_t i = 0; i < chosen.size(); ++i)
    define(name + "#" + std::to_string(i), moved(chosen[i], chosen[i].shape));
}

void ProgramGenerator::broadcast() {
  auto x = pick();
  Shape shape;
  std::vector<int64_t> dims;
  for (size_t i = 0; i <= x->shape.size(); ++i) {
    if (oneIn(3))
      shape.push_back(1 + below(6));
    if (i == x->shape.size())
      break;
    dims.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(x->shape[i]);
  }
  RandomValue result = moved(*x, shape);
  double copies = static_cast<double>(elements(shape)) /
                  static_cast<double>(std::max<int64_t>(elements(x->shape), 1));
  emit("weft.broadcast " + x->name + " dims " + list(dims) + " : " +
           typeOf(*x) + " -> " + typeOf(result),
       result, {{*x, copies}});
}

void ProgramGenerator::transpose() {
  auto x = pick();
  std::vector<int64_t> permutation = counted(x->shape.size());
  std::shuffle(permutation.begin(), permutation.end(), random);
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(x->shape[dim]);
  RandomValue result = moved(*x, shape);
  emit("weft.transpose " + x->name + " " + list(permutation) + " : " +
           typeOf(*x) + " -> " + typeOf(result),
       result, {{*x}});
}

void ProgramGenerator::reshape() {
  auto x = pick();
  Shape shape;
  int64_t rest = elements(x->shape);
  if (rest == 1 && oneIn(2)) {
    shape = {};
  } else {
    for (int64_t divisor = 2; divisor <= rest && shape.size() < 3; ++divisor)
      while (rest % divisor == 0 && shape.size() < 3 && oneIn(2)) {
        shape.push_back(divisor);
        rest /= divisor;
        if (divisor * divisor > rest)
          divisor = rest;
      }
    shape.push_back(rest);
    std::shuffle(shape.begin(), shape.end(), random);
  }
  RandomValue result = moved(*x, shape);
  emit("weft.reshape " + x->name + " : " + typeOf(*x) + " -> " + typeOf(result),
       result, {{*x}});
}

void ProgramGenerator::slice() {
  auto x = pick();
  Shape shape;
  std::vector<int64_t> start, limit, stride;
  for (int64_t size : x->shape) {
    bool all = oneIn(3);
    start.push_back(all ? 0 : below(size));
    limit.push_back(all ? size : start.back() + 1 + below(size - start.back()));
    stride.push_back(all ? 1 : 1 + below(3));
    shape.push_back((limit.back() - start.back() + stride.back() - 1) /
                    stride.back());
  }
  RandomValue result = moved(*x, shape);
  emit("weft.slice " + x->name + " from " + list(start) + " to " + list(limit) +
           " by " + list(stride) + " : " + typeOf(*x) + " -> " + typeOf(result),
       result, {{*x}});
}

void ProgramGenerator::pad() {
  auto x = pick([](const RandomValue &v) { return v.isNumber(); });
  if (!x)
    return;
  Shape shape;
  std::vector<int64_t> low, high, interior;
  for (int64_t size : x->shape) {
    low.push_back(oneIn(3) ? 0 : below(5) - 2);
    high.push_back(oneIn(3) ? 0 : below(5) - 2);
    interior.push_back(oneIn(2) ? 0 : below(3));
    int64_t between = std::max<int64_t>(size - 1, 0) * interior.back();
    if (low.back() + high.back() + size + between < 1)
      low.back() = high.back() = 1;
    shape.push_back(low.back() + high.back() + size + between);
  }
  std::string name = x->name, types = typeOf(*x);
  RandomValue result = like(*x, shape);
  Slopes slopes = {{*x}};
  auto value = pick([&](const RandomValue &v) {
    return v.shape.empty() && v.element == x->element;
  });
  if (value && oneIn(2)) {
    join(result, *value);
    result.bound = std::max(result.bound, value->bound);
    slopes.push_back({*value, static_cast<double>(elements(shape))});
    name += " with " + value->name;
    types += ", " + typeOf(*value);
  } else if (oneIn(2)) {
    std::string two = fresh("p");
    line(two + " = weft.constant dense<2" + (x->isFloat() ? ".0" : "") +
         "> : " + typeOf({}, x->element->name));
    result.bound = std::max(result.bound, 2.0);
    name += " with " + two;
    types += ", " + typeOf({}, x->element->name);
  }
  emit("weft.pad " + name + " low " + list(low) + " high " + list(high) +
           " interior " + list(interior) + " : " + types + " -> " +
           typeOf(result),
       result, slopes);
}

void ProgramGenerator::concatenate() {
  auto x = pick([](const RandomValue &v) { return !v.shape.empty(); });
  if (!x)
    return;
  int64_t dim = dimOf(*x);
  std::vector<RandomValue> inputs = {*x};
  RandomValue result = moved(*x, x->shape);
  for (int64_t i = 0, n = 1 + below(2); i < n; ++i) {
    auto y = pick([&](const RandomValue &v) {
      Shape a = v.shape, b = x->shape;
      if (a.size() != b.size() || v.element != x->element)
        return false;
      a[dim] = b[dim] = 0;
      return a == b;
    });
    int64_t size;
    if (__builtin_add_overflow(result.shape[dim], y->shape[dim], &size))
      break;
    inputs.push_back(*y);
    join(result, *y);
    result.bound = std::max(result.bound, y->bound);
    result.shape[dim] = size;
  }
  std::string names, types;
  Slopes slopes;
  for (const RandomValue &input : inputs) {
    names += (names.empty() ? "" : ", ") + input.name;
    types += (types.empty() ? "" : ", ") + typeOf(input);
    slopes.push_back({input});
  }
  emit("weft.concatenate " + names + " dim " + std::to_string(dim) + " : (" +
           types + ") -> " + typeOf(result),
       result, slopes);
}

/// Generates splats, other constants and counts.
void ProgramGenerator::source() {
  auto x = pick();
  RandomValue result = like(*x);
  if (oneIn(2))
    result.shape = randomShape();
  if (!inLoss && oneIn(3))
    result.element = &randomElement();
  result.depth = 0;
  result.unit = result.element->unit;
  result.integral = true;
  result.bound = 4;
  std::string point = result.isFloat() ? ".0" : "";
  auto drawn = [&] {
    return result.isBool() ? std::string(oneIn(2) ? "true" : "false")
                           : std::to_string(below(5)) + point;
  };
  // The value is on the tape of a loss, without slope.
  Slopes none = {{*x, 0}};
  int64_t kind = elements(result.shape) ? below(3) : 2;
  if (kind == 2 && result.isBool() && !elements(result.shape))
    return;
  if (kind == 0 && result.shape.size() == 1 && result.shape[0] <= 100) {
    std::string data;
    for (int64_t i = 0; i < result.shape[0]; ++i)
      data += (i ? ", " : "") + drawn();
    emit("weft.constant dense<[" + data + "]> : " + typeOf(result), result,
         none);
  } else if (kind == 1 || result.shape.empty() || result.isBool()) {
    emit("weft.constant dense<" + drawn() + "> : " + typeOf(result), result,
         none);
  } else {
    int64_t dim = dimOf(result);
    result.bound = static_cast<double>(result.shape[dim]);
    emit("weft.iota dim " + std::to_string(dim) + " : " + typeOf(result),
         result, none);
  }
}

void ProgramGenerator::randomBits() {
  std::string key = fresh("key");
  auto seed = pick([](const RandomValue &v) {
    return v.shape == Shape{2} && v.element == &elementKind("ui32");
  });
  if (seed)
    key = seed->name;
  else
    line(key + " = weft.constant dense<[" + std::to_string(below(100)) + ", " +
         std::to_string(below(100)) + "]> : tensor<2xui32>");
  RandomValue result;
  result.shape = randomShape();
  result.element = &elementKind("ui32");
  emit("weft.rng_bits " + key + " : tensor<2xui32> -> " + typeOf(result),
       result);
}

} // namespace weft
