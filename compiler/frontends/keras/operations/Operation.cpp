//===- Operation.cpp - a function of keras.ops as a layer -----------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"
#include "weft/layout/Sizes.h"

#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

using Kind = Argument::Kind;

void keras::Operation::options(Options &o) {
  for (const OperationParameter &parameter : row.parameters)
    if (parameter.refused)
      o.refused(parameter.name, parameter.refused, parameter.otherwise);
    else
      o.argument(parameter.name, values[parameter.name], parameter.otherwise);
}

bool keras::Operation::named(Call &c, const CallArguments &given,
                             std::map<std::string, Argument> &arguments) const {
  bool takesMore = !row.arguments.empty() && *row.arguments.back() == '*';
  if (!takesMore && given.positional.size() > row.arguments.size()) {
    c.refuse("is called with " + std::to_string(given.positional.size()) +
             " arguments; it takes " + std::to_string(row.arguments.size()));
    return false;
  }
  size_t i = 0;
  for (const Argument &argument : given.positional) {
    const char *name = row.arguments[i];
    if (*name == '*') // takes all remaining arguments
      arguments[name + 1].items.push_back(argument);
    else
      arguments[row.arguments[i++]] = argument;
  }
  for (const auto &[name, argument] : given.keywords) {
    if (!llvm::is_contained(row.arguments, name)) {
      c.refuse("has no argument \"" + name + "\"");
      return false;
    }
    arguments[name] = argument;
  }
  if (i < row.arguments.size() && *row.arguments[i] == '*')
    arguments[row.arguments[i] + 1].kind = Kind::List;
  return true;
}

std::vector<Tensor> keras::Operation::results(Call &c,
                                              const CallInputs &inputs) const {
  std::map<std::string, Argument> arguments = values;
  if (!named(c, inputs.arguments, arguments))
    return {inputs.tensors.front()};
  OperationCall call(c, inputs, std::move(arguments));
  SmallVector<Tensor> results = row.build(call);
  return {results.begin(), results.end()};
}

const Argument &OperationCall::argument(const char *name) const {
  static const Argument kNothing;
  auto found = arguments.find(name);
  return found == arguments.end() ? kNothing : found->second;
}

void OperationCall::refuseForm(const char *name, const char *wanted) {
  const Argument &found = argument(name);
  c.refuse("its argument \"" + std::string(name) + "\" must be " + wanted +
           ", not " + (found.isGiven() ? found.written : "None"));
}

static bool isNumber(const Argument &argument) {
  return argument.kind == Kind::Flag || argument.kind == Kind::Integer ||
         argument.kind == Kind::Real;
}

static double numberOf(const Argument &argument) {
  return argument.kind == Kind::Real ? argument.real : double(argument.integer);
}

/// The type of a Python number: bool, int or float.
static Type typeOfNumber(Builder &builder, const Argument &number) {
  return number.kind == Kind::Flag      ? Type(builder.getI1Type())
         : number.kind == Kind::Integer ? Type(builder.getI32Type())
                                        : Type(builder.getF32Type());
}

/// Collects the numbers of nested lists of one shape; returns false for
/// anything else.
static bool flatten(const Argument &list, unsigned depth, Argument &out) {
  if (list.kind != Kind::List) {
    out.numbers.push_back(numberOf(list));
    out.integer = std::max<int64_t>(out.integer, int64_t(list.kind));
    return isNumber(list) && depth == out.shape.size();
  }
  if (depth == out.shape.size() && out.numbers.empty())
    out.shape.push_back(int64_t(list.items.size()));
  if (depth >= out.shape.size() || list.items.empty() ||
      out.shape[depth] != int64_t(list.items.size()))
    return false;
  for (const Argument &item : list.items)
    if (!flatten(item, depth + 1, out))
      return false;
  return true;
}

/// A constant with the numbers of an array.
static Tensor constantOf(Tensors &t, const Argument &array, Type element) {
  SmallVector<Attribute> values;
  for (double number : array.numbers)
    values.push_back(isa<FloatType>(element)
                         ? Attribute(t.builder.getFloatAttr(element, number))
                         : Attribute(IntegerAttr::get(
                               element, formulas::integerOf(number, element))));
  auto type = RankedTensorType::get(array.shape, element);
  return t.make<ConstantOp>(ElementsAttr(DenseElementsAttr::get(type, values)));
}

Tensor OperationCall::tensorOf(const Argument &argument, const char *name) {
  if (argument.kind == Kind::Tensor)
    return inputs.tensors[argument.integer];
  if (isNumber(argument))
    return t.splat(
        numberOf(argument),
        RankedTensorType::get({}, typeOfNumber(t.builder, argument)));
  if (argument.kind == Kind::Array)
    if (Type element = t.typeOf(argument.text))
      return constantOf(t, argument, element);
  Argument flat;
  if (argument.kind == Kind::List && flatten(argument, 0, flat)) {
    flat.kind = Kind(flat.integer);
    return constantOf(t, flat, typeOfNumber(t.builder, flat));
  }
  refuseForm(name, "a tensor or numbers");
  return t.splat(0, RankedTensorType::get({}, t.builder.getF32Type()));
}

