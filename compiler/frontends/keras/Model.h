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
//   draws      {0, 2}: one entry for each number Keras draws when it reads the
//              file: for d1/kernel, then for d2/kernel (zeros need none)
//
// drawSeeds(model, 1337) fills the seeds: d1/kernel gets 663307073, d2/kernel
// 993786079, as after keras.utils.set_random_seed(1337).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_H

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

enum class LayerKind {
  Input,
  Flatten,
  Dense,
  Dropout,
  Activation,
  ReLU,
  Softmax,
  Rescaling,
  Reshape,
  Nested ///< a model as a layer: its node passes on what its last layer gives
};

/// How a variable's first value is made. `config` is the initializer's own
/// JSON object. SeedGenerator stands for the state {seed, 0} of a layer that
/// draws random numbers.
struct Initializer {
  std::string className;
  std::string config = "{}";
  std::optional<int64_t> seed;
};

struct Variable {
  std::string path; ///< d1/kernel, seed_generator/seed_generator_state
  std::vector<int64_t> shape;
  std::string dtype; ///< float32 or uint32
  bool trainable = true;
  Initializer initializer;
  std::string layer;
};

/// Only the fields of the layer's kind have a meaning.
struct Layer {
  LayerKind kind = LayerKind::Input;
  std::string className, name;
  int parent = -1; ///< the Nested layer whose layer it is
  bool trainable = true;
  std::string activation = "linear"; ///< Dense, Activation
  int64_t units = 0;
  int kernel = -1, bias = -1;                    ///< variables of Dense
  double rate = 0;                               ///< Dropout
  int seedState = -1;                            ///< variable of Dropout
  std::vector<double> scale = {1}, offset = {0}; ///< Rescaling
  std::vector<int64_t> targetShape;              ///< Reshape
  double negativeSlope = 0, threshold = 0;       ///< ReLU
  std::optional<double> maxValue;
  std::vector<int64_t> axes = {-1}; ///< Softmax
};

/// One call of a layer. Shapes are those of one sample.
struct Node {
  unsigned layer = 0;
  std::vector<unsigned> inputs;
  std::vector<int64_t> shape;
  std::string dtype = "float32";
};

enum class OptimizerKind { SGD, RMSprop, Adam };
struct Optimizer {
  OptimizerKind kind = OptimizerKind::RMSprop;
  std::string name; ///< first part of its variables' paths: rm_sprop
  double learningRate = 0.001, epsilon = 1e-7;
  double momentum = 0, rho = 0.9, beta1 = 0.9, beta2 = 0.999;
  bool nesterov = false, centered = false, amsgrad = false;
};

/// One variable of the optimizer; `weight` is -1 for iteration and rate.
struct OptimizerVariable {
  std::string path, slot;
  int weight = -1;
};

enum class LossKind {
  MeanSquaredError,
  MeanAbsoluteError,
  BinaryCrossentropy,
  CategoricalCrossentropy,
  SparseCategoricalCrossentropy
};
enum class Reduction { Mean, MeanWithSampleWeight, Sum };
struct Loss {
  LossKind kind = LossKind::MeanSquaredError;
  Reduction reduction = Reduction::Mean;
  bool fromLogits = false;
  double labelSmoothing = 0;
};

enum class MetricKind {
  BinaryAccuracy,
  CategoricalAccuracy,
  SparseCategoricalAccuracy,
  MeanSquaredError,
  MeanAbsoluteError
};
struct Metric {
  MetricKind kind;
  std::string name;
  double threshold = 0.5; ///< BinaryAccuracy
};

struct Model {
  std::string name, className;
  std::vector<Layer> layers;
  std::vector<Node> nodes;               ///< producers before consumers
  std::vector<unsigned> inputs, outputs; ///< nodes
  std::vector<Variable> variables;       ///< in the order of model.variables
  /// For each number drawn when Keras reads the file: the variable that it
  /// seeds, or -1 where the initializer is never used.
  std::vector<int> draws;
  std::optional<Optimizer> optimizer;
  std::optional<Loss> loss;
  std::vector<Metric> metrics;
  std::string json;          ///< the file's text, unchanged
  std::string compileConfig; ///< its compile_config with overrides, or {}

  const Layer &layerOf(unsigned node) const {
    return layers[nodes[node].layer];
  }
  /// Paths and weights of the optimizer's variables, in Keras' order; empty
  /// without an optimizer.
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

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_H
