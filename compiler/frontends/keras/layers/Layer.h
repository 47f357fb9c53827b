//===- Layer.h - a layer of Keras --------------------------------*- C++ -*-===//
//
// A layer is one class, to be read beside Keras' documentation: its members are
// its options with Keras' defaults, and `call` computes its result. Variables
// are requested where they are used:
//
//   class Dense : public Layer {
//     int64_t units = 0;
//     Weight kernel{glorotUniform()};
//     void options(Options &o) override {
//       o.integer("units", units, kPositive);
//       weightOptions(o, {{"kernel", kernel}});
//     }
//     Tensor call(Call &c, Tensor x) const override {
//       return c.t.matmul(x, c.weight("kernel", {c.t.size(x, -1), units},
//                                     kernel));
//     }
//   };
//
// Shapes and variables follow from `call`: reading a model runs the calls for
// two batches, on values that are never computed (model/GraphRunner.cpp), each
// step runs them again. A layer object has no state except its options.
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
// masks, or passes the first on if its facts say so:
//
//   Facts facts() const override {
//     return {.castsIntegers = true, .passesMask = true};
//   }
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

#include <functional>

namespace weft::formulas {
class Tensor;
} // namespace weft::formulas

namespace weft::keras {

using formulas::Tensor;
class Call;
struct CallInputs;
/// Masks, one for each result. A null or missing entry means no mask.
using Masks = std::vector<Tensor>;

/// The scales of a weight of integers. Element (i, j, ...) of a weight that
/// would have this shape has scale i * strides[0] + j * strides[1] + ...; an
/// index along `groupDim` is that of its group of `group` elements.
struct IntegerForm {
  std::string scale, zero; ///< variables; `zero` may be empty
  int64_t bits = 8;        ///< 4: two elements of the last dimension in a byte
  std::vector<int64_t> shape, strides;
  int64_t groupDim = 0, group = 1;
};

/// The variables of a weight's low-rank adapter: saved files hold the weight
/// plus scale * a . b in its place, quantized again if it has integers.
struct Adapter {
  std::string a, b;
  double scale = 1;
  std::optional<IntegerForm> integers = std::nullopt;
};

/// What others must know of a layer, besides its call.
struct Facts {
  /// The parameters of Keras' call that are tensors or lists of tensors, in
  /// order. CallInputs::values holds the first; the others are found by name.
  std::vector<const char *> tensors = {"inputs"};
  /// The parameters that are true or false. All others are refused.
  std::vector<const char *> flags = {};
  /// It reads all arguments of its calls itself (numbers, texts, structures),
  /// and refuses unknown ones.
  bool readsArguments = false;
  /// It is called with a list of tensors.
  bool takesSeveral = false;
  /// It can be called with a tensor of integers.
  bool takesIntegers = false;
  /// Integers among the inputs are converted to the layer's compute type, as
  /// Keras does for products with weights.
  bool castsIntegers = false;
  /// Floats among the inputs are converted to the layer's compute type (Keras'
  /// autocast).
  bool castsInputs = true;
  /// The mask of the first tensor is that of the first result (Keras'
  /// supports_masking).
  bool passesMask = false;
  /// A call removes the masks from its input tensors, so that later layers do
  /// not find them, as Keras' MultiHeadAttention does.
  bool takesMasksOff = false;
  /// "dtype" is an option of the layer itself, not the policy of its
  /// computation.
  bool hasOwnType = false;
  /// The modes of policies that quantize its weights, such as int8.
  std::vector<std::string> quantizedBy = {};
  /// The regularizer of each call's result; its penalty is divided by the batch
  /// size.
  RegularizerPtr activityRegularizer = nullptr;
  /// The name of the layer's group in a saved model, unless it is that of the
  /// class.
  std::optional<std::string> savedName = std::nullopt;
  /// The attribute of Keras' class that holds the inner layer of this name,
  /// such as query_dense for query, unless it has the name. Saved models use
  /// it.
  std::function<std::string(const std::string &inside)> attributeOf = nullptr;
  /// The weights of the inner layer that Keras saves once more, among this
  /// layer's own variables.
  std::vector<std::string> alsoSaved = {};
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
    if (!facts().hasOwnType)
      o.policy("dtype", policy);
  }
  /// The result for one tensor, whose dimension 0 is the batch.
  virtual Tensor call(Call &c, Tensor x) const;
  /// The result for all inputs; the default takes one tensor.
  virtual Tensor callAll(Call &c, const CallInputs &inputs) const;
  /// All results; the default is that of callAll.
  virtual std::vector<Tensor> results(Call &c, const CallInputs &inputs) const;
  /// The masks of the results; the default is that of the facts.
  virtual Masks masks(Call &c, const CallInputs &inputs) const;

  /// What callers, readers and writers of files know of the layer.
  virtual Facts facts() const { return {}; }

  /// The name of the layer's group in a saved model, without the number; empty
  /// for a function, which has no group.
  std::string savedName() const {
    return facts().savedName.value_or(snakeCase(className));
  }
  /// The path in a saved model of what has this path inside the layer.
  std::string savedPath(const std::string &inside) const {
    auto attributeOf = facts().attributeOf;
    return attributeOf ? attributeOf(inside) : inside;
  }
};

using LayerPtr = std::shared_ptr<const Layer>;
const Table<Layer> &layerTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H
