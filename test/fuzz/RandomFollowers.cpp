//===- RandomFollowers.cpp - ops after a kernel's first value -------------===//
//
//   %0 = weft.dot %x0, %x1 ...       a construct
//   %1 = weft.compare gt %0, %zero   followTwice: its result is used twice, and
//   %2 = weft.neg %0                 an elementwise value of it is returned
//   %3 = weft.select %1, %0, %2
//
// Each is a reason to store a value that only its kernel reads.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

namespace weft {

std::vector<ProgramGenerator::Follower> ProgramGenerator::followers() {
  using G = ProgramGenerator;
  return {&G::followNothing, &G::followTwice,   &G::followNarrowed,
          &G::followReduced, &G::followSeveral, &G::followNormalized};
}

/// Generates max(x, -x) as a choice by a comparison; of bools x xor (not x).
void ProgramGenerator::followTwice() {
  RandomValue x = values.back();
  std::string type = typeOf(x), other = fresh("other");
  resultsFrom = values.size();
  if (x.isBool()) {
    line(other + " = weft.not " + x.name + " : " + type);
    emit("weft.xor " + x.name + ", " + other + " : " + type, like(x));
    return;
  }
  std::string zero = fresh("zero"), above = fresh("above"),
              bools = typeOf(x.shape, "i1");
  line(zero + " = weft.constant dense<0" + (x.isFloat() ? ".0" : "") +
       "> : " + type);
  line(above + " = weft.compare gt " + x.name + ", " + zero + " : " + type +
       ", " + type + " -> " + bools);
  line(other + " = weft.neg " + x.name + " : " + type);
  emit("weft.select " + above + ", " + x.name + ", " + other + " : " + bools +
           ", " + type + ", " + type + " -> " + type,
       like(x));
}

/// Generates a conversion to a narrower type; to i8 of the narrowest ones.
void ProgramGenerator::followNarrowed() {
  RandomValue x = values.back(), result = like(x);
  std::vector<const ElementKind *> narrower;
  for (const ElementKind &kind : elementKinds())
    if (kind.isFloat == x.isFloat() && kind.width < x.element->width &&
        kind.width >= 8 && !(kind.isFloat && kind.width == 8))
      narrower.push_back(&kind);
  result.element = narrower.empty()
                       ? &elementKind("i8")
                       : narrower[below(static_cast<int64_t>(narrower.size()))];
  resultsFrom = values.size();
  emit("weft.convert " + x.name + " : " + typeOf(x) + " -> " + typeOf(result),
       result);
}

/// Generates a reduction of some dimensions, at least one.
void ProgramGenerator::followReduced() {
  RandomValue x = values.back();
  if (x.shape.empty())
    return followTwice();
  RandomValue result = like(x, {});
  std::string dims = list(drawFolded(x, result.shape));
  static const char *kinds[] = {"sum", "max", "prod"};
  resultsFrom = values.size();
  emit(std::string("weft.reduce ") + (x.isBool() ? "or" : kinds[below(3)]) +
           " " + x.name + " dims " + dims + " : " + typeOf(x) + " -> " +
           typeOf(result),
       result);
}

/// Returns the value and two others of it.
void ProgramGenerator::followSeveral() {
  size_t first = values.size() - 1;
  RandomValue x = values.back();
  followTwice();
  values.push_back(x);
  followNarrowed();
  resultsFrom = first;
}

/// Generates x minus the largest of its rows, and then followTwice.
void ProgramGenerator::followNormalized() {
  RandomValue x = values.back();
  if (x.shape.empty() || !x.isNumber())
    return followReduced();
  int64_t dim = dimOf(x);
  RandomValue row = like(x, x.shape);
  row.shape.erase(row.shape.begin() + dim);
  std::vector<int64_t> dims = counted(x.shape.size());
  dims.erase(dims.begin() + dim);
  std::string largest = fresh("largest"), all = fresh("all"), type = typeOf(x);
  line(largest + " = weft.reduce max " + x.name + " dims [" +
       std::to_string(dim) + "] : " + type + " -> " + typeOf(row));
  line(all + " = weft.broadcast " + largest + " dims " + list(dims) + " : " +
       typeOf(row) + " -> " + type);
  emit("weft.sub " + x.name + ", " + all + " : " + type, like(x));
  followTwice();
}

} // namespace weft
