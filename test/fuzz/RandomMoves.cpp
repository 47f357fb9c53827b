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
  // A reverse of no dimension is no step; a move has no derivative.
  if (dims.empty() && !inLoss && !inCallee && elements(x->shape) > 0 &&
      !x->shape.empty())
    return move(*x);
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

/// A border in front of the first dimension: its first positions in opposite
/// order.
void ProgramGenerator::move(const RandomValue &of) {
  const RandomValue *x = &of;
  size_t dim = 0;
  int64_t border = (x->shape[dim] + 1) / 2;
  RandomValue result = moved(*x, x->shape);
  result.shape[dim] += border;
  if (isTooLarge(result))
    return;
  Shape start(x->shape.size(), 0), stride(x->shape.size(), 1), cut = x->shape;
  cut[dim] = border;
  std::string ranges, all, turned, same;
  for (size_t d = 0; d < x->shape.size(); ++d) {
    std::string comma = d ? ", " : "", at = "d" + std::to_string(d),
                count = std::to_string(x->shape[d]);
    bool isHere = d == dim;
    std::string few = std::to_string(border);
    ranges += comma + "0:" + (isHere ? few : count);
    all += comma + (isHere ? few : "0") + ":" + count;
    turned += comma + at;
    if (isHere)
      turned += " * -1 + " + std::to_string(border - 1);
    same += comma + at;
  }
  std::string type = typeOf(*x), part = typeOf(cut, x->element->name);
  std::string dims = std::to_string(dim), name = fresh("");
  line(name + " = weft.move " + x->name + " boxes <[" + ranges + "] of 0 at [" +
       turned + "], [" + all + "] of 0 at [" + same + "]> : (" + type +
       ") -> " + typeOf(result) + " {");
  line("^bb0(%a: " + type + "):");
  line("  %f = weft.slice %a from " + list(start) + " to " + list(cut) +
       " by " + list(stride) + " : " + type + " -> " + part);
  line("  %t = weft.reverse %f dims [" + dims + "] : " + part);
  line("  %j = weft.concatenate %t, %a dim " + dims + " : (" + part + ", " +
       type + ") -> " + typeOf(result));
  line("  weft.yield %j : " + typeOf(result));
  line("}");
  define(name, result);
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
