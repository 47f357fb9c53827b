//===- Operation.h - a function of keras.ops as a layer ----------*- C++ -*-===//
//
// A Functional model that applies functions of keras.ops has a layer for each
// call, whose class is an Operation of Keras. One row declares a class: the
// arguments of its call in order, those of its constructor with their defaults,
// and the function that computes it:
//
//   operation("Clip", {"x"}, {{"x_min"}, {"x_max"}}, clip)
//   Tensor clip(OperationCall &a) { ... a.tensor("x") ... a.given("x_min") ... }
//
// Both kinds of arguments are read by name. An argument that does not fit is
// refused, and the reader returns a valid value, so that rows check their own
// conditions only.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPERATIONS_OPERATION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPERATIONS_OPERATION_H

#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/compiler/frontends/keras/tensors/Promotion.h"

#include <functional>

namespace weft::keras {

class OperationCall;

struct OperationParameter {
  const char *name;
  const char *otherwise = "null"; ///< the default, as JSON
  const char *refused = nullptr;  ///< the feature that other values need
};

struct OperationRow {
  const char *name; ///< the name of Keras' class
  std::vector<const char *> arguments;
  std::vector<OperationParameter> parameters;
  std::function<SmallVector<Tensor>(OperationCall &)> build;
};

/// Makes a row whose function returns one value.
template <class Build>
OperationRow operation(const char *name, std::vector<const char *> arguments,
                       std::vector<OperationParameter> parameters,
                       Build build) {
  return {name, std::move(arguments), std::move(parameters),
          [build](OperationCall &a) { return SmallVector<Tensor>{build(a)}; }};
}

/// One call, whose arguments are read by name and converted as the row
/// requests.
class OperationCall {
public:
  OperationCall(Call &c [[clang::lifetimebound]],
                const CallInputs &inputs [[clang::lifetimebound]],
                std::map<std::string, Argument> arguments)
      : t(c.t), c(c), inputs(inputs), arguments(std::move(arguments)) {}

  Tensors &t;

  const Argument &argument(const char *name) const;
  bool given(const char *name) const { return argument(name).isGiven(); }
  /// The argument as a tensor; numbers and lists of them become constants.
  Tensor tensor(const char *name) { return tensorOf(argument(name), name); }
  /// The argument as a tensor of floats; integers become f32.
  Tensor floats(const char *name) { return asFloats(t, tensor(name)); }
  /// A list of tensors, converted to their common type.
  SmallVector<Tensor> tensors(const char *name);
  /// Arguments, converted to their common type and shape as in NumPy and JAX.
  SmallVector<Tensor> together(std::vector<const char *> names);
  SmallVector<Tensor> stretched(SmallVector<Tensor> values);
  Tensor cast(Tensor x, const char *typeName);

  int64_t integer(const char *name, int64_t otherwise = 0);
  double number(const char *name, double otherwise = 0);
  bool flag(const char *name);
  std::string text(const char *name, std::string otherwise = "");
  /// An integer or a list of integers.
  SmallVector<int64_t> integers(const char *name);
  /// Distinct dimensions of x in increasing order; all of them for None.
  SmallVector<int64_t> dims(const char *name, Tensor x);
  /// The argument `name` as a dimension of `rank`; negative ones count from the end.
  int64_t dim(const char *name, int64_t rank);
  int64_t checkedDim(int64_t axis, int64_t rank);

  /// Whether a tensor of this shape is not too large; refuses the call
  /// otherwise.
  bool fits(ArrayRef<int64_t> shape);
  /// Refuses the call with a complaint unless `isGood`.
  bool check(bool isGood, const std::string &complaint) {
    if (!isGood)
      c.refuse(complaint);
    return isGood;
  }

private:
  Tensor tensorOf(const Argument &argument, const char *name);
  void refuseForm(const char *name, const char *wanted);

  Call &c;
  const CallInputs &inputs;
  std::map<std::string, Argument> arguments;
};

class Operation : public Layer {
public:
  explicit Operation(OperationRow row) : row(std::move(row)) {
    for (const OperationParameter &parameter : this->row.parameters)
      values[parameter.name];
  }
  void options(Options &o) override;
  Facts facts() const override {
    return {.tensors = row.arguments,
            .readsArguments = true,
            .takesIntegers = true,
            .castsInputs = false,
            .savedName = ""};
  }
  std::vector<Tensor> results(Call &c, const CallInputs &inputs) const override;

private:
  /// Collects the call's arguments by name, over those of the constructor;
  /// returns false if there are unknown ones, or too many.
  bool named(Call &c, const CallArguments &given,
             std::map<std::string, Argument> &arguments) const;

  OperationRow row;
  std::map<std::string, Argument> values;
};

/// A function of one tensor, and the function that applies an op.
using UnaryFormula = Tensor (*)(Tensors &, Tensor);
template <class Op> Tensor one(Tensors &t, Tensor x) { return t.make<Op>(x); }
/// A function of two tensors of one type and shape, and the function that
/// applies an op.
using BinaryFormula = Tensor (*)(Tensors &, Tensor, Tensor);
template <class Op> Tensor two(Tensors &t, Tensor x, Tensor y) {
  return t.make<Op>(x, y);
}

/// The row of a function of floats; integers become f32.
OperationRow ofFloats(const char *name, UnaryFormula formula);

/// The rows of each family.
std::vector<OperationRow> elementwiseOperations();
std::vector<OperationRow> trigonometricOperations();
std::vector<OperationRow> binaryOperations();
std::vector<OperationRow> logicalOperations();
std::vector<OperationRow> reductionOperations();
std::vector<OperationRow> cumulativeOperations();
std::vector<OperationRow> shapeOperations();
std::vector<OperationRow> joiningOperations();
std::vector<OperationRow> indexingOperations();
std::vector<OperationRow> contractionOperations();
std::vector<OperationRow> activationOperations();
std::vector<OperationRow> networkOperations();
std::vector<OperationRow> imageOperations();

/// All operations, by the names of their classes.
const Table<Layer> &operationTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPERATIONS_OPERATION_H
