//===- Call.h - one call of a layer ------------------------------*- C++ -*-===//
//
// The argument of a layer's `call`: a builder of tensors, whether it trains,
// and its variables by their names in Keras. The first call makes the
// variables, later calls of a shared layer find them:
//
//   Dense "d1", called with 16 x 784
//     c.weight("kernel", {784, 200}, {glorot})   variable d1/kernel
//   Dropout
//     c.random(seed, draw)                       {seed, 0}, then {seed, 1}, ...
//   MultiHeadAttention "mha"
//     c.run(query, "query", x)                    variables mha/query/...
//
// A call with an error reports it with refuse() and returns any value, which is
// not used.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H

#include "weft/compiler/frontends/keras/initializers/Initializer.h"
#include "weft/compiler/frontends/keras/layers/Layer.h"
#include "weft/compiler/frontends/keras/schema/Argument.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <map>

namespace weft::keras {

using llvm::ArrayRef;
using llvm::SmallVector;

/// The arguments of a layer's call.
struct CallInputs {
  SmallVector<Value> values; ///< positional tensors, lists taken apart
  Masks masks;               ///< their masks; null or missing: none
  /// All arguments as written; their tensors are numbered in `tensors`.
  CallArguments arguments;
  SmallVector<Value> tensors;
  Masks tensorMasks;

  CallInputs() = default;
  /// Makes inputs of one tensor, and perhaps its mask.
  explicit CallInputs(Value x, Value mask = {}) : values{x}, masks{mask} {}

  /// The mask of a positional tensor, or null.
  Value mask(size_t position = 0) const {
    return position < masks.size() ? masks[position] : Value();
  }
  /// The tensor of a keyword argument, or null; and its mask.
  Value tensor(const std::string &name) const {
    const Argument *found = arguments.keyword(name);
    return found && found->isTensor() ? tensors[found->integer] : Value();
  }
  Value maskOf(const std::string &name) const {
    const Argument *found = arguments.keyword(name);
    return found && found->isTensor() ? tensorMasks[found->integer] : Value();
  }
  /// The tensors of a keyword argument that is one or a list of them.
  SmallVector<Value> list(const std::string &name) const {
    SmallVector<Value> out;
    std::vector<size_t> places;
    if (const Argument *found = arguments.keyword(name))
      found->collect(places);
    for (size_t place : places)
      out.push_back(tensors[place]);
    return out;
  }
  /// Adds a keyword argument that is one tensor or a list.
  void give(const std::string &name, llvm::ArrayRef<Value> list) {
    Argument &argument = arguments.keywords[name];
    argument.kind = Argument::Kind::List;
    for (Value value : list) {
      argument.items.emplace_back();
      argument.items.back().kind = Argument::Kind::Tensor;
      argument.items.back().integer = int64_t(tensors.size());
      tensors.push_back(value);
    }
  }
  void giveFlag(const std::string &name, bool isSet) {
    arguments.keywords[name].kind = Argument::Kind::Flag;
    arguments.keywords[name].integer = isSet;
  }
  bool flag(const std::string &name) const {
    const Argument *found = arguments.keyword(name);
    return found && found->isTrue();
  }
};

/// The results of a call.
struct CallResults {
  std::vector<Value> values;
  Masks masks; ///< as many; null: none
};

/// The initial value and other properties of a weight.
struct WeightRules {
  InitializerPtr initializer;
  RegularizerPtr regularizer = nullptr;
  ConstraintPtr constraint = nullptr;
  /// Axes whose products are the initializer's fans; both empty: as in a matrix
  /// product or convolution.
  std::vector<int64_t> inputAxes = {}, outputAxes = {};
  /// Whether Keras gives it no name: it is variable, variable_1, ... of the
  /// model.
  bool isUnnamed = false;
  /// Whether its value keeps the variables' type; Keras: autocast=False.
  bool keepsType = false;
};

/// The properties of a variable that a call uses.
struct VariableRequest {
  std::string layer; ///< path of the layer: mha/query
  std::string name;  ///< kernel
  std::vector<int64_t> shape;
  WeightRules rules;
  bool trainable = true;      ///< a weight; not a statistic or a random state
  bool isRandom = false;      ///< the state of a seed generator
  bool isDrawnAlways = false; ///< drawn from in each step, not in training only
  std::string scope = layer;  ///< first part of its path in Keras
  std::string dtype = "float32";
};

/// Finds variables: they are made while a model is read, and found while a step
/// is built.
class Variables {
public:
  virtual ~Variables() = default;
  /// The variable's value; records an error if its shape differs from an
  /// earlier call's.
  virtual Value get(const VariableRequest &request) = 0;
  /// Sets the value of the variable at the end of the step.
  virtual void set(const VariableRequest &request, Value value) = 0;
  /// Gives later calls of the step a value instead of a weight; the optimizer
  /// changes the weight itself.
  virtual void replace(const VariableRequest &request, Value value) = 0;
  /// Records that a layer inside another is constructed, with all the
  /// initializers of its options.
  virtual void construct(const Layer &layer) = 0;
  /// Records that an initializer is made while the layer is built; it is no
  /// option.
  virtual void construct(const InitializerPtr &initializer) = 0;
  virtual void addLoss(Value scalar) = 0;
  /// Records an error; the first one is kept.
  virtual void refuse(const std::string &complaint) = 0;
};

class Call {
public:
  Call(Tensors &t, Variables &variables, std::string path, bool trainable,
       bool training, Policy policy = {})
      : t(t), training(training), policy(std::move(policy)),
        variables(variables), path(path), scope(std::move(path)),
        trainable(trainable) {}

