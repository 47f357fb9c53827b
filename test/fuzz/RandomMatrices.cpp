//===- RandomMatrices.cpp - steps that factor and solve -------------------===//
//
// Matrices are triangles with a diagonal of 1, so that nothing is divided and
// solutions are integers.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <cmath>

namespace weft {

std::string ProgramGenerator::randomMatrices(const RandomValue &x,
                                             int64_t contract) {
  std::string along = list({contract}), batch;
  Shape shape(x.shape.begin(), x.shape.end() - 2);
  if (!shape.empty())
    batch = " batch " + list(counted(shape.size())) + " x " +
            list(counted(shape.size()));
  int64_t size = x.shape[2 * x.shape.size() - 3 - contract];
  shape.insert(shape.end(), {size, size});
  std::string from = typeOf(x), to = typeOf(shape, x.element->name);
  std::string square = fresh("square"), matrix = fresh("matrix");
  line(square + " = weft.dot " + x.name + ", " + x.name + batch + " contract " +
       along + " x " + along + " : " + from + ", " + from + " -> " + to);
  line(matrix + " = weft.sign " + square + " : " + to);
  return matrix;
}

void ProgramGenerator::triangularSolve() {
  auto x = pick([](const RandomValue &v) {
    return v.isFloat() && v.element->width >= 32 && v.integral &&
           v.shape.size() >= 2 && v.bound <= 256;
  });
  if (!x)
    return;
  size_t rank = x->shape.size();
  bool right = oneIn(2);
  int64_t columns = static_cast<int64_t>(rank) - 1, rows = columns - 1;
  std::string flags = right ? "unit_diagonal, right" : "unit_diagonal";
  flags += oneIn(2) ? ", lower" : "";
  flags += oneIn(2) ? ", transposed" : "";
  int64_t n = x->shape[right ? columns : rows];
  std::string matrix = randomMatrices(*x, right ? rows : columns);
  Shape square = x->shape;
  square[rows] = square[columns] = n;
  RandomValue result = like(*x);
  result.bound = std::ldexp(x->bound, static_cast<int>(n) - 1);
  emit("weft.triangular_solve " + matrix + ", " + x->name + " {" + flags +
           "} : " + typeOf(square, x->element->name) + ", " + typeOf(*x) +
           " -> " + typeOf(*x),
       result);
}

/// Generates the factor of L L^T, which is L.
void ProgramGenerator::cholesky() {
  int64_t n = 1 + below(options.large ? 2048 : 6);
  RandomValue result;
  result.element = &elementKind(oneIn(3) ? "f64" : "f32");
  result.unit = result.element->unit;
  result.shape = {n, n};
  result.bound = std::ldexp(1, static_cast<int>(n) - 1);
  std::string type = typeOf(result), counts = typeOf({n}, "i32");
  std::string count = fresh("count"), one = fresh("one"), l = fresh("l"),
              matrix = fresh("matrix"), square = fresh("square");
  line(count + " = weft.iota dim 0 : " + counts);
  line(one + " = weft.one_hot " + count + " dim 0 : " + counts + " -> " + type);
  line(matrix + " = weft.constant dense<" + std::to_string(below(3) - 1) +
       ".0> : " + type);
  line(l + " = weft.triangular_solve " + matrix + ", " + one +
       " {unit_diagonal, lower} : " + type + ", " + type + " -> " + type);
  line(square + " = weft.dot " + l + ", " + l +
       " contract [1] x [1] : " + type + ", " + type + " -> " + type);
  emit(std::string("weft.cholesky ") + (oneIn(2) ? "upper " : "") + square +
           " : " + type,
       result);
}

} // namespace weft