Tensor OperationCall::cast(Tensor x, const char *name) {
  if (!given(name))
    return x;
  Type type = t.typeOf(text(name));
  if (check(bool(type), "cannot compute with the type \"" + text(name) +
                            "\"; use bool, integers or floats of at most 32 "
                            "bits"))
    return castTo(t, x, type);
  return x;
}

SmallVector<Tensor> OperationCall::tensors(const char *name) {
  const Argument &list = argument(name);
  SmallVector<Tensor> out;
  if (list.kind == Kind::List)
    for (const Argument &item : list.items)
      out.push_back(tensorOf(item, name));
  else
    out.push_back(tensorOf(list, name));
  if (out.empty()) {
    refuseForm(name, "a list of tensors");
    out.push_back(
        t.splat(0, RankedTensorType::get({1}, t.builder.getF32Type())));
  }
  toCommonType(t, out);
  return out;
}

SmallVector<Tensor> OperationCall::together(std::vector<const char *> names) {
  SmallVector<Tensor> out;
  Type type;
  for (const char *name : names) {
    out.push_back(tensor(name));
    if (!isNumber(argument(name)))
      type =
          type ? promoted(type, elementOf(out.back())) : elementOf(out.back());
  }
  for (auto [name, value] : llvm::zip_equal(names, out))
    if (isNumber(argument(name)))
      type =
          type ? promotedWithNumber(type, elementOf(value)) : elementOf(value);
  for (auto [name, value] : llvm::zip_equal(names, out))
    value = isNumber(argument(name)) ? t.splat(numberOf(argument(name)),
                                               RankedTensorType::get({}, type))
                                     : castTo(t, value, type);
  return stretched(std::move(out));
}

SmallVector<Tensor> OperationCall::stretched(SmallVector<Tensor> values) {
  SmallVector<int64_t> shape;
  for (Tensor value : values) {
    int64_t extra = t.rank(value) - int64_t(shape.size());
    shape.insert(shape.begin(), size_t(std::max<int64_t>(extra, 0)), 1);
    for (int64_t i = 1; i <= t.rank(value); ++i) {
      int64_t &size = shape[shape.size() - i], other = t.size(value, -i);
      if (!check(size == other || size == 1 || other == 1,
                 "cannot combine tensors of shapes " +
                     shapeText(t.shape(values[0])) + " and " +
                     shapeText(t.shape(value))))
        return SmallVector<Tensor>(values.size(), values[0]);
      size = size == 1 ? other : size;
    }
  }
  if (!fits(shape))
    return SmallVector<Tensor>(values.size(), values[0]);
  for (Tensor &value : values)
    value = t.stretch(value, shape);
  return values;
}

int64_t OperationCall::integer(const char *name, int64_t otherwise) {
  const Argument &found = argument(name);
  if (!found.isGiven())
    return otherwise;
  if (found.kind != Kind::Integer)
    refuseForm(name, "an integer");
  return found.kind == Kind::Integer ? found.integer : otherwise;
}

double OperationCall::number(const char *name, double otherwise) {
  const Argument &found = argument(name);
  if (!found.isGiven())
    return otherwise;
  if (!isNumber(found))
    refuseForm(name, "a number");
  return numberOf(found);
}

bool OperationCall::flag(const char *name) {
  const Argument &found = argument(name);
  if (found.isGiven() && found.kind != Kind::Flag)
    refuseForm(name, "true or false");
  return found.kind == Kind::Flag && found.integer;
}

std::string OperationCall::text(const char *name, std::string otherwise) {
  const Argument &found = argument(name);
  if (!found.isGiven())
    return otherwise;
  if (found.kind != Kind::Text)
    refuseForm(name, "a text");
  return found.text;
}

SmallVector<int64_t> OperationCall::integers(const char *name) {
  const Argument &found = argument(name);
  if (found.kind == Kind::Integer)
    return {found.integer};
  SmallVector<int64_t> out;
  if (found.kind == Kind::Array)
    out.assign(found.numbers.begin(), found.numbers.end());
  for (const Argument &item : found.items)
    if (item.kind == Kind::Integer)
      out.push_back(item.integer);
  if (out.size() != std::max(found.items.size(), found.numbers.size()) ||
      !(found.kind == Kind::List || found.kind == Kind::Array))
    refuseForm(name, "an integer or a list of them");
  return out;
}

int64_t OperationCall::checkedDim(int64_t axis, int64_t rank) {
  if (check(axis >= -rank && axis < rank,
            "axis " + std::to_string(axis) + " is none of " +
                std::to_string(rank) + " dimensions"))
    return axis < 0 ? axis + rank : axis;
  return 0;
}

int64_t OperationCall::dim(const char *name, int64_t rank) {
  return checkedDim(integer(name), rank);
}

SmallVector<int64_t> OperationCall::dims(const char *name, Tensor x) {
  SmallVector<int64_t> out(t.rank(x));
  std::iota(out.begin(), out.end(), 0);
  if (!given(name))
    return out;
  SmallVector<int64_t> axes = integers(name);
  return c.hasAxes(x, axes) ? t.dims(x, axes) : out;
}

bool OperationCall::fits(ArrayRef<int64_t> shape) {
  std::string why = oversize(shape, 4);
  return check(why.empty(), "a result " + shapeText(shape) + " has " + why);
}
