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
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H

#include "weft/compiler/frontends/keras/regularizers/Regularizer.h"

namespace mlir {
class Value;
} // namespace mlir

namespace weft::keras {

class Call;
struct CallInputs;

class Layer : public Configured {
public:
  std::string name;
  bool trainable = true;

  /// Of a layer that is an option of another.
  void commonOptions(Options &o) override {
    o.text("name", name);
    o.flag("trainable", trainable);
    o.policy("dtype");
  }
  /// The result for one tensor, whose dimension 0 is the batch.
  virtual mlir::Value call(Call &c, mlir::Value x) const;
  /// The result for all that the layer is called with; the default takes one
  /// tensor.
  virtual mlir::Value callAll(Call &c, const CallInputs &inputs) const;

  /// Keyword arguments of a call that are tensors, and those that are true or
  /// false; a file with others is refused.
  virtual std::vector<const char *> tensorArguments() const { return {}; }
  virtual std::vector<const char *> flagArguments() const { return {}; }
  /// Can it be called with a tensor of i32?
  virtual bool takesIntegers() const { return false; }
  /// A penalty of what each call gives, divided by the batch size.
  virtual RegularizerPtr activityRegularizer() const { return nullptr; }
  /// The name of its group in a saved model, before its number.
  virtual std::string savedName() const { return snakeCase(className); }
  /// The attribute of Keras' class that holds the layer inside that has this
  /// name: query_dense for query. Saved models name it so.
  virtual std::string attributeOf(const std::string &inside) const {
    return inside;
  }
};

using LayerPtr = std::shared_ptr<const Layer>;
const Table<Layer> &layerTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LAYER_H
