//===- EinsumDense.cpp - keras.layers.EinsumDense -------------------------===//

#include "weft/compiler/frontends/keras/layers/EinsumDense.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void EinsumDense::options(Options &o) {
  o.text("equation", equation);
  o.shape("output_shape", outputShape);
  activation.read(o);
  o.text("bias_axes", biasAxes);
  weightOptions(o, {{"kernel", kernel}, {"bias", bias}}, &outputRegularizer);
  lora.read(o, /*usesAlpha=*/true, kernel.constraint);
  o.ignored("gptq_unpacked_column_size", "it follows from the equation");
  o.object("quantization_config", quantization, quantizationTable());
}

std::optional<std::vector<int64_t>>
EinsumDense::shapeOf(Call &c, const EinsumEquation &e, Tensor x) const {
  // The sizes of the batch and of the dots' dimensions are those of the input.
  std::vector<int64_t> full = outputShape;
  full.insert(full.begin(), c.t.size(x, 0));
  for (int64_t i = 1; e.isLeft && i < e.elided; ++i)
    full.insert(full.begin() + i, c.t.size(x, i));
  for (int64_t i = c.t.rank(x) - e.elided; !e.isLeft && i < c.t.rank(x); ++i)
    full.push_back(c.t.size(x, i));
  bool fits = full.size() == e.output.size();
  for (size_t i = 0; fits && i < full.size(); ++i)
    if (size_t at = e.input.find(e.output[i]); at != e.input.npos) {
      fits = full[i] == -1 || full[i] == c.t.size(x, int64_t(at));
      full[i] = c.t.size(x, int64_t(at));
    } else {
      fits = full[i] > 0;
    }
  for (char letter : biasAxes)
    fits &= namesLetter(e.output, letter);
  if (fits)
    return full;
  c.refuse("\"output_shape\" " + shapeText(outputShape) +
           " or \"bias_axes\" does not fit \"" + equation +
           "\" and samples of shape " + sampleText(x));
  return std::nullopt;
}

Tensor EinsumDense::product(Call &c, const EinsumEquation &e, Tensor x,
                            ArrayRef<int64_t> full,
                            llvm::function_ref<void()> addBias) const {
  Weight rules = kernel;
  std::vector<int64_t> shape;
  for (auto [i, letter] : llvm::enumerate(e.kernel)) {
    size_t at = e.output.find(letter);
    bool isOutput = at != e.output.npos;
    (isOutput ? rules.outputAxes : rules.inputAxes).push_back(int64_t(i));
    shape.push_back(isOutput ? full[at]
                             : c.t.size(x, int64_t(e.input.find(letter))));
  }
  if (c.policy.quantization)
    return QuantizedProduct(c, e, shape, full, quantization.get(), lora, rules,
                            /*isEinsum=*/true)
        .of(x, addBias);
  Tensor factor = c.weight("kernel", shape, lora.rules("kernel", rules));
  addBias();
  return e.contracted(c.t, x, lora.applied(c, "kernel", factor, rules));
}

Tensor EinsumDense::call(Call &c, Tensor x) const {
  EinsumEquation e(equation, c.t.rank(x));
  if (!e.complaint.empty()) {
    c.refuse("\"equation\" \"" + equation + "\" " + e.complaint);
    return x;
  }
  std::optional<std::vector<int64_t>> full = shapeOf(c, e, x);
  if (!full)
    return x;
  Tensor shift;
  Tensor out = product(c, e, x, *full, [&] {
    std::vector<int64_t> biasShape;
    for (size_t i = 0; !biasAxes.empty() && i < e.output.size(); ++i)
      if (!biasShape.empty() || namesLetter(biasAxes, e.output[i]))
        biasShape.push_back(namesLetter(biasAxes, e.output[i]) ? (*full)[i]
                                                               : 1);
    if (!biasAxes.empty())
      shift = c.weight("bias", biasShape, bias);
  });
  if (shift)
    out = out + c.t.stretch(quantizedBias(c, shift), c.t.shape(out));
  return activation.apply(c, out);
}
