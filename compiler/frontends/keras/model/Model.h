//===- Model.h - a Keras model as plain values ------------------*- C++ -*-===//
//
// The content of model.to_json(), checked and typed; no IR. A worked example:
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
#include <functional>
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
  unsigned owner = 0;          ///< its position among the model's layers
  /// The name that calls use: the layer's path and the name. It equals `path`
  /// except for states of random numbers, which have other names in Keras.
  std::string key = path;
  RegularizerPtr regularizer = nullptr;
  ConstraintPtr constraint = nullptr;
  /// Axes from which the initializer computes its fans; both empty: its own
  /// choice.
  std::vector<int64_t> inputAxes = {}, outputAxes = {};
  /// Whether training changes it, but not the optimizer: a statistic, a random
  /// state.
  bool isUpdated = false;
  bool isUnnamed = false; ///< Keras numbers it
  /// Whether it is a random state that prediction and evaluation change, too.
  bool isDrawnAlways = false;

  bool isSeedState() const { return initializer->className == kSeedGenerator; }
};

/// A layer, or a model that is a layer of another.
struct ModelLayer {
  std::string className, name;
  int parent = -1;  ///< the model whose layer it is
  std::string path; ///< first part of its variables' paths
  LayerPtr layer;   ///< null for a model
  std::shared_ptr<const InputLayer> input; ///< the input layer, or null

  /// Whether it is a model; its node passes on the result of its last layer.
  bool isModel() const { return !layer; }
  bool isInput() const { return input != nullptr; }
};

/// A result of a call. The nodes of one call are adjacent, result 0 first; each
/// has the inputs of the call. Shapes are those of one sample.
struct Node {
  unsigned layer = 0;
  unsigned result = 0;
  /// The tensors of the call, positional ones first; for a model, the tensor
  /// that it passes on.
  std::vector<unsigned> inputs;
  CallArguments arguments;
  std::vector<int64_t> shape;
  std::string dtype = "float32";
};

/// The loss of one output; the model's is the weighted sum of all.
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
  /// The names of inputs and outputs: keys of a dict, else those of their
  /// layers.
  std::vector<std::string> inputNames, outputNames;
  bool outputsAreDict = false;
  std::vector<Variable> variables; ///< in the order of model.variables
  /// For each number that Keras draws when it reads the file: the variables
  /// that it seeds, or none if its initializer is never used.
  std::vector<std::vector<unsigned>> draws;
  bool isMixedFloat16 = false; ///< its policy: Keras then scales losses
  bool isFrozen = false;       ///< "trainable" of a Functional is false
  OptimizerPtr optimizer;
  /// Whether the file contains the inner optimizer only, which the policy wraps
  /// in another.
  bool isScaledByPolicy = false;
  std::vector<OutputLoss> losses; ///< in the order of the outputs
  std::vector<OutputMetric> metrics;
  /// The reason why training and evaluation are impossible with the file's
  /// compile_config; empty if they are possible.
  std::string compileRefusal;
  std::string json;          ///< the file's text, unchanged
  std::string compileConfig; ///< its compile_config with overrides, or {}
  /// metadata.json of the .keras file that it is from, empty for none, and the 8
  /// of the "3.8.0" there: where that Keras looks for variables.
  std::string metadata;
  std::optional<unsigned> kerasMinor;

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
  /// The loss of an output, or null.
  const Loss *lossOf(unsigned output) const;
  /// Whether the output has a loss or a metric, so that training takes labels
  /// for it.
  bool hasLabel(unsigned output) const;
  /// Whether its labels are numbers of classes (i32), not values like the
  /// predictions.
  bool takesClassNumbers(unsigned output) const;
  std::vector<int64_t> labelShape(unsigned output) const;
  /// The positions of the variables that training changes by gradients, and
  /// their facts for the optimizer.
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
  /// Those of the data, for what `inputShapes` leaves unknown; called only then.
  std::function<std::map<std::string, std::vector<int64_t>>()> shapesOfData;
  /// Names or JSON that complete or replace compile_config.
  std::optional<std::string> optimizer, loss;
  std::optional<double> learningRate;
  std::optional<std::vector<std::string>> metrics;
};

/// Reads a model.json of any Keras 3, with or without compile_config.
Result<Model> readModel(std::string_view text,
                        const ModelOptions &options = {});

/// Sets every seed to the number that Keras would draw after
/// set_random_seed(seed).
void drawSeeds(Model &model, uint64_t seed);

/// The metadata from which the training loop makes the variable's first value:
/// {"initializer": {...}, "seed": N, "trainable": true}.
std::string variableMetadata(const Variable &variable);
/// The metadata of an optimizer's variable whose elements are all `first`.
std::string constantMetadata(double first);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_MODEL_H
