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
// A call that fails reports an error with refuse() and returns an arbitrary
// value, which is not used.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H

#include "weft/base/config/Argument.h"
#include "weft/compiler/frontends/keras/layers/Layer.h"
#include "weft/compiler/frontends/keras/layers/Weight.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <map>

namespace weft::keras {

using llvm::ArrayRef;
using llvm::SmallVector;

/// The arguments of a layer's call.
struct CallInputs {
  SmallVector<Tensor> values; ///< positional tensors, with lists flattened
  Masks masks;                ///< their masks; null or missing: none
  /// All arguments as written, with tensors as indices into `tensors`.
  CallArguments arguments;
  SmallVector<Tensor> tensors;
  Masks tensorMasks;

  CallInputs() = default;
  /// Makes inputs of one tensor, with its mask or none.
  explicit CallInputs(Tensor x, Tensor mask = {}) : values{x}, masks{mask} {}

  /// The mask of a positional tensor, or null.
  Tensor mask(size_t position = 0) const {
    return position < masks.size() ? masks[position] : Tensor();
  }
  /// The tensor of a keyword argument and its mask; null if there is none.
  Tensor tensor(const std::string &name) const {
    const Argument *found = arguments.keyword(name);
    return found && found->isTensor() ? tensors[found->integer] : Tensor();
  }
  Tensor maskOf(const std::string &name) const {
    const Argument *found = arguments.keyword(name);
    return found && found->isTensor() ? tensorMasks[found->integer] : Tensor();
  }
  /// The tensors of a keyword argument that is one tensor or a list of tensors.
  SmallVector<Tensor> list(const std::string &name) const {
    SmallVector<Tensor> out;
    std::vector<size_t> places;
    if (const Argument *found = arguments.keyword(name))
      found->collect(places);
    for (size_t place : places)
      out.push_back(tensors[place]);
    return out;
  }
  /// Adds a keyword argument that is a list of tensors.
  void give(const std::string &name, llvm::ArrayRef<Tensor> list) {
    Argument &argument = arguments.keywords[name];
    argument.kind = Argument::Kind::List;
    for (Tensor value : list) {
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
  std::vector<Tensor> values;
  Masks masks; ///< one for each value; null: no mask
};

/// The properties of a variable that a call uses.
struct VariableRequest {
  std::string layer; ///< path of the layer: mha/query
  std::string name;  ///< such as kernel
  std::vector<int64_t> shape;
  Weight rules;
  bool trainable = true;      ///< a weight that is not frozen
  bool isRandom = false;      ///< the state of a seed generator
  bool isDrawnAlways = false; ///< each step draws from it, not only training
  std::string scope = layer;  ///< first part of its path in Keras
  std::string dtype = "float32";
};

/// The layer that constructs others while it is built.
struct Constructor {
  const Layer *layer = nullptr;
  std::string scope; ///< first part of its variables' paths in Keras
};

/// The variables of a model, which are made while it is read, and found while a
/// step is built.
class Variables {
public:
  virtual ~Variables() = default;
  /// The variable's value; records an error if its shape differs from an
  /// earlier call's.
  virtual Value get(const VariableRequest &request) = 0;
  /// Sets the value of the variable at the end of the step.
  virtual void set(const VariableRequest &request, Value value) = 0;
  /// Gives later calls in the step another value for a weight; the optimizer
  /// still changes the weight itself.
  virtual void replace(const VariableRequest &request, Value value) = 0;
  /// Records that a layer constructs an inner layer while it is built, with the
  /// initializers of all its options.
  virtual void construct(const Layer &layer, const Constructor &by) = 0;
  /// Records that a layer makes an initializer while it is built, without an
  /// option for it.
  virtual void construct(const InitializerPtr &initializer,
                         const Constructor &by) = 0;
  virtual void addLoss(Value scalar) = 0;
  /// Records an error; the first one is kept.
  virtual void refuse(const std::string &complaint) = 0;
};

class Call {
public:
  Call(Tensors &t [[clang::lifetimebound]],
       Variables &variables [[clang::lifetimebound]], const Layer &self,
       std::string path, bool trainable, bool training, Policy policy = {})
      : t(t), training(training), policy(std::move(policy)),
        variables(variables), self(&self), path(path), scope(std::move(path)),
        trainable(trainable) {}

  Tensors &t;
  /// Whether the step trains. isTraining() also checks that the layer is not
  /// frozen.
  const bool training;
  const Policy policy;

  /// Converts x to the type in which the layer computes.
  Tensor cast(Tensor x) { return t.cast(x, t.typeOf(policy.compute)); }

  /// A variable that the optimizer changes, converted to the type in which the
  /// layer computes.
  Tensor weight(const char *name, std::vector<int64_t> shape,
                const Weight &rules);
  /// A variable that only `update` changes.
  Tensor state(const char *name, std::vector<int64_t> shape,
               const InitializerPtr &initializer);
  /// Adds an int32 scalar variable that the call neither reads nor changes.
  void counter(const char *name);
  void update(const char *name, Tensor value);
  /// The result of `draw` for the key {seed, n}, for draw n of the generator.
  Tensor random(const InitializerPtr &seedGenerator,
                llvm::function_ref<Tensor(Tensor)> draw);
  /// In training, sets elements of x to 0 with probability `rate` and divides
  /// the others by 1 - rate. Sizes of 1 in `maskShape` drop the elements along
  /// those dimensions together.
  Tensor dropout(Tensor x, double rate, const InitializerPtr &seedGenerator,
                 ArrayRef<int64_t> maskShape = {});
  /// The shape of a mask that broadcasts to x, from an option "noise_shape"
  /// whose nulls stand for the sizes of x. Refuses sizes that do not fit.
  SmallVector<int64_t> noiseShape(Tensor x, ArrayRef<int64_t> written);
  /// Whether the layer trains in this step, and is not frozen.
  bool isTraining() const { return training && trainable; }

  /// Adds the state of a seed generator that Keras' layer owns, even if no number
  /// is drawn. With `isDrawnAlways` each step advances it; only a train step uses
  /// the numbers.
  void hold(const InitializerPtr &seedGenerator, bool isDrawnAlways = false);
  /// Adds the state of an inner layer's seed generator.
  void holdInside(const char *name, const InitializerPtr &seedGenerator);
  /// Advances the state of a seed generator by `count` numbers.
  void skip(const InitializerPtr &seedGenerator, int64_t count);
  /// Calls an inner layer on one tensor and returns its result, or on several
  /// inputs and returns all results.
  Tensor run(const Layer &layer, const char *name, Tensor x);
  CallResults runAll(const Layer &layer, const char *name,
                     const CallInputs &inputs);
  /// Calls a layer that is an option, whose variables are saved under an
  /// attribute. Keras names them after the layer.
  Tensor runOption(const Layer &layer, const char *attribute, Tensor x);
  /// Calls a layer of a model that is an option: tensors that the layer does
  /// not take are refused, and there are no results then.
  CallResults runMember(const Layer &layer, const std::string &attribute,
                        const CallInputs &inputs);
  /// Calls a layer that is an option at each time of x (batch, times, ...) and
  /// of its mask, if any. All times are one batch if the layer draws no
  /// numbers, keeps no statistics and adds no losses; else they are called one
  /// after the other.
  Tensor runOptionForTimes(const Layer &layer, const char *attribute, Tensor x,
                           Tensor mask);
  CallResults runOptionAll(const Layer &layer, const char *attribute,
                           const CallInputs &inputs);
  /// Calls a layer that is an option; the first weight that has one of these
  /// names is replaced by the result of `adjust`.
  Tensor runOptionAdjusted(const Layer &layer, const char *attribute, Tensor x,
                           ArrayRef<llvm::StringRef> names,
                           llvm::function_ref<Tensor(Tensor)> adjust);
  /// The call in which a layer that is an option finds its variables.
  Call inside(const Layer &layer, const std::string &attribute);

  /// Records an initializer that the layer makes while it is built; called
  /// before the weight that uses it is requested.
  void construct(const InitializerPtr &initializer) {
    variables.construct(initializer, {self, scope});
  }
  void addLoss(Tensor scalar) { variables.addLoss(scalar); }
  void refuse(const std::string &complaint) { variables.refuse(complaint); }
  /// Whether the tensor has this rank, the batch included; refuses it
  /// otherwise.
  bool hasRank(Tensor x, int64_t rank);
  /// Whether all axes are dimensions of the tensor, each once; refuses them
  /// otherwise.
  bool hasAxes(Tensor x, ArrayRef<int64_t> axes);
  /// Whether hasAxes() holds and none of the axes is the batch.
  bool hasSampleAxes(Tensor x, ArrayRef<int64_t> axes);

private:
  /// A variable of the layer that does not train.
  VariableRequest request(const char *name, std::vector<int64_t> shape,
                          const Weight &rules) const;
  /// The same call with other variables.
  Call with(Variables &others) const {
    Call out(t, others, *self, path, trainable, training, policy);
    out.scope = scope;
    return out;
  }

  Variables &variables;
  const Layer *self;       ///< the layer that is called
  std::string path, scope; ///< prefixes of keys and of Keras' paths
  bool trainable;
};

/// Calls the layer at a path, and adds the penalty of its activity regularizer
/// to the loss.
CallResults callLayer(Tensors &t, Variables &variables, const Layer &layer,
                      const std::string &path, const CallInputs &inputs,
                      bool training);

/// The shape of a value without its batch: (28, 28, 1).
std::string sampleText(Tensor x);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H
