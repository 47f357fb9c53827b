//===- InputLayer.h - keras.layers.InputLayer --------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_INPUTLAYER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_INPUTLAYER_H

#include "weft/compiler/frontends/keras/layers/Layer.h"

namespace weft::keras {

/// The input of a model; it computes nothing.
class InputLayer : public Layer {
public:
  std::vector<int64_t> batchShape; ///< unknown sizes are -1
  std::string dtype = "float32";

  /// The shape of one sample; unknown sizes are -1.
  std::vector<int64_t> sampleShape() const {
    return {batchShape.begin() + !batchShape.empty(), batchShape.end()};
  }
  Facts facts() const override {
    return {.hasOwnType = true}; // the type of its data
  }
  void options(Options &o) override {
    o.shape("batch_shape", batchShape);
    o.check(!batchShape.empty(), "an input needs a \"batch_shape\"");
    for (int64_t size : sampleShape())
      o.check(size > 0 || size == -1,
              "a dimension of size " + std::to_string(size) +
                  " is not supported; sizes are positive or null");
    o.choice("dtype", dtype,
             {"float32", "float64", "float16", "bfloat16", "int32", "int64",
              "int16", "int8", "uint32", "uint64", "uint16", "uint8", "bool"});
    o.refused("sparse", "sparse tensors", "false");
    o.refused("ragged", "ragged tensors", "false");
    o.refused("optional", "inputs that may be missing", "false");
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_INPUTLAYER_H
