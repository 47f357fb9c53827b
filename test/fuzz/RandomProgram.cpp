//===- RandomProgram.cpp - straight-line programs from a seed
//--------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <numeric>

namespace weft {

std::string list(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::string typeOf(const Shape &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

int64_t elements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

std::string ProgramGenerator::drawMesh() {
  static const std::vector<std::vector<int64_t>> meshes = {
      {2}, {3}, {4}, {5}, {6}, {7}, {8}, {2, 2}, {2, 3}, {2, 4}, {2, 2, 2}};
  const auto &sizes = meshes[below(meshes.size())];
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i) {
    axes.push_back({std::string(1, static_cast<char>('a' + i)), sizes[i]});
    text += (i ? ", \"" : "\"") + axes.back().first +
            "\"=" + std::to_string(sizes[i]);
  }
  return text;
}

std::string ProgramGenerator::drawLayout(size_t rank) {
  std::vector<std::string> dims(rank);
  auto order = axes;
  std::shuffle(order.begin(), order.end(), random);
  auto give = [&](const std::string &digit) {
    if (rank == 0 || below(3) == 0)
      return;
    std::string &dim = dims[below(rank)];
    dim += (dim.empty() ? "" : ", ") + digit;
  };
  for (const auto &[name, size] : order) {
    std::string axis = "\"" + name + "\"";
    if (size % 2 == 0 && size > 2 && below(3) == 0) {
      std::string half = std::to_string(size / 2);
      give(axis + ":(1)2");
      give(axis + ":(2)" + half);
    } else {
      give(axis);
    }
  }
  std::string text = "#weft.layout<#mesh, [";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", {" : "{") + dims[i] + "}";
  return text + "]>";
}

void ProgramGenerator::emit(const std::string &text, Shape shape, double bound) {
  if (bound > kLargest || elements(shape) > 4096)
    return;
  std::string name = "%" + std::to_string(count++);
  body += "  " + name + " = " + text + "\n";
  values.push_back({name, shape, bound});
}

RandomValue ProgramGenerator::partner(const RandomValue &x) {
  std::vector<RandomValue> fitting;
  for (const RandomValue &value : values)
    if (value.shape == x.shape)
      fitting.push_back(value);
  return fitting[below(fitting.size())];
}

void ProgramGenerator::unary() {
  static const char *ops[] = {"neg",   "abs",  "sign",  "relu",
                              "floor", "ceil", "round", "round_even"};
  RandomValue x = any();
  emit(std::string("weft.") + ops[below(8)] + " " + x.name + " : " +
           typeOf(x.shape),
       x.shape, x.bound);
}

void ProgramGenerator::binary() {
  static const char *ops[] = {"add", "sub", "mul", "max", "min"};
  RandomValue x = any();
  RandomValue y = partner(x);
  int64_t op = below(5);
  double bound = op < 2    ? x.bound + y.bound
                 : op == 2 ? x.bound * y.bound
                           : std::max(x.bound, y.bound);
  emit(std::string("weft.") + ops[op] + " " + x.name + ", " + y.name + " : " +
           typeOf(x.shape),
       x.shape, bound);
}

void ProgramGenerator::selection() {
  static const char *kinds[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  RandomValue x = any(), y = partner(x);
  std::string type = typeOf(x.shape), flags = typeOf(x.shape, "i1");
  std::string condition = "%c" + std::to_string(count);
  body += "  " + condition + " = weft.compare " + kinds[below(6)] + " " +
          x.name + ", " + y.name + " : " + type + ", " + type + " -> " + flags +
          "\n";
  emit("weft.select " + condition + ", " + x.name + ", " + y.name + " : " +
           flags + ", " + type + ", " + type + " -> " + type,
       x.shape, std::max(x.bound, y.bound));
}

void ProgramGenerator::constrain() {
  RandomValue x = any();
  std::string layout = drawLayout(x.shape.size());
  emit("weft.constrain " + x.name + " to " + layout.substr(layout.find('<')) +
           " : " + typeOf(x.shape) + " -> " + typeOf(x.shape),
       x.shape, x.bound);
}

void ProgramGenerator::broadcast() {
  RandomValue x = any();
  Shape shape;
  std::vector<int64_t> dims;
  for (int64_t size : x.shape) {
    if (below(3) == 0)
      shape.push_back(1 + below(6));
    dims.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(size);
  }
  if (shape.size() > 4)
    return;
  emit("weft.broadcast " + x.name + " dims " + list(dims) + " : " +
           typeOf(x.shape) + " -> " + typeOf(shape),
       shape, x.bound);
}

void ProgramGenerator::transpose() {
  RandomValue x = any();
  std::vector<int64_t> permutation(x.shape.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), random);
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(x.shape[dim]);
  emit("weft.transpose " + x.name + " " + list(permutation) + " : " +
           typeOf(x.shape) + " -> " + typeOf(shape),
       shape, x.bound);
}

void ProgramGenerator::reshape() {
  RandomValue x = any();
  Shape shape;
  int64_t rest = elements(x.shape);
  for (int64_t divisor = 2; divisor <= rest && shape.size() < 3; ++divisor)
    while (rest % divisor == 0 && shape.size() < 3 && below(2)) {
      shape.push_back(divisor);
      rest /= divisor;
      if (divisor * divisor > rest)
        divisor = rest;
    }
  shape.push_back(rest);
  std::shuffle(shape.begin(), shape.end(), random);
  emit("weft.reshape " + x.name + " : " + typeOf(x.shape) + " -> " +
           typeOf(shape),
       shape, x.bound);
}

void ProgramGenerator::slice() {
  RandomValue x = any();
  Shape shape;
  std::vector<int64_t> start, limit, stride;
  for (int64_t size : x.shape) {
    start.push_back(below(size));
    limit.push_back(start.back() + 1 + below(size - start.back()));
    stride.push_back(1 + below(2));
    shape.push_back((limit.back() - start.back() + stride.back() - 1) /
                    stride.back());
  }
  emit("weft.slice " + x.name + " from " + list(start) + " to " + list(limit) +
           " by " + list(stride) + " : " + typeOf(x.shape) + " -> " +
           typeOf(shape),
       shape, x.bound);
}

void ProgramGenerator::pad() {
  RandomValue x = any();
  Shape shape;
  std::vector<int64_t> low, high, interior;
  for (int64_t size : x.shape) {
    low.push_back(below(5) - 2);
    high.push_back(below(5) - 2);
    interior.push_back(below(2));
    int64_t between = std::max<int64_t>(size - 1, 0) * interior.back();
    if (low.back() + high.back() + size + between < 1)
      low.back() = high.back() = 1;
    shape.push_back(low.back() + high.back() + size + between);
  }
  std::string name = x.name, types = typeOf(x.shape);
  if (below(2)) {
    std::string value = "%p" + std::to_string(count);
    body += "  " + value + " = weft.constant dense<2.0> : tensor<f32>\n";
    name += " with " + value;
    types += ", tensor<f32>";
  }
  emit("weft.pad " + name + " low " + list(low) + " high " + list(high) +
           " interior " + list(interior) + " : " + types + " -> " +
           typeOf(shape),
       shape, std::max(x.bound, 2.0));
}

void ProgramGenerator::concatenate() {
  RandomValue x = any();
  int64_t dim = below(static_cast<int64_t>(x.shape.size()) + 1) %
                std::max<int64_t>(x.shape.size(), 1);
  if (x.shape.empty())
    return;
  std::vector<RandomValue> fitting;
  for (const RandomValue &value : values) {
    Shape a = value.shape, b = x.shape;
    if (a.size() != b.size())
      continue;
    a[dim] = b[dim] = 0;
    if (a == b)
      fitting.push_back(value);
  }
  RandomValue y = fitting[below(fitting.size())];
  Shape shape = x.shape;
  shape[dim] += y.shape[dim];
  emit("weft.concatenate " + x.name + ", " + y.name + " dim " +
           std::to_string(dim) + " : (" + typeOf(x.shape) + ", " +
           typeOf(y.shape) + ") -> " + typeOf(shape),
       shape, std::max(x.bound, y.bound));
}

void ProgramGenerator::reduce() {
  static const char *kinds[] = {"sum", "max", "min"};
  RandomValue x = any();
  Shape shape;
  std::vector<int64_t> dims;
  int64_t reduced = 1;
  for (size_t dim = 0; dim < x.shape.size(); ++dim) {
    if (below(2)) {
      dims.push_back(static_cast<int64_t>(dim));
      reduced *= x.shape[dim];
    } else {
      shape.push_back(x.shape[dim]);
    }
  }
  if (dims.empty())
    return;
  int64_t kind = below(3);
  emit(std::string("weft.reduce ") + kinds[kind] + " " + x.name + " dims " +
           list(dims) + " : " + typeOf(x.shape) + " -> " + typeOf(shape),
       shape, kind == 0 ? x.bound * static_cast<double>(reduced) : x.bound);
}

void ProgramGenerator::dot() {
  RandomValue x = any(), y = any();
  for (size_t i = 0; i < x.shape.size(); ++i)
    for (size_t j = 0; j < y.shape.size(); ++j) {
      if (x.shape[i] != y.shape[j] || below(2))
        continue;
      Shape shape;
      for (size_t dim = 0; dim < x.shape.size(); ++dim)
        if (dim != i)
          shape.push_back(x.shape[dim]);
      for (size_t dim = 0; dim < y.shape.size(); ++dim)
        if (dim != j)
          shape.push_back(y.shape[dim]);
      if (shape.size() > 4)
        return;
      return emit("weft.dot " + x.name + ", " + y.name + " contract [" +
                      std::to_string(i) + "] x [" + std::to_string(j) +
                      "] : " + typeOf(x.shape) + ", " + typeOf(y.shape) +
                      " -> " + typeOf(shape),
                  shape, x.bound * y.bound * static_cast<double>(x.shape[i]));
    }
}

void ProgramGenerator::source() {
  Shape shape = below(2) ? any().shape : randomShape();
  if (shape.empty() || below(2))
    return emit("weft.constant dense<" + std::to_string(below(5)) +
                    ".0> : " + typeOf(shape),
                shape, 4);
  int64_t dim = below(static_cast<int64_t>(shape.size()));
  emit("weft.iota dim " + std::to_string(dim) + " : " + typeOf(shape), shape,
       static_cast<double>(shape[dim]));
}

void ProgramGenerator::step() {
  using Step = void (ProgramGenerator::*)();
  static const Step steps[] = {
      &ProgramGenerator::unary,
      &ProgramGenerator::binary,
      &ProgramGenerator::binary,
      &ProgramGenerator::selection,
      &ProgramGenerator::constrain,
      &ProgramGenerator::broadcast,
      &ProgramGenerator::transpose,
      &ProgramGenerator::reshape,
      &ProgramGenerator::slice,
      &ProgramGenerator::pad,
      &ProgramGenerator::concatenate,
      &ProgramGenerator::reduce,
      &ProgramGenerator::reduce,
      &ProgramGenerator::dot,
      &ProgramGenerator::dot,
      &ProgramGenerator::source,
      &ProgramGenerator::clamp,
      &ProgramGenerator::reverse,
      &ProgramGenerator::roll,
      &ProgramGenerator::dynamicSlice,
      &ProgramGenerator::dynamicUpdateSlice,
      &ProgramGenerator::gather,
      &ProgramGenerator::scatter,
      &ProgramGenerator::oneHot,
      &ProgramGenerator::cumulative,
      &ProgramGenerator::argument,
      &ProgramGenerator::topK,
      &ProgramGenerator::sort,
      &ProgramGenerator::reduceWindow,
      &ProgramGenerator::selectAndScatter,
      &ProgramGenerator::convolution,
      &ProgramGenerator::triangularSolve,
      &ProgramGenerator::cholesky,
  };
  (this->*steps[below(std::size(steps))])();
}

std::string ProgramGenerator::run(const ProgramOptions &options) {
  std::string mesh = drawMesh(), arguments;
  for (int64_t i = 0, n = 1 + below(3); i < n; ++i) {
    RandomValue value{"%x" + std::to_string(i), randomShape(), 4};
    arguments += (i ? ", " : "") + value.name + ": " + typeOf(value.shape) +
                 " {weft.layout = " + drawLayout(value.shape.size()) + "}";
    values.push_back(value);
  }
  for (unsigned i = 0; i < options.ops; ++i)
    step();
  // The last values are results: what nothing uses yet is checked too.
  std::string names, types, results;
  size_t first = values.size() > 3 ? values.size() - 3 : 0;
  for (size_t i = first; i < values.size(); ++i) {
    std::string comma = i == first ? "" : ", ", type = typeOf(values[i].shape);
    names += comma + values[i].name;
    types += comma + type;
    results += comma + type;
    if (below(3) == 0)
      results += " {weft.layout = " + drawLayout(values[i].shape.size()) + "}";
  }
  return "#mesh = #weft.mesh<" + mesh +
         ">\nmodule attributes {weft.mesh = " + "#mesh} {\nfunc.func @main(" +
         arguments + ") -> (" + results + ") {\n" + body + "  return " + names +
         " : " + types + "\n}\n}\n";
}

std::string randomProgram(uint64_t seed, const ProgramOptions &options) {
  return ProgramGenerator(seed).run(options);
}

} // namespace weft
