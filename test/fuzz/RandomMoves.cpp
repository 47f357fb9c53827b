//===- RandomMoves.cpp - steps that move elements -------------------------===//

#include "weft/layout/Sizes.h"
#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>

namespace weft {

void ProgramGenerator::reverse() {
  auto x = pick();
  std::vector<int64_t> dims;
  for (int64_t dim : counted(x->shape.size()))
    if (oneIn(2))
      dims.push_back(dim);
  emit("weft.reverse " + x->name + " dims " + list(dims) + " : " + typeOf(*x),
       moved(*x, x->shape), {{*x}});
}

void ProgramGenerator::roll() {
  auto x = pick();
  std::vector<int64_t> shift;
  for (int64_t size : x->shape)
    shift.push_back(below(saturatingAdd(saturatingMultiply(3, size), 1)) -
                    size);
  emit("weft.roll " + x->name + " by " + list(shift) + " : " + typeOf(*x),
       moved(*x, x->shape), {{*x}});
}

std::pair<std::string, std::string> ProgramGenerator::randomStart() {
  const char *type = oneIn(4) ? "i64" : "i32";
  auto x = pick([&](const RandomValue &v) {
    return v.isNumber() && v.isFinite() && canJump(v);
  });
  std::string start = fresh("start"), scalar = typeOf({}, type);
  if (!x) {
    line(start + " = weft.constant dense<1> : " + scalar);
    return {start, scalar};
  }
  if (x->shape.empty() && x->element == &elementKind(type))
    return {x->name, scalar};
  std::string largest = fresh("max"), element = typeOf({}, x->element->name);
  line(largest + " = weft.reduce max " + x->name + " dims " +
       list(counted(x->shape.size())) + " : " + typeOf(*x) + " -> " + element);
  line(start + " = weft.convert " + largest + " : " + element + " -> " +
       scalar);
  return {start, scalar};
}

void ProgramGenerator::dynamicSlice() {
  auto x = pick();
  Shape shape;
  std::string at, types = typeOf(*x);
  for (int64_t size : x->shape) {
    auto [start, type] = randomStart();
    at += (shape.empty() ? "" : ", ") + start;
    types += ", " + type;
    shape.push_back(oneIn(3) ? size : 1 + below(size));
  }
  // A look-up in a sharded dimension is a sum, in which -0 becomes 0.
  RandomValue result = like(*x, shape);
  emit("weft.dynamic_slice " + x->name + " at (" + at + ") : (" + types +
           ") -> " + typeOf(result),
       result, {{*x}});
}

void ProgramGenerator::dynamicUpdateSlice() {
  auto x = pick();
  auto update = pick([&](const RandomValue &v) {
    bool fits = v.shape.size() == x->shape.size() && v.element == x->element;
    for (size_t dim = 0; fits && dim < x->shape.size(); ++dim)
      fits = v.shape[dim] <= x->shape[dim];
    return fits;
  });
  std::string at, types = typeOf(*x) + ", " + typeOf(*update);
  for (size_t dim = 0; dim < x->shape.size(); ++dim) {
    auto [start, type] = randomStart();
    at += (dim ? ", " : "") + start;
    types += ", " + type;
  }
  RandomValue result = like(*x);
  join(result, *update);
  result.bound = std::max(x->bound, update->bound);
  emit("weft.dynamic_update_slice " + x->name + ", " + update->name + " at (" +
           at + ") : (" + types + ") -> " + typeOf(*x),
       result, {{*x}, {*update}});
}

} // namespace weft
