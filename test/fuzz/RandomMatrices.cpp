//===- RandomMatrices.cpp - steps that factor and solve --------------------===//
//
// Triangles have a diagonal of 1, so that nothing is divided and solutions are
// whole numbers.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <cmath>

namespace weft {

std::string ProgramGenerator::randomMatrices(const RandomValue &x,
                                             int64_t contract) {
  std::string n = std::to_string(starts++), along = list({contract}), batch;
  Shape shape(x.shape.begin(), x.shape.end() - 2);
  for (size_t dim = 0; dim < shape.size(); ++dim)
    batch += (dim ? ", " : "") + std::to_string(dim);
  if (!batch.empty())
    batch = " batch [" + batch + "] x [" + batch + "]";
  int64_t size = x.shape[2 * x.shape.size() - 3 - contract];
  shape.insert(shape.end(), {size, size});
  std::string from = typeOf(x.shape), to = typeOf(shape);
  body += "  %square" + n + " = weft.dot " + x.name + ", " + x.name +
          batch + " contract " + along + " x " + along + " : " + from + ", " +
          from + " -> " + to + "\n  %matrix" + n + " = weft.sign %square" + n +
          " : " + to + "\n";
  return "%matrix" + n;
}

void ProgramGenerator::triangularSolve() {
  RandomValue x = any();
  size_t rank = x.shape.size();
  if (rank < 2)
    return;
  bool right = below(2);
  int64_t columns = rank - 1, rows = rank - 2;
  std::string flags = right ? "unit_diagonal, right" : "unit_diagonal";
  flags += below(2) ? ", lower" : "";
  flags += below(2) ? ", transposed" : "";
  int64_t n = x.shape[right ? columns : rows];
  std::string matrix = randomMatrices(x, right ? rows : columns);
  Shape square = x.shape;
  square[rows] = square[columns] = n;
  emit("weft.triangular_solve " + matrix + ", " + x.name + " {" + flags +
           "} : " + typeOf(square) + ", " + typeOf(x.shape) + " -> " +
           typeOf(x.shape),
       x.shape, std::ldexp(x.bound, static_cast<int>(n) - 1));
}

/// The factor of L L^T, which is L.
void ProgramGenerator::cholesky() {
  int64_t n = 1 + below(6);
  std::string i = std::to_string(starts++), type = typeOf({n, n}),
              counts = typeOf({n}, "i32");
  body += "  %count" + i + " = weft.iota dim 0 : " + counts + "\n  %one" + i +
          " = weft.one_hot %count" + i + " dim 0 : " + counts + " -> " + type +
          "\n  %matrix" + i + " = weft.constant dense<" +
          std::to_string(below(3) - 1) + ".0> : " + type + "\n  %l" + i +
          " = weft.triangular_solve %matrix" + i + ", %one" + i +
          " {unit_diagonal, lower} : " + type + ", " + type + " -> " + type +
          "\n  %square" + i + " = weft.dot %l" + i + ", %l" + i +
          " contract [1] x [1] : " + type + ", " + type + " -> " + type + "\n";
  emit(std::string("weft.cholesky ") + (below(2) ? "upper " : "") + "%square" +
           i + " : " + type,
       {n, n}, std::ldexp(1, static_cast<int>(n) - 1));
}

} // namespace weft
