//===- RandomFlow.cpp - loops and branches --------------------------------===//
//
//   %l:2 = weft.for 3 (%z, %x0) : ... {
//   ^bb0(%i, %sum, %v):
//     %c = func.call @f0(%v) : ...
//     %s = weft.add %sum, %c : ...
//     weft.yield %s, %v : ...
//   }
//
// Bodies are calls of private functions, which are drawn like any other.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

namespace weft {

std::optional<ProgramGenerator::Function>
ProgramGenerator::drawSummand(double terms) {
  Function function;
  beginBody(function);
  auto result = pick([&](const RandomValue &v) {
    return canSum(v) && !isTooLarge(sumLike(v, v.shape, terms));
  });
  if (!result) {
    values = std::move(outerValues);
    body = std::move(outerBody);
    return std::nullopt;
  }
  end(function, {*result});
  return function;
}

static std::string zeroOf(const RandomValue &x) {
  return "weft.constant dense<" + std::string(x.isFloat() ? "0.0" : "0") +
         "> : " + typeOf(x);
}

/// The text ", %v0: tensor<4xf32>, ..."; sets `names` to the names only.
static std::string parameters(const std::vector<RandomValue> &values,
                              std::string &names) {
  std::string text;
  names.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    std::string name = "%v" + std::to_string(i);
    names += (i ? ", " : "") + name;
    text += ", " + name + ": " + typeOf(values[i]);
  }
  return text;
}

void ProgramGenerator::loop() {
  if (inCallee || inLoss)
    return;
  int64_t times = below(4);
  auto function = drawSummand(static_cast<double>(times) + 1);
  if (!function)
    return;
  const RandomValue &summand = function->results.front();
  std::string zero = fresh("zero"), name = fresh("loop"), inner;
  std::string type = typeOf(summand),
              types = type + ", " + typesOf(function->operands);
  line(zero + " = " + zeroOf(summand));
  line(name + ":" + std::to_string(1 + function->operands.size()) +
       " = weft.for " + std::to_string(times) + " (" + zero + ", " +
       namesOf(function->operands) + ") : (" + types + ") -> (" + types +
       ") {");
  std::string given = parameters(function->operands, inner);
  line("^bb0(%i: tensor<i32>, %sum: " + type + given + "):");
  line("  %c = func.call " + function->name + "(" + inner + ") : (" +
       typesOf(function->operands) + ") -> (" + type + ")");
  line("  %s = weft.add %sum, %c : " + type);
  line("  weft.yield %s, " + inner + " : " + types);
  line("}");
  RandomValue result =
      sumLike(summand, summand.shape, static_cast<double>(times) + 1);
  define(name + "#0", result);
}

void ProgramGenerator::branch() {
  if (inCallee || inLoss)
    return;
  auto function = drawSummand(2);
  if (!function)
    return;
  const RandomValue &summand = function->results.front();
  auto [start, startType] = randomStart();
  std::string selector = fresh("which"), name = fresh("case"), inner;
  std::string type = typeOf(summand), types = typesOf(function->operands);
  line(selector + " = weft.convert " + start + " : " + startType +
       " -> tensor<i32>");
  line(name + " = weft.case " + selector + "(" + namesOf(function->operands) +
       ") : tensor<i32>, (" + types + ") -> " + type + " {");
  std::string given = parameters(function->operands, inner).substr(2);
  std::string call = " = func.call " + function->name + "(" + inner + ") : (" +
                     types + ") -> (" + type + ")";
  line("^bb0(" + given + "):");
  line("  %c" + call);
  line("  weft.yield %c : " + type);
  line("}, {");
  line("^bb0(" + given + "):");
  line("  %c" + call);
  line("  %s = weft.add %c, %c : " + type);
  line("  weft.yield %s : " + type);
  line("}, {");
  line("^bb0(" + given + "):");
  line("  %c = " + zeroOf(summand));
  line("  weft.yield %c : " + type);
  line("}");
  define(name, sumLike(summand, summand.shape, 2));
}

} // namespace weft
