//===- Layer.h - a layer of Keras --------------------------------*- C++ -*-===//
//
// A layer is one class in one file, to be read beside Keras' documentation: its
// members are its options with Keras' defaults, and `call` computes its result.
// Variables are asked for where they are used:
//
//   class Dense : public Layer {
//     int64_t units = 0;
//     InitializerPtr kernelInitializer = initializerTable().make("GlorotUniform");
//     void options(Options &o) override {
//       o.integer("units", units, kPositive);
//       o.object("kernel_initializer", kernelInitializer, initializerTable());
//     }
//     Value call(Call &c, Value x) const override {
//       return c.t.matmul(x, c.weight("kernel", {c.t.size(x, -1), units},
//                                     {kernelInitializer}));
//     }
//   };
//
// Shapes and variables follow from `call`: reading a model runs the calls once
// on values that nobody computes (model/GraphRunner.cpp), each step runs them
// again. A layer that has options keeps no other state.
//
// What a layer overrides:
//
//   call(c, x)            one tensor, one result                  Dense
//   callAll(c, inputs)    all that it is called with, one result  Add
//   results(c, inputs)    several results                         LSTM
//   masks(c, inputs)      the masks of its results                Embedding
//
// Masks say which positions of a tensor count (i1, without its last dimensions).
// They follow the tensors as in Keras: `inputs.mask()` is that of what the layer
// is called with, or null; what `masks` returns goes with the results. A layer
// that does not override it drops them; one of Keras' supports_masking returns
// passed(inputs).
//
// Floats come in the type that the layer's policy computes in, as variables do; a
// formula that Keras computes in float32 whatever the policy is begins with
// c.t.wide(x) and ends with c.cast(x).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H

#include "weft/compiler/frontends/keras/regularizers/Regularizer.h"
#include "weft/compiler/frontends/keras/schema/Policy.h"

namespace mlir {
class Value;
} // namespace mlir

namespace weft::keras {

class Call;
struct CallInputs;
/// One for each result; null, or missing at the end: that result has none.
using Masks = std::vector<mlir::Value>;

class Layer : public Configured {
public:
  std::string name;
  bool trainable = true;
  /// Unset in a layer that another one makes: it has that one's.
  std::optional<Policy> policy;

  /// Options of a layer that is an option of another.
  void commonOptions(Options &o) override {
    o.text("name", name);
    o.flag("trainable", trainable);
    o.policy("dtype", policy);
  }
  /// The result for one tensor, whose dimension 0 is the batch.
  virtual mlir::Value call(Call &c, mlir::Value x) const;
  /// The result for all that the layer is called with; the default takes one
  /// tensor.
  virtual mlir::Value callAll(Call &c, const CallInputs &inputs) const;
  /// All results; the default is the one of callAll.
  virtual std::vector<mlir::Value> results(Call &c,
                                           const CallInputs &inputs) const;
  /// The masks of the results.
  virtual Masks masks(Call &c, const CallInputs &inputs) const;

  /// The parameters of Keras' call that are tensors or lists of them, in order,
  /// and keyword arguments that are true or false; a file with others is refused.
  /// CallInputs::values holds the first parameter, the others are found by name.
  virtual std::vector<const char *> tensorArguments() const {
    return {"inputs"};
  }
  virtual std::vector<const char *> flagArguments() const { return {}; }
  /// Does it read all arguments of its calls itself (numbers, texts, structures),
  /// and refuses what it does not know?
  virtual bool readsArguments() const { return false; }
  /// Is it called with a list of tensors?
  virtual bool takesSeveral() const { return false; }
  /// Can it be called with a tensor of i32?
  virtual bool takesIntegers() const { return false; }
  /// Are floats that it is called with converted to the type that it computes
  /// in? Keras: autocast.
  virtual bool castsInputs() const { return true; }
  /// Does a call take the masks off the tensors that it is called with, so that
  /// later layers do not find them? Keras' MultiHeadAttention does.
  virtual bool takesMasksOff() const { return false; }
  /// Is its "dtype" an option of its own, not the policy of what it computes?
  virtual bool hasOwnType() const { return false; }
  /// The regularizer of each call's result; its loss is divided by the batch size.
  virtual RegularizerPtr activityRegularizer() const { return nullptr; }
  /// The name of its group in a saved model, before its number; empty for a
  /// function, which has none.
  virtual std::string savedName() const { return snakeCase(className); }
  /// The attribute of Keras' class that holds the layer inside that has this
  /// name: query_dense for query. Saved models name it so.
  virtual std::string attributeOf(const std::string &inside) const {
    return inside;
  }

protected:
  /// The mask of the first tensor, for the first result.
  static Masks passed(const CallInputs &inputs);
};

using LayerPtr = std::shared_ptr<const Layer>;
const Table<Layer> &layerTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H
