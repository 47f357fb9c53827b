//===- Dense.h - keras.layers.Dense ------------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H

#include "weft/compiler/frontends/keras/layers/ActivationOption.h"
#include "weft/compiler/frontends/keras/layers/LowRank.h"
#include "weft/compiler/frontends/keras/layers/QuantizedWeights.h"

namespace weft::keras {

/// y = activation(x @ kernel + bias), over the last dimension.
class Dense : public Layer {
  int64_t units = 0;
  ActivationOption activation{"activation"};
  bool useBias = true;
  InitializerPtr kernelInitializer = glorotUniform(), biasInitializer = zeros();
  RegularizerPtr kernelRegularizer, biasRegularizer, outputRegularizer;
  ConstraintPtr kernelConstraint, biasConstraint;
  LowRank lora;
  QuantizationConfigPtr quantization;

  void options(Options &o) override {
    o.integer("units", units, kPositive);
    activation.read(o);
    o.flag("use_bias", useBias);
    o.object("kernel_initializer", kernelInitializer, initializerTable());
    o.object("bias_initializer", biasInitializer, initializerTable());
    o.object("kernel_regularizer", kernelRegularizer, regularizerTable());
    o.object("bias_regularizer", biasRegularizer, regularizerTable());
    o.object("activity_regularizer", outputRegularizer, regularizerTable());
    o.object("kernel_constraint", kernelConstraint, constraintTable());
    o.object("bias_constraint", biasConstraint, constraintTable());
    lora.read(o, /*usesAlpha=*/false, kernelConstraint);
    o.object("quantization_config", quantization, quantizationTable());
  }
  bool quantizesBy(const std::string &) const override { return true; }
  RegularizerPtr activityRegularizer() const override {
    return outputRegularizer;
  }
  bool castsIntegers() const override { return true; }
  Masks masks(Call &, const CallInputs &inputs) const override {
    return passed(inputs);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (c.t.rank(x) < 2) {
      c.refuse("needs an input of rank 2 or more");
      return x;
    }
    Tensor bias;
    Tensor out = product(c, x, [&] {
      if (useBias)
        bias = c.weight("bias", {units},
                        {biasInitializer, biasRegularizer, biasConstraint});
    });
    if (bias)
      out = out + c.t.along(bias, out);
    return activation.apply(c, out);
  }
  Tensor product(Call &c, Tensor x, llvm::function_ref<void()> addBias) const {
    std::vector<int64_t> shape = {c.t.size(x, -1), units};
    if (c.policy.quantization) {
      SmallVector<int64_t> full(c.t.shape(x));
      full.back() = units;
      EinsumEquation each("...a,ab->...b", c.t.rank(x));
      if (!each.complaint.empty()) {
        c.refuse("has an input of rank " + std::to_string(c.t.rank(x)) +
                 ", which is too high for quantized weights");
        return x;
      }
      return QuantizedProduct(c, each, shape, full, quantization.get(), lora,
                              /*isEinsum=*/false)
          .of(x, addBias);
    }
    WeightRules rules{kernelInitializer, kernelRegularizer, kernelConstraint};
    Tensor kernel = c.weight("kernel", shape, lora.rules("kernel", rules));
    addBias();
    return c.t.matmul(x, lora.applied(c, "kernel", kernel, rules));
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H
