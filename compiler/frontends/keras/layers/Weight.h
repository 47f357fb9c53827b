//===- Weight.h - a weight of a layer, and its options -----------*- C++ -*-===//
//
// Most weights of Keras have three options. A layer has one member for each
// weight, and reads the options of all weights together, in Keras' order:
// initializers draw their seeds in this order.
//
//   class Dense : public Layer {
//     Weight kernel{glorotUniform()}, bias{zeros()};
//     RegularizerPtr outputRegularizer;
//
//     void options(Options &o) override {
//       weightOptions(o, {{"kernel", kernel}, {"bias", bias}},
//                     &outputRegularizer);
//     }
//   };
//
// reads kernel_initializer, bias_initializer, kernel_regularizer,
// bias_regularizer, activity_regularizer, kernel_constraint and
// bias_constraint. A call requests the weight: c.weight("bias", {units}, bias).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WEIGHT_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WEIGHT_H

#include "weft/compiler/frontends/keras/layers/Layer.h"
#include "weft/data/initializers/Initializer.h"

namespace weft::keras {

/// The initial value and other properties of a weight.
struct Weight {
  InitializerPtr initializer;
  RegularizerPtr regularizer = nullptr;
  ConstraintPtr constraint = nullptr;
  /// The axes whose sizes are multiplied for the initializer's fans. If both
  /// lists are empty, fans are those of a matrix product or convolution.
  std::vector<int64_t> inputAxes = {}, outputAxes = {};
  /// Whether Keras gives the weight no name: its path then ends in variable,
  /// variable_1, ..., by its number in the model.
  bool isUnnamed = false;
  /// Whether the value keeps the variable's type, as Keras' autocast=False
  /// does.
  bool keepsType = false;
  /// Whether the optimizer leaves it as it is, though the layer trains.
  bool isFrozen = false;
  /// The type of the variable; empty: that of the layer's policy.
  std::string dtype = "";
  /// Whether Keras' training sets it to its gradient, which importing a train
  /// step refuses.
  bool takesGradient = false;
  /// Whether it is part of an adapter, which is float32 and in no file.
  bool isOfAdapter = false;
  std::optional<Adapter> adapter = std::nullopt; ///< names in the layer
};

/// A weight and the first part of its options' names.
struct NamedWeight {
  const char *name;
  Weight &weight;
};
using NamedWeights = std::initializer_list<NamedWeight>;

void initializerOptions(Options &o, NamedWeights weights);
void regularizerOptions(Options &o, NamedWeights weights);
void constraintOptions(Options &o, NamedWeights weights);
/// All of them; `activity` is the option activity_regularizer, or null for a
/// layer that has none.
void weightOptions(Options &o, NamedWeights weights,
                   RegularizerPtr *activity = nullptr);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WEIGHT_H