  Tensors &t;
  /// Whether the step trains. isTraining() also checks that the layer is not
  /// frozen.
  const bool training;
  const Policy policy;

  /// Converts to the type that the layer computes in.
  Value cast(Value x) { return t.cast(x, t.typeOf(policy.compute)); }

  /// A variable that the optimizer changes, in the type of computation.
  Value weight(const char *name, std::vector<int64_t> shape,
               const WeightRules &rules);
  /// A variable that only `update` changes.
  Value state(const char *name, std::vector<int64_t> shape,
              const InitializerPtr &initializer);
  /// Adds a scalar of int32 that is neither read nor changed here.
  void counter(const char *name);
  void update(const char *name, Value value);
  /// The result of `draw` for the key {seed, n}, for call n of the layer.
  Value random(const InitializerPtr &seedGenerator,
               llvm::function_ref<Value(Value)> draw);
  /// In training, 0 with probability `rate`, else x / (1 - rate). A mask of
  /// another shape has sizes of 1 along dimensions whose elements are dropped
  /// together.
  Value dropout(Value x, double rate, const InitializerPtr &seedGenerator,
                ArrayRef<int64_t> maskShape = {});
  /// The sizes of a mask that broadcasts to x, from an option "noise_shape":
  /// nulls are the sizes of x. Refuses sizes that do not fit.
  SmallVector<int64_t> noiseShape(Value x, ArrayRef<int64_t> written);
  /// Whether the layer trains in this step, and is not frozen.
  bool isTraining() const { return training && trainable; }

  /// Adds the state of a seed generator that Keras' layer owns, even if no number
  /// is drawn. With `isDrawnAlways` each step advances it; only a train step uses
  /// the numbers.
  void hold(const InitializerPtr &seedGenerator, bool isDrawnAlways = false);
  /// Adds the state of the generator of a layer inside.
  void holdInside(const char *name, const InitializerPtr &seedGenerator);
  /// Skips numbers of such a generator.
  void skip(const InitializerPtr &seedGenerator, int64_t count);
  /// Calls a layer inside this one: its result, or all results for all inputs.
  Value run(const Layer &layer, const char *name, Value x);
  CallResults runAll(const Layer &layer, const char *name,
                     const CallInputs &inputs);
  /// Calls a layer that is an option, whose variables are saved under an
  /// attribute. Keras names them after the layer.
  Value runOption(const Layer &layer, const char *attribute, Value x);
  /// Calls such a layer at each time of x (batch, times, ...), and of its mask
  /// or null: as one batch if the layer draws no numbers and keeps no
  /// statistics, else time by time.
  Value runOptionForTimes(const Layer &layer, const char *attribute, Value x,
                          Value mask);
  CallResults runOptionAll(const Layer &layer, const char *attribute,
                           const CallInputs &inputs);
  /// Calls such a layer with the first weight of one of these names replaced by
  /// the result of `adjust`.
  Value runOptionAdjusted(const Layer &layer, const char *attribute, Value x,
                          ArrayRef<llvm::StringRef> names,
                          llvm::function_ref<Value(Value)> adjust);
  /// The call in which such a layer finds its variables.
  Call inside(const Layer &layer, const std::string &attribute);

  /// Records an initializer that the layer makes while it is built, before the
  /// weight that uses it.
  void construct(const InitializerPtr &initializer) {
    variables.construct(initializer);
  }
  void addLoss(Value scalar) { variables.addLoss(scalar); }
  void refuse(const std::string &complaint) { variables.refuse(complaint); }
  /// Whether the tensor has this rank, the batch included; refuses it
  /// otherwise.
  bool hasRank(Value x, int64_t rank);
  /// Whether all axes are dimensions of the tensor, each once; refuses them
  /// otherwise.
  bool hasAxes(Value x, ArrayRef<int64_t> axes);
  /// The same, and whether none of them is the batch.
  bool hasSampleAxes(Value x, ArrayRef<int64_t> axes);

private:
  Variables &variables;
  std::string path, scope; ///< in keys, and in Keras
  bool trainable;
};

/// The layer's results under a path, with its activity regularizer.
CallResults callLayer(mlir::OpBuilder &builder, Variables &variables,
                      const Layer &layer, const std::string &path,
                      const CallInputs &inputs, bool training);

/// The shape of a value without its batch: (28, 28, 1).
std::string sampleText(Value x);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H
