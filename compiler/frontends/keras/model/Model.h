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

#include "weft/base/PortFacts.h"
#include "weft/base/Result.h"
#include "weft/base/config/Argument.h"
#include "weft/compiler/frontends/keras/layers/InputLayer.h"
#include "weft/compiler/frontends/keras/losses/Loss.h"
#include "weft/compiler/frontends/keras/metrics/Metric.h"
#include "weft/compiler/frontends/keras/optimizers/Optimizer.h"
#include "weft/data/initializers/Initializer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::keras {

struct Variable {
  std::string path; ///< d1/kernel, seed_generator/seed_generator_state
  std::vector<int64_t> shape;
  std::string dtype; ///< the dtype of the layer's policy, int32 or uint32
  bool trainable = true;
  InitializerPtr initializer;
  std::optional<int64_t> seed; ///< from the config, or drawn
  std::string layer;           ///< the model's layer: mha of mha/query/kernel
  unsigned owner = 0;          ///< its position among the model's layers
  /// The name by which calls find the variable: the layer's path and the name.
  /// It differs from `path` for layers that are options, for unnamed variables
  /// and for states of random numbers, as Keras names these in other ways.
  std::string key = path;
  RegularizerPtr regularizer = nullptr;
  ConstraintPtr constraint = nullptr;
  /// The axes from which the initializer computes its fans; if both are empty,
  /// the initializer chooses.
  std::vector<int64_t> inputAxes = {}, outputAxes = {};
  /// Whether training changes it without the optimizer, as statistics and
  /// random states.
  bool isUpdated = false;
  bool isUnnamed = false; ///< Keras numbers the names
  /// Whether it is a random state that prediction and evaluation change, too.
  bool isDrawnAlways = false;
  /// Whether it is part of a low-rank adapter, which files do not hold.
  bool isOfAdapter = false;
  /// Whether Keras' training sets it to its gradient.
  bool takesGradient = false;
  /// The weight's adapter, by the paths of its variables.
  std::optional<Adapter> adapter = std::nullopt;

  bool isSeedState() const { return initializer->className == kSeedGenerator; }
};

/// A layer of the model or of a nested model, or a nested model itself.
struct ModelLayer {
  std::string className, name;
  int parent = -1;  ///< the nested model that contains it; -1: none
  std::string path; ///< first part of its variables' paths
  LayerPtr layer;   ///< null for a model
  std::shared_ptr<const InputLayer> input; ///< the layer as InputLayer, or null

  /// Whether it is a nested model, whose nodes have the results of its outputs.
  bool isModel() const { return !layer; }
  bool isInput() const { return input != nullptr; }
};

/// A result of a call. The nodes of one call are adjacent, result 0 first; each
/// has the inputs of the call. Shapes are without the batch.
struct Node {
  unsigned layer = 0;
  unsigned result = 0;
  /// The tensors of the call, positional ones first; for a nested model, the
  /// tensor that is its result.
  std::vector<unsigned> inputs;
  CallArguments arguments;
  /// Tensors whose masks change before the node is computed, and the new masks:
  /// those that the call of a nested model gives to its inputs.
  std::vector<std::pair<unsigned, unsigned>> newMasks = {};
  std::vector<int64_t> shape;
  std::string dtype = "float32";
};

/// The loss of one output; the model's loss is the weighted sum of all.
struct OutputLoss {
  unsigned output; ///< position among the model's outputs
  LossPtr loss;
  std::optional<double> weight = std::nullopt;
};

struct OutputMetric {
  unsigned output;
  MetricPtr metric;
  std::string name;        ///< as shown by Keras: price_mae
  bool isWeighted = false; ///< whether it uses sample weights
};

