//===- RandomFolds.cpp - reductions by a body -----------------------------===//
//
//   %z = weft.constant dense<0.0> : tensor<f32>
//   %0 = weft.fold %x from %z dims [0, 2] : ... {
//   ^bb0(%l, %r):                    the last that is not 0: does not commute
//     %c = weft.compare ne %r, %zero
//     %s = weft.select %c, %r, %l
//     weft.yield %s
//   }
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

namespace weft {

static std::string scalarOf(const RandomValue &x) {
  return typeOf(Shape(), x.element->name);
}

/// Draws some dimensions, at least one.
std::vector<int64_t> ProgramGenerator::drawFolded(const RandomValue &x,
                                                  Shape &kept) {
  std::vector<int64_t> dims;
  int64_t sure = dimOf(x);
  for (int64_t dim : counted(x.shape.size())) {
    if (dim == sure || oneIn(3))
      dims.push_back(dim);
    else
      kept.push_back(x.shape[dim]);
  }
  return dims;
}

std::string ProgramGenerator::scalarConstant(const char *stem,
                                             const RandomValue &x,
                                             const std::string &number) {
  std::string name = fresh(stem);
  line(name + " = weft.constant dense<" + number + "> : " + scalarOf(x));
  return name;
}

void ProgramGenerator::foldOne() {
  bool bits = oneIn(3);
  auto x = pick([&](const RandomValue &v) {
    return !v.shape.empty() &&
           (bits ? !v.isFloat() : v.isNumber() && canJump(v));
  });
  if (!x)
    return;
  RandomValue result = like(*x, {});
  std::string dims = list(drawFolded(*x, result.shape)), type = scalarOf(*x);
  std::string number = x->isFloat() ? "0.0" : x->isBool() ? "false" : "0";
  std::string zero = scalarConstant("zero", *x, number);
  if (bits)
    result.bound = x->element->largest;
  std::string name = fresh("");
  line(name + " = weft.fold " + x->name + " from " + zero + " dims " + dims +
       " : (" + typeOf(*x) + ", " + type + ") -> " + typeOf(result) + " {");
  line("^bb0(%l: " + type + ", %r: " + type + "):");
  if (bits) {
    line("  %s = weft.xor %l, %r : " + type);
  } else {
    line("  %n = weft.constant dense<" + number + "> : " + type);
    line("  %c = weft.compare ne %r, %n : " + type + ", " + type +
         " -> tensor<i1>");
    line("  %s = weft.select %c, %r, %l : tensor<i1>, " + type + ", " + type +
         " -> " + type);
  }
  line("  weft.yield %s : " + type);
  line("}");
  define(name, result);
}

/// Folds to the last of the largest elements, with the one beside it.
void ProgramGenerator::foldPair() {
  auto x = pick([&](const RandomValue &v) {
    return !v.shape.empty() && v.isNumber() && !v.element->isUnsigned &&
           canJump(v) && v.bound < 50;
  });
  if (!x)
    return;
  auto y = pick([&](const RandomValue &v) { return v.shape == x->shape; });
  RandomValue largest = like(*x, {}), beside = like(*y, {});
  std::string dims = list(drawFolded(*x, largest.shape));
  beside.shape = largest.shape;
  std::string key = scalarOf(*x), other = scalarOf(*y), name = fresh("fold");
  std::string least =
      scalarConstant("least", *x, x->isFloat() ? "-100.0" : "-100");
  std::string nothing = scalarConstant("nothing", *y,
                                       y->isFloat()  ? "0.0"
                                       : y->isBool() ? "false"
                                                     : "0");
  line(name + ":2 = weft.fold " + x->name + ", " + y->name + " from " + least +
       ", " + nothing + " dims " + dims + " : (" + typeOf(*x) + ", " +
       typeOf(*y) + ", " + key + ", " + other + ") -> (" + typeOf(largest) +
       ", " + typeOf(beside) + ") {");
  line("^bb0(%l: " + key + ", %p: " + other + ", %r: " + key +
       ", %q: " + other + "):");
  line("  %c = weft.compare ge %r, %l : " + key + ", " + key +
       " -> tensor<i1>");
  line("  %s = weft.select %c, %r, %l : tensor<i1>, " + key + ", " + key +
       " -> " + key);
  line("  %t = weft.select %c, %q, %p : tensor<i1>, " + other + ", " + other +
       " -> " + other);
  line("  weft.yield %s, %t : " + key + ", " + other);
  line("}");
  define(name + "#0", largest);
  define(name + "#1", beside);
}

} // namespace weft
