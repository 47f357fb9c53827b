//===- EinsumDense.h - keras.layers.EinsumDense ------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMDENSE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMDENSE_H

#include "weft/compiler/frontends/keras/layers/ActivationOption.h"
#include "weft/compiler/frontends/keras/layers/LowRank.h"

namespace weft::keras {

/// An equation such as "...ab,bc->...ac", with a letter for each dimension of
/// the dots: ABab,bc->ABac for a tensor of rank 4.
struct EinsumEquation {
  std::string input, kernel, output;
  int64_t elided = 0;    ///< the number of dimensions of "..."
  bool isLeft = false;   ///< whether the dots are on the left
  std::string complaint; ///< the reason why it is invalid, or empty

  EinsumEquation(const std::string &text, int64_t rank);
};

/// activation(einsum(equation, x, kernel) + bias).
class EinsumDense : public Layer {
public:
  std::string equation, biasAxes;
  /// The shape of a sample's result, without the dimensions of "...".
  std::vector<int64_t> outputShape;
  ActivationOption activation{"activation"};
  InitializerPtr kernelInitializer = glorotUniform(), biasInitializer = zeros();
  RegularizerPtr kernelRegularizer, biasRegularizer, outputRegularizer;
  ConstraintPtr kernelConstraint, biasConstraint;
  LowRank lora;

  void options(Options &o) override;
  RegularizerPtr activityRegularizer() const override {
    return outputRegularizer;
  }
  bool castsIntegers() const override { return true; }
  Value call(Call &c, Value x) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMDENSE_H
