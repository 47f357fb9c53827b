//===- Dense.h - keras.layers.Dense ------------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H

#include "weft/compiler/frontends/keras/layers/ActivationOption.h"
#include "weft/compiler/frontends/keras/layers/LowRank.h"

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
    o.ignored("quantization_config",
              "\"dtype\" says whether weights are quantized");
  }
  RegularizerPtr activityRegularizer() const override {
    return outputRegularizer;
  }
  bool castsIntegers() const override { return true; }
  Masks masks(Call &, const CallInputs &inputs) const override {
    return passed(inputs);
  }
  Value call(Call &c, Value x) const override {
    if (c.t.rank(x) < 2) {
      c.refuse("needs an input of rank 2 or more");
      return x;
    }
    WeightRules rules{kernelInitializer, kernelRegularizer, kernelConstraint};
    Value kernel = c.weight("kernel", {c.t.size(x, -1), units},
                            lora.rules("kernel", rules));
    Value bias;
    if (useBias)
      bias = c.weight("bias", {units},
                      {biasInitializer, biasRegularizer, biasConstraint});
    Value out = c.t.matmul(x, lora.applied(c, "kernel", kernel, rules));
    if (bias)
      out = c.t.add(out, c.t.along(bias, out));
    return activation.apply(c, out);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H
