//===- RandomMeshes.cpp - meshes, layouts, checks, signatures -------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace weft {

std::string ProgramGenerator::drawMesh() {
  using Meshes = std::vector<std::vector<int64_t>>;
  static const Meshes few = {{1},    {2},    {3},    {4},    {5},
                             {6},    {7},    {8},    {2, 2}, {2, 3},
                             {3, 2}, {2, 4}, {4, 2}, {1, 3}, {2, 2, 2}};
  static const Meshes deep = {{2, 3, 2},       {3, 1, 2},      {2, 2, 2, 2},
                              {1, 2, 2, 2},    {2, 1, 2, 3},   {2, 1, 2, 1, 2},
                              {2, 2, 2, 2, 2}, {1, 3, 1, 2, 2}};
  // Axes that can be cut into sub-axes that do not align.
  static const Meshes composite = {{6}, {12}, {24}, {2, 6}, {6, 2}, {12, 2}};
  static const Meshes many = {
      {65536},          {256, 256},        {1021, 64},      {64, 32, 32},
      {16, 16, 16, 16}, {3, 5, 7, 11, 13}, {8, 4, 8, 4, 64}};
  static const Meshes alone = {{1}};
  const Meshes &meshes = options.large && !oneIn(4)    ? alone
                         : options.planned && oneIn(2) ? many
                         : oneIn(8)                    ? composite
                         : oneIn(6)                    ? deep
                                                       : few;
  const auto &sizes = meshes[below(static_cast<int64_t>(meshes.size()))];
  int64_t devices = 1;
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i) {
    axes.push_back({std::string(1, static_cast<char>('a' + i)), sizes[i]});
    devices *= sizes[i];
    text += (i ? ", \"" : "\"") + axes.back().first +
            "\"=" + std::to_string(sizes[i]);
  }
  if (devices <= 64 && oneIn(8)) {
    std::vector<int64_t> order = counted(devices);
    std::shuffle(order.begin(), order.end(), random);
    text += ", devices = " + list(order);
  }
  if (oneIn(8)) {
    static const char *latencies[] = {"1.0e-7", "1.0e-6", "1.0e-4"};
    static const char *bandwidths[] = {"1.0e9", "1.0e10", "3.0e11"};
    std::string latency, bandwidth;
    for (size_t i = 0; i < sizes.size(); ++i) {
      latency += (i ? ", " : "") + std::string(latencies[below(3)]);
      bandwidth += (i ? ", " : "") + std::string(bandwidths[below(3)]);
    }
    text += ", latency = [" + latency + "], bandwidth = [" + bandwidth + "]";
  }
  return text;
}

std::string
ProgramGenerator::drawPartial(const std::vector<std::string> &digits,
                              const RandomValue &summed) {
  if (digits.empty())
    return "";
  std::string kind = oneIn(2) ? "and" : "or";
  if (summed.isNumber())
    kind = !oneIn(3) ? "sum" : oneIn(2) ? "max" : "min";
  std::string axes;
  for (const std::string &digit : digits)
    axes += (axes.empty() ? "" : ", ") + digit;
  return ", partial = " + kind + "{" + axes + "}";
}

/// An axis, sometimes cut at random divisors: "a":(1)3, "a":(3)2.
std::vector<std::string> ProgramGenerator::drawDigits(const std::string &name,
                                                      int64_t size) {
  std::string axis = "\"" + name + "\"";
  std::vector<int64_t> divisors;
  for (int64_t divisor = 2; divisor < std::min<int64_t>(size, 64); ++divisor)
    if (size % divisor == 0)
      divisors.push_back(divisor);
  if (divisors.empty() || !oneIn(3))
    return {axis};
  std::vector<std::string> digits;
  int64_t skip = 1;
  while (skip < size) {
    int64_t end = skip * divisors[below(static_cast<int64_t>(divisors.size()))];
    if (size % end != 0 || oneIn(3))
      end = size;
    if (end - skip < size - 1)
      digits.push_back(axis + ":(" + std::to_string(skip) + ")" +
                       std::to_string(end / skip));
    skip = end;
  }
  return digits.empty() ? std::vector<std::string>{axis} : digits;
}

std::string ProgramGenerator::drawLayout(size_t rank,
                                         const RandomValue *summed) {
  std::vector<std::string> dims(rank), partial;
  auto order = axes;
  std::shuffle(order.begin(), order.end(), random);
  std::string part = drawPart(order);
  auto give = [&](const std::string &digit) {
    if (rank == 0 || oneIn(3)) {
      if (summed && oneIn(2))
        partial.push_back(digit);
      return;
    }
    std::string &dim = dims[below(rank)];
    dim += (dim.empty() ? "" : ", ") + digit;
  };
  for (const auto &[name, size] : order) {
    std::vector<std::string> digits = drawDigits(name, size);
    if (oneIn(2))
      std::reverse(digits.begin(), digits.end());
    for (const std::string &digit : digits)
      give(digit);
  }
  std::string text = "#weft.layout<#mesh, [";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", {" : "{") + dims[i] + "}";
  return text + "]" + (summed ? drawPartial(partial, *summed) : "") + part +
         ">";
}