struct Model {
  std::string name, className;
  std::vector<ModelLayer> layers;
  std::vector<Node> nodes;               ///< producers before consumers
  std::vector<unsigned> inputs, outputs; ///< positions in `nodes`
  /// The names of inputs and outputs: keys of a dict, else names of their
  /// layers, numbered if they repeat.
  std::vector<std::string> inputNames, outputNames;
  bool outputsAreDict = false;
  std::vector<Variable> variables; ///< in the order of model.variables
  /// The variables that are seeded by each number, in the order in which Keras
  /// draws numbers when it reads the file. The list is empty for a number whose
  /// initializer is unused.
  std::vector<std::vector<unsigned>> draws;
  bool isMixedFloat16 = false; ///< its policy, of scaled losses
  bool isFrozen = false;       ///< "trainable" of a Functional is false
  /// The inputs with unknown sizes, which count as ModelOptions::openSize.
  std::vector<std::string> openInputs;
  OptimizerPtr optimizer;
  /// Whether the optimizer is an inner one in the file, which the policy wraps
  /// in a LossScaleOptimizer.
  bool isScaledByPolicy = false;
  std::vector<OutputLoss> losses; ///< in the order of the outputs
  std::vector<OutputMetric> metrics;
  /// The reason why training and evaluation are impossible with the file's
  /// compile_config; empty if they are possible.
  std::string compileRefusal;
  std::string json;          ///< the text of the file, unchanged
  std::string compileConfig; ///< its compile_config with overrides, or {}
  /// The metadata.json of the model's .keras file, or empty, and the minor
  /// version in it (8 for "3.8.0"), on which the places of variables in the
  /// file depend.
  std::string metadata;
  std::optional<unsigned> kerasMinor;
  /// What Keras 3 computes in another way than the Keras that wrote the file.
  std::vector<std::string> warnings;

  const ModelLayer &layerOf(unsigned node) const {
    return layers[nodes[node].layer];
  }
  const std::string &outputName(unsigned output) const {
    return outputNames[output];
  }
  /// The shape of a sample of the output.
  const std::vector<int64_t> &outputShape(unsigned output) const {
    return nodes[outputs[output]].shape;
  }
  /// The loss of an output, or null.
  const Loss *lossOf(unsigned output) const;
  /// Whether the output has a loss or a metric, so that training takes labels
  /// for it.
  bool hasLabel(unsigned output) const;
  /// Whether the output's labels are class numbers (i32), not values like the
  /// predictions.
  bool takesClassNumbers(unsigned output) const;
  std::vector<int64_t> labelShape(unsigned output) const;
  /// The positions of the variables that training changes by gradients, and the
  /// properties of these variables that the optimizer needs.
  std::vector<unsigned> trained() const;
  std::vector<WeightFacts> trainedWeights() const;
  /// The optimizer's variables in Keras' order, with distinct paths; their
  /// `weight` is a position in trained(). Empty without an optimizer.
  std::vector<OptimizerVariable> optimizerVariables() const;
};

struct ModelOptions {
  /// What an input's unknown size counts as, if neither `inputShapes` nor the
  /// data have it; none: such a model is refused.
  std::optional<int64_t> openSize = {};
  /// Shapes of a sample of each input, by name; "" is for other inputs. They
  /// replace unknown sizes, and are the inputs of a Sequential that is not
  /// built.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// Returns the shapes of the data; called only if sizes are unknown
  /// otherwise.
  std::function<std::map<std::string, std::vector<int64_t>>()> shapesOfData;
  /// Names or JSON that complete or replace compile_config.
  std::optional<std::string> optimizer, loss;
  std::optional<double> learningRate;
  std::optional<std::vector<std::string>> metrics;
};

/// Reads a model.json of any Keras 3, with or without compile_config, or of
/// Keras 2. `Model::json` has it in the form of Keras 3.
Result<Model> readModel(std::string_view text,
                        const ModelOptions &options = {});

/// The JSON in the attributes of an .h5 file of Keras 1 to 3.
struct LegacyFile {
  std::string config;   ///< model_config
  std::string training; ///< training_config; empty without one
  std::string version;  ///< keras_version: 2.15.0
};
Result<Model> readLegacyModel(const LegacyFile &file,
                              const ModelOptions &options = {});

/// Sets every seed that the file does not give to the number that Keras would
/// draw after set_random_seed(seed).
void drawSeeds(Model &model, uint64_t seed);

/// The facts from which the training loop computes the variable's initial
/// value: its initializer and seed; and whether it is a statistic.
PortFacts variableFacts(const Variable &variable);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_MODEL_H
