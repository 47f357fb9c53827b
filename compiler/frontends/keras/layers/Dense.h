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
  Weight kernel{glorotUniform()}, bias{zeros()};
  RegularizerPtr outputRegularizer;
  LowRank lora;
  QuantizationConfigPtr quantization;

  void options(Options &o) override {
    o.integer("units", units, kPositive);
    activation.read(o);
    o.flag("use_bias", useBias);
    weightOptions(o, {{"kernel", kernel}, {"bias", bias}}, &outputRegularizer);
    lora.read(o, /*usesAlpha=*/false, kernel.constraint);
    o.object("quantization_config", quantization, quantizationTable());
  }
  Facts facts() const override {
    return {.castsIntegers = true,
            .passesMask = true,
            .quantizedBy = {"int8", "int4", "float8", "gptq", "awq"},
            .activityRegularizer = outputRegularizer};
  }
  Tensor call(Call &c, Tensor x) const override {
    if (c.t.rank(x) < 2) {
      c.refuse("needs an input of rank 2 or more");
      return x;
    }
    Tensor shift;
    Tensor out = product(c, x, [&] {
      if (useBias)
        shift = c.weight("bias", {units}, bias);
    });
    if (shift)
      out = out + c.t.along(quantizedBias(c, shift), out);
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
                              kernel, /*isEinsum=*/false)
          .of(x, addBias);
    }
    Tensor matrix = c.weight("kernel", shape, lora.rules("kernel", kernel));
    addBias();
    return c.t.matmul(x, lora.applied(c, "kernel", matrix, kernel));
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_DENSE_H
