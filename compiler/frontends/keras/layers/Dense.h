//===- Dense.h - keras.layers.Dense ------------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H

#include "weft/compiler/frontends/keras/layers/ActivationOption.h"

namespace weft::keras {

/// y = activation(x @ kernel + bias), over the last dimension.
class Dense : public Layer {
  int64_t units = 0;
  ActivationOption activation{"activation"};
  bool useBias = true;
  InitializerPtr kernelInitializer = glorotUniform(), biasInitializer = zeros();
  RegularizerPtr kernelRegularizer, biasRegularizer, outputRegularizer;
  ConstraintPtr kernelConstraint, biasConstraint;

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
    o.refused("lora_rank", "low-rank adapters");
    o.refused("lora_alpha", "low-rank adapters");
    o.refused("quantization_config", "quantized weights");
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
    Value kernel =
        c.weight("kernel", {c.t.size(x, -1), units},
                 {kernelInitializer, kernelRegularizer, kernelConstraint});
    Value out = c.t.matmul(x, kernel);
    if (useBias)
      out = c.t.add(out, c.t.along(c.weight("bias", {units},
                                            {biasInitializer, biasRegularizer,
                                             biasConstraint}),
                                   out));
    return activation.apply(c, out);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H
