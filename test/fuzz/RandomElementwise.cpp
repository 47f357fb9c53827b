//===- RandomElementwise.cpp - steps on elements at one position ----------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {

static std::string unaryText(const char *op, const RandomValue &x) {
  return std::string("weft.") + op + " " + x.name + " : " + typeOf(x);
}

static std::string binaryText(const char *op, const RandomValue &x,
                              const RandomValue &y) {
  return std::string("weft.") + op + " " + x.name + ", " + y.name + " : " +
         typeOf(x);
}

void ProgramGenerator::unary() {
  static const char *ops[] = {"neg", "abs", "relu", "stop_gradient"};
  int64_t op = below(4);
  auto x = pick([&](const RandomValue &v) {
    return v.isNumber() && (op == 0 || op == 3 || canBend(v));
  });
  if (x)
    emit(unaryText(ops[op], *x), moved(*x, x->shape), {{*x}});
}

/// Applies a step function, whose derivative is 0.
void ProgramGenerator::jumpingUnary() {
  static const char *ops[] = {"sign", "floor", "ceil", "round", "round_even"};
  int64_t op = below(5);
  auto x = pick([&](const RandomValue &v) {
    return v.isNumber() && (op == 0 || v.isFloat()) && canJump(v) &&
           (!inLoss || v.isFloat());
  });
  if (!x)
    return;
  RandomValue result = like(*x);
  result.integral |= x->isFinite();
  result.bound = op == 0 ? std::min(x->bound, 1.0) : x->bound + !x->integral;
  emit(unaryText(ops[op], *x), result, {{*x}});
}

/// The value |x| + 1, which also removes the sign of a zero, which depends on
/// the order of a sum.
RandomValue ProgramGenerator::positive(const RandomValue &x) {
  RandomValue size = like(x), one = like(x);
  one.bound = 1;
  if (!emit(unaryText("abs", x), size, {{x}}))
    return x;
  size = values.back();
  emit("weft.constant dense<1.0> : " + typeOf(x), one, {{x, 0}});
  one = values.back();
  RandomValue sum = size;
  sum.bound += 1;
  sum.depth += rounding(1);
  return emit(binaryText("add", size, one), sum, {{size}, {one}})
             ? values.back()
             : x;
}

namespace {
/// A function of reals with its largest slope for |x| <= m. With `domain`, the
/// function is applied to |x| + 1.
struct RealFunction {
  const char *op;
  bool domain;
  double (*slope)(double m);
};
} // namespace

static double flat(double) { return 1; }

void ProgramGenerator::function() {
  static const RealFunction functions[] = {
      {"exp", false, [](double m) { return std::exp(m); }},
      {"expm1", false, [](double m) { return std::exp(m); }},
      {"log", true, flat},
      {"log1p", true, flat},
      {"sqrt", true, flat},
      {"rsqrt", true, flat},
      {"tanh", false, flat},
      {"logistic", false, flat},
      {"erf", false, [](double) { return 1.2; }},
      {"erfc", false, [](double) { return 1.2; }},
      {"cbrt", true, flat},
      {"sin", false, flat},
      {"cos", false, flat},
      {"tan", false, [](double m) { return m < 1.2 ? 8.0 : 1e40; }}};
  const RealFunction &f = functions[below(std::size(functions))];
  // Fractions are not allowed in a loss of integers, as they would be summed.
  if (inLoss && !options.reals)
    return;
  auto x = pick([&](const RandomValue &v) { return v.isFloat(); });
  if (!x)
    return;
  bool exact = !options.compiled && !options.reals && canJump(*x);
  if (!exact && !x->isFinite())
    return;
  // Results without rounding may be anything, as NaN and infinities compare
  // like numbers, except 1 / sqrt(0), whose sign would be that of the zero.
  bool wild = exact && (!f.domain ? !(f.slope(x->bound) < 1e4)
                                  : oneIn(3) && f.op[0] != 'r');
  if (f.domain && !canBend(*x))
    return;
  if (f.domain && !wild)
    x = positive(*x);
  double slope = f.slope(x->bound);
  if (!wild && !(slope < 1e4))
    return;
  RandomValue result = like(*x);
  result.integral = false;
  result.bound = wild ? std::numeric_limits<double>::infinity()
                      : slope * std::max(x->bound, 1.0);
  result.depth += rounding(8);
  if (!result.isFinite() && inLoss)
    return;
  emit(unaryText(f.op, *x), result, {{*x, slope * std::max(1.0, x->bound)}});
}

