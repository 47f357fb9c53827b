//===- EinsumDense.cpp - keras.layers.EinsumDense -------------------------===//

#include "weft/compiler/frontends/keras/layers/EinsumDense.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static bool names(const std::string &text, char letter) {
  return text.find(letter) != text.npos;
}

/// Whether the text consists of distinct letters, at least one.
static bool isSpec(const std::string &text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (!std::isalpha(static_cast<unsigned char>(text[i])) ||
        text.find(text[i], i + 1) != text.npos)
      return false;
  return !text.empty();
}

EinsumEquation::EinsumEquation(const std::string &text, int64_t rank) {
  size_t comma = text.find(','), arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos || arrow < comma) {
    complaint = "has not the form X,Y->Z";
    return;
  }
  input = text.substr(0, comma);
  kernel = text.substr(comma + 1, arrow - comma - 1);
  output = text.substr(arrow + 2);
  bool isRight = input.ends_with("...") && output.ends_with("...");
  isLeft = input.starts_with("...") && output.starts_with("...");
  for (std::string *spec : {&input, &output})
    if (isLeft)
      spec->erase(0, 3);
    else if (isRight)
      spec->erase(spec->size() - 3);
  elided = rank - int64_t(input.size());
  if (!isSpec(input) || !isSpec(kernel) || !isSpec(output))
    complaint =
        "has not the form X,Y->Z, ...X,Y->...Z or X...,Y->Z... with each "
        "letter once on a side";
  else if (elided < 0 || (elided > 0 && !isLeft && !isRight))
    complaint = "does not fit a tensor of rank " + std::to_string(rank);
  for (char letter : output)
    if (!names(input, letter) && !names(kernel, letter))
      complaint = std::string("has \"") + letter + "\" in the result only";
  for (char letter : input)
    if (!names(output, letter) && !names(kernel, letter))
      complaint = std::string("has \"") + letter + "\" in the input only";
  for (char letter : kernel)
    if (!names(output, letter) && !names(input, letter))
      complaint = std::string("has \"") + letter + "\" in the kernel only";
  bool hasBatch = complaint.empty() && (elided == 0 || !isLeft);
  if (hasBatch && (names(kernel, input[0]) || output[0] != input[0]))
    complaint = "must keep the batch, its first letter, in front";
  // Unused letters name the dimensions of the dots.
  std::string dots;
  for (char letter = 'A'; complaint.empty() && int64_t(dots.size()) < elided;
       ++letter) {
    if (letter > 'z') {
      complaint = "has too many dimensions";
      return;
    }
    if (std::isalpha(static_cast<unsigned char>(letter)) &&
        !names(input + kernel + output, letter))
      dots += letter;
  }
  for (std::string *spec : {&input, &output})
    isLeft ? spec->insert(0, dots) : spec->append(dots);
}

void EinsumDense::options(Options &o) {
  o.text("equation", equation);
  o.shape("output_shape", outputShape);
  activation.read(o);
  o.text("bias_axes", biasAxes);
  o.object("kernel_initializer", kernelInitializer, initializerTable());
  o.object("bias_initializer", biasInitializer, initializerTable());
  o.object("kernel_regularizer", kernelRegularizer, regularizerTable());
  o.object("bias_regularizer", biasRegularizer, regularizerTable());
  o.object("activity_regularizer", outputRegularizer, regularizerTable());
  o.object("kernel_constraint", kernelConstraint, constraintTable());
  o.object("bias_constraint", biasConstraint, constraintTable());
  lora.read(o, /*usesAlpha=*/true, kernelConstraint);
  o.refused("gptq_unpacked_column_size", "quantized weights");
  o.ignored("quantization_config",
            "\"dtype\" says whether weights are quantized");
}

/// Contracts x with the kernel by the equation's letters.
static Value contracted(Tensors &t, const EinsumEquation &e, Value x,
                        Value kernel) {
  SmallVector<int64_t> xBatch, kernelBatch, xSum, kernelSum, order;
  std::string shared, free;
  for (auto [i, letter] : llvm::enumerate(e.input)) {
    size_t at = e.kernel.find(letter);
    if (at == e.kernel.npos) {
      free += letter;
      continue;
    }
    bool isSummed = !names(e.output, letter);
    (isSummed ? xSum : xBatch).push_back(int64_t(i));
    (isSummed ? kernelSum : kernelBatch).push_back(int64_t(at));
    if (!isSummed)
      shared += letter;
  }
  std::string result = shared + free;
  for (char letter : e.kernel)
    if (!names(e.input, letter))
      result += letter;
  for (char letter : e.output)
    order.push_back(int64_t(result.find(letter)));
  Value out = t.make<DotOp>(x, kernel, xSum, kernelSum, xBatch, kernelBatch);
  return result == e.output ? out : t.transpose(out, order);
}

Value EinsumDense::call(Call &c, Value x) const {
  EinsumEquation e(equation, c.t.rank(x));
  if (!e.complaint.empty()) {
    c.refuse("\"equation\" \"" + equation + "\" " + e.complaint);
    return x;
  }
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
    fits &= names(e.output, letter);
  if (!fits) {
    c.refuse("\"output_shape\" " + shapeText(outputShape) +
             " or \"bias_axes\" does not fit \"" + equation +
             "\" and samples of shape " + sampleText(x));
    return x;
  }
  WeightRules rules{kernelInitializer, kernelRegularizer, kernelConstraint};
  std::vector<int64_t> shape;
  for (auto [i, letter] : llvm::enumerate(e.kernel)) {
    size_t at = e.output.find(letter);
    bool isOutput = at != e.output.npos;
    (isOutput ? rules.outputAxes : rules.inputAxes).push_back(int64_t(i));
    shape.push_back(isOutput ? full[at]
                             : c.t.size(x, int64_t(e.input.find(letter))));
  }
  Value kernel = c.weight("kernel", shape, lora.rules("kernel", rules)), bias;
  if (!biasAxes.empty()) {
    std::vector<int64_t> biasShape;
    for (size_t i = 0; i < e.output.size(); ++i)
      if (!biasShape.empty() || names(biasAxes, e.output[i]))
        biasShape.push_back(names(biasAxes, e.output[i]) ? full[i] : 1);
    bias = c.weight("bias", biasShape,
                    {biasInitializer, biasRegularizer, biasConstraint});
  }
  Value out = contracted(c.t, e, x, lora.applied(c, "kernel", kernel, rules));
  if (bias)
    out = c.t.add(out, c.t.stretch(bias, c.t.shape(out)));
  return activation.apply(c, out);
}
