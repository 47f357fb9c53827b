//===- EinsumDense.h - keras.layers.EinsumDense ------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMDENSE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMDENSE_H

#include "weft/compiler/frontends/keras/layers/ActivationOption.h"
#include "weft/compiler/frontends/keras/layers/LowRank.h"
#include "weft/compiler/frontends/keras/layers/QuantizedWeights.h"

namespace weft::keras {

/// activation(einsum(equation, x, kernel) + bias).
class EinsumDense : public Layer {
public:
  std::string equation, biasAxes;
  /// The shape of a sample's result, without the dimensions of "...".
  std::vector<int64_t> outputShape;
  ActivationOption activation{"activation"};
  Weight kernel{glorotUniform()}, bias{zeros()};
  RegularizerPtr outputRegularizer;
  LowRank lora;
  QuantizationConfigPtr quantization;

  void options(Options &o) override;
  Facts facts() const override {
    return {.castsIntegers = true,
            .quantizedBy = {"int8", "int4", "float8", "gptq", "awq"},
            .activityRegularizer = outputRegularizer};
  }
  Tensor call(Call &c, Tensor x) const override;

private:
  /// The shape of the result for x; refuses an equation that does not fit.
  std::optional<std::vector<int64_t>> shapeOf(Call &c, const EinsumEquation &e,
                                              Tensor x) const;
  Tensor product(Call &c, const EinsumEquation &e, Tensor x,
                 llvm::ArrayRef<int64_t> full,
                 llvm::function_ref<void()> addBias) const;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMDENSE_H