void ProgramGenerator::binary() {
  static const char *ops[] = {"add", "sub", "mul", "max", "min"};
  int64_t op = below(5);
  if (op > 2 && inLoss && halvings == 3)
    return;
  auto x = pick([&](const RandomValue &v) {
    return v.isNumber() && (op < 3 || canBend(v));
  });
  if (!x)
    return;
  RandomValue y = partner(*x);
  if (op > 2 && !canBend(y))
    return;
  RandomValue result = op > 2 ? moved(*x, x->shape) : like(*x);
  join(result, y);
  result.bound = op < 2    ? x->bound + y.bound
                 : op == 2 ? x->bound * y.bound
                           : std::max(x->bound, y.bound);
  if (op < 3 && x->isFloat() && !result.integral)
    result.depth += rounding(1) + (op == 2 ? y.depth : 0);
  double byX = op == 2 ? y.bound : 1, byY = op == 2 ? x->bound : 1;
  // A wild product may be 0 * inf.
  if (std::isnan(result.bound))
    result.bound = std::numeric_limits<double>::infinity();
  if (emit(binaryText(ops[op], *x, y), result, {{*x, byX}, {y, byY}}))
    halvings += op > 2 && inLoss;
}

/// Generates quotients, remainders, powers, angles of reals.
void ProgramGenerator::fractionalBinary() {
  static const char *ops[] = {"div", "rem", "pow", "atan2"};
  int64_t op = below(4);
  auto x = pick([&](const RandomValue &v) {
    return v.isFloat() && v.isFinite() && (op != 1 || canJump(v));
  });
  if (!x)
    return;
  RandomValue y = partner(*x);
  if (!y.isFinite() || (op == 1 && !canJump(y)))
    return;
  RandomValue &positiveOne = op == 2 ? *x : y;
  positiveOne = positive(positiveOne);
  if (x->element != y.element)
    return;
  RandomValue result = like(*x);
  join(result, y);
  result.integral = op == 1 && result.integral;
  // A quotient is at most |x|, and its slopes are 1 and |x|; a power is at most
  // (|x|+1)^|y|.
  result.bound = op == 0   ? x->bound * (1 + y.bound)
                 : op == 2 ? std::pow(x->bound + 1, y.bound + 1) * (y.bound + 1)
                           : std::max({x->bound, y.bound, 4.0});
  // Summands of a partial value of 16 bits are divided, and rounded, one by one.
  bool isShort = x->element->unit > 1e-6;
  result.depth += op == 0 && isShort ? 8 : rounding(8);
  result.depth += op == 0 || op == 2 ? y.depth : 0;
  if (result.bound > 1e8 && (options.reals || options.compiled))
    return;
  if (op != 1)
    result.bound = std::max(result.bound, 4.0);
  emit(binaryText(ops[op], *x, y), result);
}

void ProgramGenerator::integerBinary() {
  static const char *ops[] = {"div", "rem", "pow"};
  auto x =
      pick([](const RandomValue &v) { return v.isNumber() && !v.isFloat(); });
  if (!x)
    return;
  RandomValue result = like(*x);
  result.bound = std::ldexp(1.0, static_cast<int>(x->element->width));
  emit(binaryText(ops[below(3)], *x, partner(*x)), result);
}

void ProgramGenerator::bits() {
  static const char *unaries[] = {"not", "population_count",
                                  "count_leading_zeros"};
  static const char *binaries[] = {"and",
                                   "or",
                                   "xor",
                                   "shift_left",
                                   "shift_right_logical",
                                   "shift_right_arithmetic"};
  auto x = pick([](const RandomValue &v) { return !v.isFloat(); });
  if (!x)
    return;
  bool isBool = x->isBool();
  RandomValue result = like(*x);
  result.bound = std::ldexp(1.0, static_cast<int>(x->element->width));
  if (oneIn(3))
    emit(unaryText(unaries[isBool ? 0 : below(3)], *x), result);
  else
    emit(binaryText(binaries[below(isBool ? 3 : 6)], *x, partner(*x)), result);
}

