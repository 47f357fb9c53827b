//===- RandomLoops.cpp - loops whose carried values change ----------------===//
//
//   %l:2 = weft.for 3 (%x, %y) : ... {      outside of losses: rounds of a
//   ^bb0(%i, %v0, %v1):                     drawn function; its result, clamped
//     %c = func.call @f0(%v0, %v1)          to the range of the first argument,
//     %n = weft.clamp %low, %c, %high       is carried to the next round
//     weft.yield %n, %v1
//   }
//
// In losses, where no function is called, an iteration is a step or two with
// known slopes: v = -v + w, v = reverse(v) * w, v + i.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>

namespace weft {

/// Whether any value up to its bound may be carried to the next iteration.
static bool staysExact(const RandomValue &v) {
  bool shortFloat = v.isFloat() && v.element->width < 16;
  return v.depth == 0 && v.isFinite() && !shortFloat &&
         (!v.isFloat() || v.bound >= 1);
}

/// The text of a constant of the value's type, filled with the number.
static std::string splat(double number, const RandomValue &x) {
  return "weft.constant dense<" + std::to_string(static_cast<int64_t>(number)) +
         (x.isFloat() ? ".0" : "") + "> : " + typeOf(x);
}

/// Lines that compute %n: the function's result, clamped to the argument's
/// range.
std::string ProgramGenerator::roundOf(const Function &function,
                                      const RandomValue &next,
                                      const std::string &inner) {
  std::string type = typeOf(next);
  std::string call = "  %c = func.call " + function.name + "(" + inner +
                     ") : (" + typesOf(function.operands) + ") -> (" + type +
                     ")\n";
  double range = std::ldexp(1.0, static_cast<int>(next.element->width) - 1);
  bool any = next.isBool() || (!next.isFloat() && next.bound >= range);
  if (any)
    return call + "    %n = weft.optimization_barrier %c : " + type + " -> " +
           type + "\n";
  double most = std::floor(next.bound);
  return call +
         "    %low = " + splat(next.element->isUnsigned ? 0 : -most, next) +
         "\n    %high = " + splat(most, next) +
         "\n    %n = weft.clamp %low, %c, %high : " + type + ", " + type +
         ", " + type + " -> " + type + "\n";
}

/// Generates a loop that counts down to 0; `inner` are the carried values,
/// `next` the new ones.
void ProgramGenerator::whileLoop(const std::string &head, int64_t times,
                                 const Function &function,
                                 const std::string &round,
                                 const std::string &next) {
  std::string types = typesOf(function.operands), inner, given,
              left = fresh("left");
  for (size_t i = 0; i < function.operands.size(); ++i) {
    inner += (i ? ", %v" : "%v") + std::to_string(i);
    given += ", %v" + std::to_string(i) + ": " + typeOf(function.operands[i]);
  }
  line(left + " = weft.constant dense<" + std::to_string(times) +
       "> : tensor<i32>");
  line(head + ":" + std::to_string(1 + function.operands.size()) +
       " = weft.while(" + left + ", " + namesOf(function.operands) +
       ") : (tensor<i32>, " + types + ") -> (tensor<i32>, " + types + ") {");
  line("^bb0(%i: tensor<i32>" + given + "):");
  line("  %zero = weft.constant dense<0> : tensor<i32>");
  line("  %more = weft.compare gt %i, %zero : tensor<i32>, tensor<i32> -> "
       "tensor<i1>");
  line("  weft.condition %more(%i, " + inner + ") : tensor<i1>, tensor<i32>, " +
       types);
  line("} do {");
  line("^bb0(%i: tensor<i32>" + given + "):");
  line("  %one = weft.constant dense<1> : tensor<i32>");
  line("  %j = weft.sub %i, %one : tensor<i32>");
  body += "  " + round;
  line("  weft.yield %j, " + next + " : tensor<i32>, " + types);
  line("}");
}

void ProgramGenerator::changingLoop() {
  if (inCallee || inLoss)
    return;
  Function function;
  beginBody(function);
  std::vector<std::pair<size_t, RandomValue>> fitting;
  for (size_t k = 0; k < function.arguments.size(); ++k)
    for (const RandomValue &v : values)
      if (const RandomValue &argument = function.arguments[k];
          v.id > function.arguments.back().id &&
          typeOf(v) == typeOf(argument) && staysExact(argument) &&
          v.depth == 0 && v.isFinite() && v.integral >= argument.integral)
        fitting.push_back({k, v});
  if (fitting.empty()) {
    values = std::move(outerValues);
    body = std::move(outerBody);
    return;
  }
  auto [changing, result] = fitting[below(fitting.size())];
  end(function, {result});
  RandomValue next = function.operands[changing];
  next.unit = std::max(next.unit, result.unit);
  std::string inner, given, yielded, types = typesOf(function.operands);
  for (size_t i = 0; i < function.operands.size(); ++i) {
    std::string name = "%v" + std::to_string(i), comma = i ? ", " : "";
    inner += comma + name;
    given += ", " + name + ": " + typeOf(function.operands[i]);
    yielded += comma + (i == changing ? "%n" : name);
  }
  std::string round = roundOf(function, next, inner), name = fresh("rounds");
  int64_t times = below(4), before = oneIn(3);
  if (before) {
    whileLoop(name, times, function, round, yielded);
  } else {
    line(name +
         (function.operands.size() > 1
              ? ":" + std::to_string(function.operands.size())
              : "") +
         " = weft.for " + std::to_string(times) + " (" +
         namesOf(function.operands) + ") : (" + types + ") -> (" + types +
         ") {");
    line("^bb0(%i: tensor<i32>" + given + "):");
    body += "  " + round;
    line("  weft.yield " + yielded + " : " + types);
    line("}");
  }
  bool alone = function.operands.size() + before == 1;
  define(name + (alone ? "" : "#" + std::to_string(changing + before)),
         like(next));
}

void ProgramGenerator::accumulatingLoop() {
  auto test = [&](const RandomValue &v) {
    return v.isFloat() && v.element->width >= 16 && canSum(v) &&
           !v.shape.empty();
  };
  auto v = pick(test);
  if (!v)
    return;
  RandomValue w = *pick(
      [&](const RandomValue &x) { return test(x) && typeOf(x) == typeOf(*v); });
  int64_t times = below(4);
  bool multiplies = oneIn(3), counts = oneIn(3);
  RandomValue result = like(*v);
  join(result, w);
  double depth = v->depth, slopeV = 1, slopeW = 0;
  for (int64_t t = 0; t < times; ++t) {
    slopeW = multiplies ? slopeW * w.bound + result.bound : slopeW + 1;
    slopeV *= multiplies ? w.bound : 1;
    depth = multiplies ? depth + w.depth + 1 : std::max(depth, w.depth) + 1;
    result.bound = multiplies ? result.bound * w.bound : result.bound + w.bound;
    result.bound += counts ? static_cast<double>(t) : 0;
    depth += counts;
  }
  if (!result.integral)
    result.depth = depth;
  if (isTooLarge(result))
    return;
  std::string type = typeOf(*v), element = v->element->name,
              name = fresh("rounds");
  std::string dims = std::to_string(dimOf(*v));
  line(name + ":2 = weft.for " + std::to_string(times) + " (" + v->name + ", " +
       w.name + ") : (" + type + ", " + type + ") -> (" + type + ", " + type +
       ") {");
  line("^bb0(%i: tensor<i32>, %v: " + type + ", %w: " + type + "):");
  line(oneIn(2) ? "  %m = weft.neg %v : " + type
                : "  %m = weft.reverse %v dims [" + dims + "] : " + type);
  line(std::string("  %s = weft.") +
       (multiplies ? "mul"
        : oneIn(2) ? "add"
                   : "sub") +
       " %m, %w : " + type);
  if (counts) {
    line("  %number = weft.convert %i : tensor<i32> -> tensor<" + element +
         ">");
    line("  %all = weft.broadcast %number dims [] : tensor<" + element +
         "> -> " + type);
    line("  %t = weft.add %s, %all : " + type);
  }
  line(std::string("  weft.yield ") + (counts ? "%t" : "%s") +
       ", %w : " + type + ", " + type);
  line("}");
  define(name + "#0", result, {{*v, slopeV}, {w, slopeW}});
}

} // namespace weft
