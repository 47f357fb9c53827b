//===- Layer.h - a layer of Keras --------------------------------*- C++ -*-===//
//
// A layer is one class, to be read beside Keras' documentation: its members are
// its options with Keras' defaults, and `call` computes its result. Variables
// are requested where they are used:
//
//   class Dense : public Layer {
//     int64_t units = 0;
//     InitializerPtr kernelInitializer = initializerTable().make("GlorotUniform");
//     void options(Options &o) override {
//       o.integer("units", units, kPositive);
//       o.object("kernel_initializer", kernelInitializer, initializerTable());
//     }
//     Tensor call(Call &c, Tensor x) const override {
//       return c.t.matmul(x, c.weight("kernel", {c.t.size(x, -1), units},
//                                     {kernelInitializer}));
//     }
//   };
//
// Shapes and variables follow from `call`: reading a model runs the calls once
// on values that are never computed (model/GraphRunner.cpp), each step runs
// them again. A layer object has no state except its options.
//
// A layer overrides one of the first three, and perhaps the last:
//
//   call(c, x)            one tensor, one result                  Dense
//   callAll(c, inputs)    all inputs, one result                   Add
//   results(c, inputs)    several results                         LSTM
//   masks(c, inputs)      the masks of its results                Embedding
//
// Masks mark the valid positions of a tensor (i1, without its last dimensions).
// They follow the tensors as in Keras: `inputs.mask()` is the input's, or null;
// `masks` returns those of the results. A layer that does not override it drops
// masks; layers with Keras' supports_masking return passed(inputs).
//
// Floats and weights are given in the type in which the layer's policy
// computes, and states in the type of its variables; a formula that Keras
// always computes in float32 begins with c.t.wide(x) and ends with c.cast(x).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H

#include "weft/base/config/Policy.h"
#include "weft/compiler/frontends/keras/regularizers/Regularizer.h"

namespace weft::formulas {
class Tensor;
} // namespace weft::formulas

namespace weft::keras {

using formulas::Tensor;
class Call;
struct CallInputs;
/// Masks, one for each result. A null or missing entry means no mask.
using Masks = std::vector<Tensor>;

/// The variables of a weight's low-rank adapter: saved files hold the weight
/// plus scale * a . b in its place.
struct Adapter {
  std::string a, b;
  double scale = 1;
};

class Layer : public Configured {
public:
  std::string name;
  bool trainable = true;
  /// The layer's policy. It is unset for a layer that another layer makes,
  /// which computes with the policy of that layer.
  std::optional<Policy> policy;

  /// Reads the options that every layer has.
  void commonOptions(Options &o) override {
    o.text("name", name);
    o.flag("trainable", trainable);
    if (!hasOwnType())
      o.policy("dtype", policy);
  }
  /// The result for one tensor, whose dimension 0 is the batch.
  virtual Tensor call(Call &c, Tensor x) const;
  /// The result for all inputs; the default takes one tensor.
  virtual Tensor callAll(Call &c, const CallInputs &inputs) const;
  /// All results; the default is that of callAll.
  virtual std::vector<Tensor> results(Call &c, const CallInputs &inputs) const;
  /// The masks of the results.
  virtual Masks masks(Call &c, const CallInputs &inputs) const;

  /// The parameters of Keras' call that are tensors or lists of tensors, in
  /// order. CallInputs::values holds the first; the others are found by name.
  /// flagArguments() lists those that are true or false; all others are
  /// refused.
  virtual std::vector<const char *> tensorArguments() const {
    return {"inputs"};
  }
  virtual std::vector<const char *> flagArguments() const { return {}; }
  /// Whether it reads all arguments of its calls itself (numbers, texts,
  /// structures), and refuses unknown ones.
  virtual bool readsArguments() const { return false; }
  /// Whether it is called with a list of tensors.
  virtual bool takesSeveral() const { return false; }
  /// Whether it can be called with a tensor of integers.
  virtual bool takesIntegers() const { return false; }
  /// Whether integers among the inputs are converted to the layer's compute
  /// type, as Keras does for products with weights.
  virtual bool castsIntegers() const { return false; }
  /// Whether floats among the inputs are converted to the layer's compute type
  /// (Keras' autocast).
  virtual bool castsInputs() const { return true; }
  /// Whether a call removes the masks from its input tensors, so that later
  /// layers do not find them, as Keras' MultiHeadAttention does.
  virtual bool takesMasksOff() const { return false; }
  /// Whether its weights can be quantized in the mode of a policy, such as
  /// int8.
  virtual bool quantizesBy(const std::string &) const { return false; }
  /// Whether "dtype" is an option of the layer itself, not the policy of its
  /// computation.
  virtual bool hasOwnType() const { return false; }
  /// The regularizer of each call's result; its penalty is divided by the batch
  /// size.
  virtual RegularizerPtr activityRegularizer() const { return nullptr; }
  /// The name of the layer's group in a saved model, without the number; empty
  /// for a function, which has no group.
  virtual std::string savedName() const { return snakeCase(className); }
  /// The attribute of Keras' class that holds the inner layer of this name,
  /// such as query_dense for query. Saved models use it.
  virtual std::string attributeOf(const std::string &inside) const {
    return inside;
  }
  /// Whether Keras saves the inner layer's weight of this name once more, among
  /// this layer's own variables.
  virtual bool alsoSaves(const std::string &) const { return false; }

protected:
  /// The mask of the first tensor, for the first result.
  static Masks passed(const CallInputs &inputs);
};

using LayerPtr = std::shared_ptr<const Layer>;
const Table<Layer> &layerTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H