/// In a program with parts, draws a coordinate of an axis and removes the axis
/// from the list; often nothing.
std::string ProgramGenerator::drawPart(
    std::vector<std::pair<std::string, int64_t>> &order) {
  if (!hasParts || oneIn(2) || order.empty() || order.back().second == 1)
    return "";
  auto [name, size] = order.back();
  order.pop_back();
  return ", at = {\"" + name + "\" = " + std::to_string(below(size)) + "}";
}

/// Options of an argument besides its layout, each after a comma.
std::string ProgramGenerator::drawAnnotationOptions(size_t rank,
                                                    bool annotated) {
  std::string text;
  if (annotated && rank && oneIn(4))
    text += ", weft.open = array<i64: " + std::to_string(below(rank)) + ">";
  if (oneIn(6))
    text += ", weft.priority = " + std::to_string(below(3));
  if (!annotated && oneIn(5))
    text += ", weft.replicated = [\"" + axes[below(axes.size())].first + "\"]";
  if (!annotated && oneIn(4))
    text += ", weft.group = \"rank" + std::to_string(rank) + "\"";
  if (oneIn(6))
    text += ", weft.role = \"weight\"";
  return text;
}

/// Generates the arguments of @main, and adds their values.
void ProgramGenerator::drawArguments() {
  const ElementKind *usual = &randomElement();
  for (int64_t i = 0, n = 1 + below(3); i < n; ++i) {
    RandomValue value;
    value.shape =
        i && oneIn(3) ? values[below(values.size())].shape : randomShape();
    if (i == 0) // so that every kind of op finds an operand
      std::replace(value.shape.begin(), value.shape.end(), int64_t(0),
                   int64_t(1));
    value.element = oneIn(4) ? &randomElement() : usual;
    value.integral = !options.reals || !value.isFloat();
    value.bound = options.reals && value.isFloat() ? 1
                  : value.element->isUnsigned      ? 8
                                                   : 4;
    value.unit = value.element->unit;
    bool special = !options.reals && value.isFloat() && oneIn(8);
    if (special) {
      value.bound = std::numeric_limits<double>::infinity();
      value.integral = false;
    }
    value.signedZeros = true;
    addArgument("%x" + std::to_string(i), value, special ? "special" : "");
    values.back().special = special;
  }
}

void ProgramGenerator::addArgument(const std::string &name, RandomValue value,
                                   const char *draw, bool partialToo) {
  size_t rank = value.shape.size();
  define(name, std::move(value));
  bool annotated = below(3) != 0;
  // Partial values are not used in compiled programs, as the runtime has no
  // buffers of them.
  bool partial = partialToo && !options.compiled &&
                 mayBePartial(values.back()) && oneIn(8);
  std::string layout = drawLayout(rank, partial ? &values.back() : nullptr);
  if (layout.find("partial") != std::string::npos)
    annotated = true, values.back().signedZeros = false;
  std::string attributes = annotated ? ", weft.layout = " + layout : "";
  attributes += drawAnnotationOptions(rank, annotated);
  if (*draw)
    attributes += ", " + std::string(kDrawAttr) + " = \"" + draw + "\"";
  arguments.push_back({values.back(), attributes});
}

/// Lets the result sometimes reuse the memory of an argument of its type.
void ProgramGenerator::donate(const RandomValue &result, size_t index) {
  for (Argument &argument : arguments)
    if (typeOf(argument.value) == typeOf(result) && oneIn(3) &&
        argument.attributes.find("donated") == std::string::npos) {
      argument.attributes +=
          ", weft.donated = " + std::to_string(index) + " : i64";
      return;
    }
}

static std::string braces(const std::string &attributes) {
  return attributes.empty() ? "" : " {" + attributes.substr(2) + "}";
}

/// The text of a bound; an infinite one is 1e300.
static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6e",
                std::isfinite(value) ? value : 1e300);
  return text;
}

/// The first line of @main, with the attributes of its results: the last
/// values, so that unused ones are checked, too. Adds the return.
std::string ProgramGenerator::signature() {
  std::vector<RandomValue> chosen;
  size_t first = values.size() > 3 ? values.size() - 3 : 0;
  if (resultsFrom)
    first = std::min(*resultsFrom, values.size() - 1);
  for (size_t i = first; i < values.size(); ++i)
    chosen.push_back(values[i]);
  if (!resultsFrom && values.size() > 3 && oneIn(3))
    chosen.push_back(values[below(values.size() - 3)]);
  chosen.insert(chosen.end(), lastValues.begin(), lastValues.end());
  std::string names, types, results, inputs;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const RandomValue &x = chosen[i];
    std::string comma = i == 0 ? "" : ", ", attributes;
    if (oneIn(3))
      attributes += ", weft.layout = " +
                    drawLayout(x.shape.size(),
                               !options.compiled && mayBePartial(x) && oneIn(6)
                                   ? &x
                                   : nullptr);
    else
      donate(x, i);
    if (x.depth > 0)
      attributes += ", " + std::string(kErrorBoundAttr) + " = " +
                    number(2 * x.depth * x.unit * x.bound) + " : f64";
    names += comma + x.name;
    types += comma + typeOf(x);
    results += comma + typeOf(x) + braces(attributes);
  }
  line("return " + names + " : " + types);
  for (const Argument &argument : arguments)
    inputs += (inputs.empty() ? "" : ", ") + argument.value.name + ": " +
              typeOf(argument.value) + braces(argument.attributes);
  return "func.func @main(" + inputs + ") -> (" + results + ")";
}

} // namespace weft
