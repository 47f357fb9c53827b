//===- Call.h - one call of a layer ------------------------------*- C++ -*-===//
//
// What a layer's `call` sees: a builder of tensors, whether it trains, and its
// variables by their names in Keras. The first call makes them, later calls of a
// shared layer find them:
//
//   Dense "d1", called with 16 x 784
//     c.weight("kernel", {784, 200}, {glorot})   variable d1/kernel
//   Dropout
//     c.random(seed, draw)                       {seed, 0}, then {seed, 1}, ...
//   MultiHeadAttention "mha"
//     c.run(query, "query", x)                    variables mha/query/...
//
// A call that cannot be made says why with refuse() and returns any value; what
// follows is not used.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H

#include "weft/compiler/frontends/keras/initializers/Initializer.h"
#include "weft/compiler/frontends/keras/layers/Layer.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <map>

namespace weft::keras {

using llvm::ArrayRef;
using llvm::SmallVector;

/// What a layer is called with.
struct CallInputs {
  SmallVector<Value> values; ///< positional, lists taken apart
  std::map<std::string, Value> tensors;
  std::map<std::string, bool> flags;

  /// The keyword argument, or null.
  Value tensor(const std::string &name) const {
    auto found = tensors.find(name);
    return found == tensors.end() ? Value() : found->second;
  }
  bool flag(const std::string &name) const {
    auto found = flags.find(name);
    return found != flags.end() && found->second;
  }
};

/// How a weight begins, and what holds for it.
struct WeightRules {
  InitializerPtr initializer;
  RegularizerPtr regularizer = nullptr;
  ConstraintPtr constraint = nullptr;
  /// Axes whose products are the initializer's fans; both empty: as in a matrix
  /// product or convolution.
  std::vector<int64_t> inputAxes = {}, outputAxes = {};
};

/// A variable that a call asks for.
struct VariableRequest {
  std::string layer; ///< path of the layer: mha/query
  std::string name;  ///< kernel
  std::vector<int64_t> shape;
  WeightRules rules;
  bool trainable = true;     ///< a weight; not a statistic or a random state
  bool isRandom = false;     ///< the state of a seed generator
  std::string scope = layer; ///< first part of its path in Keras
};

/// Where variables are: made while a model is read, found while a step is built.
class Variables {
public:
  virtual ~Variables() = default;
  /// The variable's value; records an error where the shape is not that of an
  /// earlier call.
  virtual Value get(const VariableRequest &request) = 0;
  /// What the step leaves in the variable.
  virtual void set(const VariableRequest &request, Value value) = 0;
  /// A layer inside another is constructed: with all the initializers of its
  /// options.
  virtual void construct(const Layer &layer) = 0;
  virtual void addLoss(Value scalar) = 0;
  /// The first complaint is kept.
  virtual void refuse(const std::string &complaint) = 0;
};

class Call {
public:
  Call(Tensors &t, Variables &variables, std::string path, bool trainable,
       bool training)
      : t(t), training(training), variables(variables), path(path),
        scope(std::move(path)), trainable(trainable) {}

  Tensors &t;
  /// Does the step train? A frozen layer is asked with isTraining().
  const bool training;

  /// A variable that the optimizer changes.
  Value weight(const char *name, std::vector<int64_t> shape,
               const WeightRules &rules);
  /// A variable that only `update` changes.
  Value state(const char *name, std::vector<int64_t> shape,
              const InitializerPtr &initializer);
  void update(const char *name, Value value);
  /// What `draw` makes of the key {seed, n}, for call n of the layer.
  Value random(const InitializerPtr &seedGenerator,
               llvm::function_ref<Value(Value)> draw);
  /// In training, 0 with probability `rate`, and x / (1 - rate) else. A mask of
  /// another shape has sizes of 1 where all elements share their fate.
  Value dropout(Value x, double rate, const InitializerPtr &seedGenerator,
                ArrayRef<int64_t> maskShape = {});
  /// Does the layer train in this step, and is it not frozen?
  bool isTraining() const { return training && trainable; }

  /// The state of a generator that Keras has, whether it is drawn from or not.
  void hold(const InitializerPtr &seedGenerator);
  /// The result of a layer inside this one.
  Value run(const Layer &layer, const char *name, Value x);
  /// The same of a layer that is an option, whose variables are saved under an
  /// attribute. Keras names them after the layer.
  Value runOption(const Layer &layer, const char *attribute, Value x);
  /// Where such a layer finds its variables.
  Call inside(const Layer &layer, const std::string &attribute);

  void addLoss(Value scalar) { variables.addLoss(scalar); }
  void refuse(const std::string &complaint) { variables.refuse(complaint); }
  /// Has the tensor this rank, the batch included? Refuses it where not.
  bool hasRank(Value x, int64_t rank);
  /// Are all axes dimensions of the tensor, each once? Refuses them where not.
  bool hasAxes(Value x, ArrayRef<int64_t> axes);
  /// The same, and none of them is the batch.
  bool hasSampleAxes(Value x, ArrayRef<int64_t> axes);

private:
  Variables &variables;
  std::string path, scope; ///< of keys and in Keras
  bool trainable;
};

/// The layer's result under a path, with its activity regularizer.
Value callLayer(mlir::OpBuilder &builder, Variables &variables,
                const Layer &layer, const std::string &path,
                const CallInputs &inputs, bool training);

/// (28, 28, 1), of a value without its batch.
std::string sampleText(Value x);
std::string shapeText(ArrayRef<int64_t> shape);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CALL_H