void ProgramGenerator::compare() {
  static const char *kinds[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  auto x =
      pick([&](const RandomValue &v) { return v.isNumber() && canJump(v); });
  if (!x)
    return;
  RandomValue y = partner(*x), result = like(*x);
  if (!canJump(y))
    return;
  result.element = &elementKind("i1");
  result.bound = 1;
  result.integral = true;
  std::string type = typeOf(*x);
  if (x->isFloat() && oneIn(4))
    emit("weft.is_finite " + x->name + " : " + type + " -> " + typeOf(result),
         result);
  else
    emit(std::string("weft.compare ") + kinds[below(6)] + " " + x->name + ", " +
             y.name + " : " + type + ", " + type + " -> " + typeOf(result),
         result);
}

/// Tests which elements are negative, -0 included: 1 / x is negative for them.
void ProgramGenerator::zeroSigns() {
  auto x = pick([&](const RandomValue &v) {
    return v.isFloat() && v.signedZeros && canJump(v);
  });
  if (!x)
    return;
  std::string one = fresh("one"), inverse = fresh("inverse"),
              zero = fresh("zero"), type = typeOf(*x);
  line(one + " = weft.constant dense<1.0> : " + type);
  line(zero + " = weft.constant dense<0.0> : " + type);
  line(inverse + " = weft.div " + one + ", " + x->name + " : " + type);
  RandomValue result = like(*x);
  result.element = &elementKind("i1");
  result.bound = 1;
  result.integral = true;
  emit("weft.compare lt " + inverse + ", " + zero + " : " + type + ", " + type +
           " -> " + typeOf(result),
       result);
}

void ProgramGenerator::select() {
  auto x = pick();
  RandomValue y = partner(*x);
  auto by = pick(
      [&](const RandomValue &v) { return v.shape == x->shape && canJump(v); });
  if (!by)
    return;
  std::string condition = by->name, flags = typeOf(x->shape, "i1");
  if (!by->isBool()) {
    RandomValue other = partner(*by);
    if (!canJump(other))
      return;
    condition = fresh("c");
    line(condition + " = weft.compare " + (oneIn(2) ? "lt " : "eq ") +
         by->name + ", " + other.name + " : " + typeOf(*by) + ", " +
         typeOf(*by) + " -> " + flags);
  }
  RandomValue result = moved(*x, x->shape);
  join(result, y);
  result.bound = std::max(x->bound, y.bound);
  std::string type = typeOf(*x);
  emit("weft.select " + condition + ", " + x->name + ", " + y.name + " : " +
           flags + ", " + type + ", " + type + " -> " + type,
       result, {{*x}, {y}});
}

void ProgramGenerator::clamp() {
  auto low = pick([&](const RandomValue &v) { return canBend(v); });
  if (!low)
    return;
  RandomValue x = partner(*low), high = partner(*low),
              result = moved(*low, low->shape);
  if (!canBend(x) || !canBend(high))
    return;
  join(result, x);
  join(result, high);
  result.bound = std::max({low->bound, x.bound, high.bound});
  std::string type = typeOf(*low);
  emit("weft.clamp " + low->name + ", " + x.name + ", " + high.name + " : " +
           type + ", " + type + ", " + type + " -> " + type,
       result, {{*low}, {x}, {high}});
}

void ProgramGenerator::convert() {
  const ElementKind &to = randomElement();
  auto x = pick([&](const RandomValue &v) {
    return v.isFinite() &&
           (to.isFloat ? !v.integral || v.bound <= to.largest : canJump(v));
  });
  if (!x)
    return;
  RandomValue result = like(*x);
  result.element = &to;
  result.integral |= !to.isFloat;
  if (!to.isFloat)
    result.bound =
        to.width == 1 ? 1 : std::ldexp(1.0, static_cast<int>(to.width));
  result.unit = std::max(result.unit, to.unit);
  if (!result.integral)
    result.depth += rounding(1) + (x->depth > 0);
  emit("weft.convert " + x->name + " : " + typeOf(*x) + " -> " + typeOf(result),
       result);
}

/// Casts integers to integers of the other sign or floats of that width. The
/// bits of a float would show the sign of its zero.
void ProgramGenerator::bitcast() {
  auto x =
      pick([](const RandomValue &v) { return !v.isFloat() && v.isNumber(); });
  if (!x)
    return;
  std::vector<const ElementKind *> fitting;
  for (const ElementKind &kind : elementKinds())
    if (kind.width == x->element->width && !(options.compiled && kind.isFloat))
      fitting.push_back(&kind);
  RandomValue result = like(*x);
  result.element = fitting[below(fitting.size())];
  result.bound = std::ldexp(1.0, static_cast<int>(result.element->width));
  if (result.isFloat()) {
    result.bound = std::numeric_limits<double>::infinity();
    result.integral = false;
    result.unit = result.element->unit;
    if (options.reals)
      return;
  }
  emit("weft.bitcast " + x->name + " : " + typeOf(*x) + " -> " + typeOf(result),
       result);
}

void ProgramGenerator::precision() {
  auto x = pick([&](const RandomValue &v) {
    return v.isFloat() && v.isFinite() && canJump(v);
  });
  if (!x)
    return;
  RandomValue result = like(*x);
  int64_t mantissa = 2 + below(5);
  result.bound *= 2;
  if (!(x->integral && x->bound < 1e6))
    result.integral = false;
  emit("weft.reduce_precision " + x->name + " to e " +
           std::to_string(6 + below(3)) + " m " + std::to_string(mantissa) +
           " : " + typeOf(*x),
       result);
}

} // namespace weft
