//===- RandomFunctions.cpp - calls, and gradients of losses ---------------===//
//
//   func.func private @f0(%p1: tensor<5xf32>) -> (tensor<f32>) { ... }
//   %g2, %g3 = weft.value_and_grad @f0(%x0) wrt [0] : ...
//
// Gradients of integers are integers if nothing is divided: max and min halve
// the gradient for ties, a reduced max divides it among all ties. So a loss has
// at most three of the first and one of the second, of at most 8 elements, and
// is multiplied by 2^3 and by 840, which all numbers up to 8 divide.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>

namespace weft {

static std::string
joined(const std::vector<RandomValue> &values,
       const std::function<std::string(const RandomValue &)> &text) {
  std::string all;
  for (const RandomValue &value : values)
    all += (all.empty() ? "" : ", ") + text(value);
  return all;
}
std::string namesOf(const std::vector<RandomValue> &values) {
  return joined(values, [](const RandomValue &v) { return v.name; });
}
std::string typesOf(const std::vector<RandomValue> &values) {
  return joined(values, [](const RandomValue &v) { return typeOf(v); });
}

void ProgramGenerator::begin(Function &function,
                             std::vector<RandomValue> operands) {
  function.name = "@f" + std::to_string(numFunctions++);
  function.operands = std::move(operands);
  outerValues = std::move(values);
  outerBody = std::move(body);
  values.clear();
  body.clear();
  for (const RandomValue &operand : function.operands)
    define(fresh("p"), operand);
  function.arguments = values;
}

void ProgramGenerator::end(Function &function,
                           std::vector<RandomValue> results) {
  function.results = std::move(results);
  std::string types = typesOf(function.results);
  line("return " + namesOf(function.results) + " : " + types);
  functions +=
      "func.func private " + function.name + "(" +
      joined(function.arguments,
             [](const RandomValue &v) { return v.name + ": " + typeOf(v); }) +
      ") -> (" + types + ") {\n" + body + "}\n";
  values = std::move(outerValues);
  body = std::move(outerBody);
}

void ProgramGenerator::callOnce(const Function &function,
                                const std::vector<RandomValue> &operands) {
  std::string name = fresh("call");
  size_t n = function.results.size();
  line(name + (n > 1 ? ":" + std::to_string(n) : "") + " = func.call " +
       function.name + "(" + namesOf(operands) + ") : (" + typesOf(operands) +
       ") -> (" + typesOf(function.results) + ")");
  for (size_t i = 0; i < n; ++i)
    define(name + (n > 1 ? "#" + std::to_string(i) : ""), function.results[i]);
}

/// Calls the function again with other operands that have the same bounds.
void ProgramGenerator::callAgain(const Function &function) {
  std::vector<RandomValue> operands;
  for (const RandomValue &first : function.operands)
    operands.push_back(*pick([&](const RandomValue &v) {
      return v.name == first.name ||
             (typeOf(v) == typeOf(first) && v.bound <= first.bound &&
              v.depth <= first.depth && v.unit <= first.unit &&
              v.integral >= first.integral);
    }));
  callOnce(function, operands);
}

void ProgramGenerator::beginBody(Function &function) {
  std::vector<RandomValue> operands;
  for (int64_t i = 0, n = 1 + below(2); i < n; ++i)
    operands.push_back(*pick());
  begin(function, operands);
  inCallee = true;
  steps(1 + static_cast<unsigned>(below(3)));
  inCallee = false;
}

void ProgramGenerator::call() {
  if (inCallee)
    return;
  Function function;
  beginBody(function);
  std::vector<RandomValue> results = {values.back()};
  if (oneIn(2))
    results.push_back(values[below(values.size())]);
  end(function, results);
  callOnce(function, function.operands);
  if (oneIn(2))
    callAgain(function);
}

std::vector<double> ProgramGenerator::adjoints(const RandomValue &of) const {
  std::vector<double> sizes(ids);
  sizes[of.id] = 1;
  for (auto edge = tape.rbegin(); edge != tape.rend(); ++edge)
    sizes[edge->operand] += sizes[edge->result] * edge->slope;
  return sizes;
}

/// The sum of a late value that depends on arguments, as a scalar.
std::optional<RandomValue>
ProgramGenerator::drawLoss(const Function &function) {
  auto x = pick([&](const RandomValue &v) {
    return v.id > function.arguments.back().id && v.onTape && canSum(v) &&
           v.isFloat();
  });
  if (!x)
    return std::nullopt;
  double scale = options.reals ? 1 : std::ldexp(sharings ? 840 : 1, halvings);
  if (scale != 1) {
    RandomValue factor = like(*x), product = like(*x);
    factor.bound = scale;
    product.bound *= scale;
    if (!emit("weft.constant dense<" + std::to_string(scale) +
                  "> : " + typeOf(factor),
              factor, {{*x, 0}}))
      return std::nullopt;
    factor = values.back();
    if (!emit("weft.mul " + x->name + ", " + factor.name + " : " + typeOf(*x),
              product, {{*x, scale}, {factor, x->bound}}))
      return std::nullopt;
    x = values.back();
  }
  double n = static_cast<double>(elements(x->shape));
  RandomValue sum = sumLike(*x, {}, n);
  bool added = emit("weft.reduce sum " + x->name + " dims " +
                        list(counted(x->shape.size())) + " : " + typeOf(*x) +
                        " -> " + typeOf(sum),
                    sum, {{*x}});
  return added ? std::optional(values.back()) : std::nullopt;
}

void ProgramGenerator::gradient() {
  if (inCallee || inLoss)
    return;
  auto first = pick([&](const RandomValue &v) {
    return v.isFloat() && v.element->width >= 32 && canSum(v) && v.bound <= 64;
  });
  if (!first)
    return;
  std::vector<RandomValue> operands = {*first};
  for (int64_t i = 0, n = below(3); i < n; ++i)
    operands.push_back(*pick([&](const RandomValue &v) {
      return v.element == first->element && canSum(v) && v.bound <= 64;
    }));
  Function function;
  begin(function, operands);
  size_t firstEdge = tape.size();
  inLoss = inCallee = true;
  halvings = sharings = 0;
  steps(2 + static_cast<unsigned>(below(5)));
  auto loss = drawLoss(function);
  inLoss = inCallee = false;
  if (!loss) {
    values = std::move(outerValues);
    body = std::move(outerBody);
    return;
  }
  std::vector<double> sizes = adjoints(*loss);
  double depth = 0;
  for (size_t i = firstEdge; i < tape.size(); ++i)
    depth += tape[i].terms;
  std::vector<RandomValue> results = {*loss};
  if (oneIn(3))
    results.push_back(values[below(values.size())]);
  end(function, results);
  // The gradient is by some of the operands, drawn at random.
  std::vector<int64_t> wrt;
  for (size_t i = 0; i < operands.size(); ++i)
    if (wrt.empty() || oneIn(2))
      wrt.push_back(static_cast<int64_t>(i));
  for (int64_t i : wrt) {
    RandomValue slope = like(function.arguments[i]);
    slope.bound = std::max(sizes[function.arguments[i].id], 1.0);
    slope.integral = loss->integral;
    slope.unit = loss->unit;
    if (!slope.integral)
      slope.depth = loss->depth + depth;
    if (isTooLarge(slope))
      return;
    results.push_back(slope);
  }
  std::string name = fresh("grad");
  line(name + ":" + std::to_string(results.size()) + " = weft.value_and_grad " +
       function.name + "(" + namesOf(operands) + ") wrt " + list(wrt) + " : (" +
       typesOf(operands) + ") -> (" + typesOf(results) + ")");
  for (size_t i = 0; i < results.size(); ++i)
    define(name + "#" + std::to_string(i), results[i]);
}

} // namespace weft
