//===- Model.h - a Keras model as plain values ------------------*- C++ -*-===//
//
// What model.to_json() says, checked and typed; no IR. A worked example:
//
//   Input(28,28) -> Flatten -> Dense(128, relu, name="d1") -> Dense(10, "d2")
//   compile(Adam(0.01), SparseCategoricalCrossentropy(from_logits=True))
//
//   layers     input_layer, flatten, d1, d2
//   nodes      0: input_layer [28,28]   1: flatten(0) [784]
//              2: d1(1) [128]           3: d2(2) [10]
//   variables  d1/kernel [784,128], d1/bias [128], d2/kernel, d2/bias
//   draws      {{0}, {2}}: one entry for each number Keras draws when it reads
//              the file: for d1/kernel, then for d2/kernel (zeros need none)
//
// drawSeeds(model, 1337) fills the seeds: d1/kernel gets 663307073, d2/kernel
// 993786079, as after keras.utils.set_random_seed(1337).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_MODEL_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_MODEL_H

#include "weft/compiler/frontends/keras/initializers/Initializer.h"
#include "weft/compiler/frontends/keras/layers/InputLayer.h"
#include "weft/compiler/frontends/keras/losses/Loss.h"
#include "weft/compiler/frontends/keras/metrics/Metric.h"
#include "weft/compiler/frontends/keras/optimizers/Optimizer.h"
#include "weft/compiler/frontends/keras/schema/Argument.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::keras {

/// A value, or the reason why there is none ("layer "conv2d": ...").
template <typename T> struct Result {
  std::optional<T> value;
  std::string error;

  static Result failure(std::string reason) {
    return {std::nullopt, std::move(reason)};
  }
  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  T *operator->() { return &*value; }
};

struct Variable {
  std::string path; ///< d1/kernel, seed_generator/seed_generator_state
  std::vector<int64_t> shape;
  std::string dtype; ///< of its policy, int32 or uint32
  bool trainable = true;
  InitializerPtr initializer;
  std::optional<int64_t> seed; ///< its own, or drawn
  std::string layer;           ///< the model's layer: mha of mha/query/kernel
  /// The name that calls use: path of the layer and name. It is the path but for
  /// states of random numbers, which Keras names apart.
  std::string key = path;
  RegularizerPtr regularizer = nullptr;
  ConstraintPtr constraint = nullptr;
  /// Axes that the initializer takes for its fans; both empty: its own choice.
  std::vector<int64_t> inputAxes = {}, outputAxes = {};
  /// Does training change it beside the optimizer: a statistic, a random state?
  bool isUpdated = false;
  bool isUnnamed = false; ///< Keras numbers it
  /// A random state that prediction and evaluation change, too.
  bool isDrawnAlways = false;

  bool isSeedState() const { return initializer->className == kSeedGenerator; }
};

/// A layer, or a model that is one.
struct ModelLayer {
  std::string className, name;
  int parent = -1;  ///< the model whose layer it is
  std::string path; ///< first part of its variables' paths
  LayerPtr layer;   ///< null for a model
  std::shared_ptr<const InputLayer> input; ///< where it is one

  /// Its node passes on what its last layer gives.
  bool isModel() const { return !layer; }
  bool isInput() const { return input != nullptr; }
};

/// A result of a call. The nodes of one call stand together, result 0 first; all
/// of them tell what the layer is called with. Shapes are those of one sample.
struct Node {
  unsigned layer = 0;
  unsigned result = 0;
  /// The tensors of the call, positional ones first; what a model passes on.
  std::vector<unsigned> inputs;
  CallArguments arguments;
  std::vector<int64_t> shape;
  std::string dtype = "float32";
};

/// The loss of one output; the model's is the sum of all, times their weights.
struct OutputLoss {
  unsigned output; ///< position among the model's outputs
  LossPtr loss;
  std::optional<double> weight = std::nullopt;
};

struct OutputMetric {
  unsigned output;
  MetricPtr metric;
  std::string name;        ///< that Keras shows: price_mae, weighted_mae
  bool isWeighted = false; ///< by the weights of samples
};

struct Model {
  std::string name, className;
  std::vector<ModelLayer> layers;
  std::vector<Node> nodes;               ///< producers before consumers
  std::vector<unsigned> inputs, outputs; ///< nodes
  /// Their names: keys of a dict, else those of their layers.
  std::vector<std::string> inputNames, outputNames;
  std::vector<Variable> variables; ///< in the order of model.variables
  /// For each number drawn when Keras reads the file: the variables that it
  /// seeds, none where the initializer is never used.
  std::vector<std::vector<unsigned>> draws;
  bool isMixedFloat16 = false; ///< its policy: Keras then scales losses
  OptimizerPtr optimizer;
  /// Does the file have the optimizer inside, which the policy puts another
  /// around?
  bool isScaledByPolicy = false;
  std::vector<OutputLoss> losses; ///< in the order of the outputs
  std::vector<OutputMetric> metrics;
  /// The reason why the file's compile_config cannot be trained or evaluated with; empty
  /// where it can.
  std::string compileRefusal;
  std::string json;          ///< the file's text, unchanged
  std::string compileConfig; ///< its compile_config with overrides, or {}

  const ModelLayer &layerOf(unsigned node) const {
    return layers[nodes[node].layer];
  }
  const std::string &outputName(unsigned output) const {
    return outputNames[output];
  }
  /// The shape of one sample.
  const std::vector<int64_t> &outputShape(unsigned output) const {
    return nodes[outputs[output]].shape;
  }
  /// Null where the output has none.
  const Loss *lossOf(unsigned output) const;
  /// Has the output a loss or a metric? Training takes labels for it.
  bool hasLabel(unsigned output) const;
  /// Are its labels numbers of classes (i32), or values like the predictions?
  bool takesClassNumbers(unsigned output) const;
  std::vector<int64_t> labelShape(unsigned output) const;
  /// The variables that training changes by gradients: positions, and what the
  /// optimizer knows of them.
  std::vector<unsigned> trained() const;
  std::vector<WeightFacts> trainedWeights() const;
  /// The optimizer's variables in Keras' order, each with a path of its own; a
  /// weight is a position in `trained`. Empty without an optimizer.
  std::vector<OptimizerVariable> optimizerVariables() const;
};

struct ModelOptions {
  /// Sample shapes of inputs (without the batch), by name; they fix unknown
  /// dimensions and inputs of an unbuilt Sequential ("" is the only input).
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// Names or JSON that complete or replace compile_config.
  std::optional<std::string> optimizer, loss;
  std::optional<double> learningRate;
  std::optional<std::vector<std::string>> metrics;
};

/// Reads a model.json of any Keras 3, with or without compile_config.
Result<Model> readModel(std::string_view text,
                        const ModelOptions &options = {});

/// Gives every seed that Keras would draw after set_random_seed(seed).
void drawSeeds(Model &model, uint64_t seed);

/// {"initializer": {...}, "seed": N, "trainable": true}: what the training
/// loop needs to make the variable's first value.
std::string variableMetadata(const Variable &variable);
/// The same of an optimizer's variable whose elements are all `first`.
std::string constantMetadata(double first);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_MODEL_H
