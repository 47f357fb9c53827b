//===- RandomOrders.cpp - steps that order a dimension --------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

namespace weft {

void ProgramGenerator::argument() {
  auto x = pick([](const RandomValue &v) {
    return v.isNumber() && !v.shape.empty() && canJump(v);
  });
  if (!x)
    return;
  int64_t dim = dimOf(*x);
  RandomValue result = like(*x);
  result.shape.erase(result.shape.begin() + dim);
  result.element = &elementKind(oneIn(4) ? "i64" : "i32");
  result.bound = static_cast<double>(x->shape[dim]);
  emit(std::string("weft.arg_") + (oneIn(2) ? "max " : "min ") + x->name +
           " dim " + std::to_string(dim) + " : " + typeOf(*x) + " -> " +
           typeOf(result),
       result);
}

void ProgramGenerator::topK() {
  auto x = pick([](const RandomValue &v) {
    return v.isNumber() && !v.shape.empty() && canJump(v);
  });
  if (!x)
    return;
  int64_t dim = dimOf(*x);
  RandomValue top = moved(*x, x->shape), positions = like(*x);
  top.shape[dim] = positions.shape[dim] = 1 + below(x->shape[dim]);
  positions.element = &elementKind("i32");
  positions.bound = static_cast<double>(x->shape[dim]);
  std::string name = fresh("top");
  line(name + ":2 = weft.top_k " + x->name + " dim " + std::to_string(dim) +
       " : " + typeOf(*x) + " -> " + typeOf(top) + ", " + typeOf(positions));
  if (!inLoss)
    define(name + "#1", positions);
  define(name + "#0", top, {{*x}});
}

void ProgramGenerator::sort() {
  auto x = pick([](const RandomValue &v) {
    return v.isNumber() && !v.shape.empty() && canJump(v);
  });
  if (!x)
    return;
  auto y = pick([&](const RandomValue &v) {
    return v.shape == x->shape && canJump(v) && v.isNumber();
  });
  std::string name = fresh("sorted");
  std::string types = "(" + typeOf(*x) + ", " + typeOf(*y) + ")";
  line(name + ":2 = weft.sort " + x->name + ", " + y->name + " dim " +
       std::to_string(dimOf(*x)) + " keys " + std::to_string(1 + below(2)) +
       (oneIn(2) ? " descending" : "") + " : " + types + " -> " + types);
  define(name + "#0", moved(*x, x->shape), {{*x}});
  define(name + "#1", moved(*y, y->shape), {{*y}});
}

} // namespace weft
