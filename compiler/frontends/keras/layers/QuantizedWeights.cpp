//===- QuantizedWeights.cpp - layers whose weights are integers -----------===//

#include "weft/compiler/frontends/keras/layers/QuantizedWeights.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// A weight that never trains, in the type of its variable unless that is a
/// float.
static Tensor frozen(Call &c, const char *name, std::vector<int64_t> shape,
                     const InitializerPtr &initializer, const char *dtype,
                     std::optional<Adapter> adapter = std::nullopt) {
  Weight rules{initializer};
  rules.adapter = std::move(adapter);
  rules.isFrozen = true;
  rules.dtype = dtype;
  rules.keepsType = StringRef(dtype).contains("int");
  return c.weight(name, std::move(shape), rules);
}

/// keras.quantizers.abs_max_quantize
static Integers quantized(Tensors &t, Tensor x, ArrayRef<int64_t> dims,
                          const Quantizer &by) {
  Tensor largest = t.reduce(ReduceKind::Max, abs(x), dims);
  Tensor size = largest + by.epsilon;
  Tensor scale = t.splat(by.range[1], size) / size;
  Tensor whole = roundEven(x * t.spread(scale, x, dims));
  return {t.cast(t.clamp(whole, by.range[0], by.range[1]), t.typeOf("int8")),
          scale};
}

/// The adapter of a weight of integers, or none.
static std::optional<Adapter> adapterOf(const LowRank &lora, const char *name,
                                        IntegerForm form) {
  std::optional<Adapter> out = lora.rules(name, {nullptr}).adapter;
  if (out)
    out->integers = std::move(form);
  return out;
}

/// keras.quantizers.quantize_and_dequantize with "float8_e4m3fn"
static Tensor throughFloat8(Tensors &t, Tensor x, Tensor scale) {
  Tensor factor = t.fill(t.castLike(scale, x), x);
  Tensor narrow = t.cast(t.clamp(x / factor, -448, 448),
                         Float8E4M3FNType::get(t.builder.getContext()));
  return t.castLike(narrow, x) * factor;
}

/// The `count` integers of 4 bits that lie in pairs along a dimension, the
/// lower half of each byte first. keras.quantizers.unpack_int4
static Tensor unpacked(Tensors &t, Tensor packed, int64_t dim, int64_t count,
                       bool isSigned) {
  Tensor mask = t.splat(15, packed);
  Tensor high = t.make<ShiftRightLogicalOp>(packed, t.splat(4, packed));
  SmallVector<int64_t> one(t.shape(packed)), joined = one;
  one.insert(one.begin() + dim + 1, 1);
  joined[dim] *= 2;
  SmallVector<Tensor> halves;
  for (Tensor half : {packed, high}) {
    half = half & mask;
    if (isSigned) {
      Tensor eight = t.splat(8, half);
      half = (half ^ eight) - eight;
    }
    halves.push_back(t.reshape(half, one));
  }
  Tensor both = t.reshape(t.concatenate(halves, dim + 1), joined);
  return joined[dim] == count ? both : t.slice(both, dim, 0, count);
}

/// (integers - zero) * scale with the zero and the scale of each row's group.
/// keras.quantizers.dequantize_with_sz_map with group_axis=0
static Tensor dequantized(Tensors &t, Tensor integers, Tensor scale,
                          Tensor zero, Tensor groups) {
  Tensor rows = t.toInteger(groups);
  Tensor scales = t.take(scale, rows);
  Tensor zeros = t.castLike(t.take(zero, rows), scales);
  return (t.castLike(integers, scales) - zeros) * scales;
}

/// `value`, with the derivative of `smooth`, whose difference with itself is 0.
static Tensor withDerivativeOf(Tensors &t, Tensor value, Tensor smooth) {
  return t.stopGradient(value) + (smooth - t.stopGradient(smooth));
}

static QuantizerPtr usualQuantizer() {
  return quantizerTable().make("AbsMaxQuantizer");
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

QuantizedProduct::QuantizedProduct(Call &c, const EinsumEquation &equation,
                                   ArrayRef<int64_t> kernelShape,
                                   ArrayRef<int64_t> resultShape,
                                   const QuantizationConfig *config,
                                   const LowRank &lora, const Weight &rules,
                                   bool isEinsum)
    : c(c), e(equation), kernelShape(kernelShape), resultShape(resultShape),
      mode(*c.policy.quantization), lora(lora), rules(rules),
      isEinsum(isEinsum) {
  bool isInteger = mode.mode == "int8" || mode.mode == "int4";
  if (lora.isUsed() && !isInteger)
    c.refuse("has \"lora_rank\" beside the policy \"" + mode.mode +
             "\", which Keras does not have; train the adapter first, and "
             "quantize the model that is saved then");
  else if (lora.isUsed() && e.kernel.back() != e.output.back())
    c.refuse("has \"lora_rank\" beside quantized weights, and an equation "
             "whose result does not end as its kernel does, which Keras does "
             "not have; leave \"lora_rank\" out");
  if (config)
    quantizer = config->activation;
  else if (mode.mode == "int8")
    quantizer = usualQuantizer();
  if (config && config->group && mode.mode == "int4")
    mode.group = *config->group;
  for (char letter : e.output)
    if (namesLetter(e.kernel, letter))
      kernelLetters += letter;
  for (auto [letter, size] : llvm::zip(e.kernel, this->kernelShape))
    (namesLetter(e.output, letter) ? columns : rows) *= size;
}

Tensor QuantizedProduct::of(Tensor x,
                            llvm::function_ref<void()> addBias) const {
  Tensor out = mode.mode == "int8"     ? int8(x, addBias)
               : mode.mode == "int4"   ? int4(x, addBias)
               : mode.mode == "float8" ? float8(x, addBias)
                                       : calibrated(x, addBias);
  return lora.added(c, "kernel", out, kernelShape, rules,
                    [&](Tensor a) { return e.contracted(c.t, x, a); });
}

Tensor QuantizedProduct::integers(std::vector<int64_t> shape,
                                  IntegerForm form) const {
  form.scale = "kernel_scale";
  return frozen(c, "kernel", std::move(shape), zeros(), "int8",
                adapterOf(lora, "kernel", std::move(form)));
}

int64_t QuantizedProduct::groupsOf(int64_t rows) const {
  return mode.group ? (rows + mode.group - 1) / mode.group : 1;
}

/// x as integers, with its scale in the shape of the result.
Integers QuantizedProduct::quantizedInput(Tensor x) const {
  Integers out = quantized(c.t, x, e.summedDims(), *quantizer);
  std::string letters;
  for (char letter : e.input)
    if (namesLetter(e.output, letter))
      letters += letter;
  out.scale = spreadLetters(c.t, out.scale, letters, e.output, resultShape);
  return out;
}

Tensor QuantizedProduct::ofIntegers(Tensor x, Tensor kernel,
                                    Tensor scale) const {
  Tensors &t = c.t;
  SmallVector<int64_t> sizes;
  for (char letter : kernelLetters)
    sizes.push_back(kernelShape[e.kernel.find(letter)]);
  scale = t.reshape(scale, sizes);
  Tensor divisor =
      spreadLetters(t, scale, kernelLetters, e.output, resultShape);
  if (!quantizer)
    return e.contracted(t, x, t.castLike(kernel, x)) / divisor;
  Integers in = quantizedInput(x);
  Tensor sums = e.contracted(t, in.values, kernel, t.builder.getI32Type());
  Tensor out = c.cast(sums) / (divisor * in.scale);
  if (!c.training)
    return out;
  Tensor floats = c.cast(kernel) /
                  spreadLetters(t, scale, kernelLetters, e.kernel, kernelShape);
  return withDerivativeOf(t, out, e.contracted(t, x, floats));
}

Tensor QuantizedProduct::ofFloats(Tensor x, Tensor kernel) const {
  Tensors &t = c.t;
  kernel = t.reshape(c.cast(kernel), kernelShape);
  if (!quantizer)
    return e.contracted(t, x, kernel);
  Integers in = quantizedInput(x);
  Tensor out = e.contracted(t, c.cast(in.values), kernel) / in.scale;
  return c.training ? withDerivativeOf(t, out, e.contracted(t, x, kernel))
                    : out;
}

Tensor QuantizedProduct::int8(Tensor x,
                              llvm::function_ref<void()> addBias) const {
  // Scales have the dimensions of the kernel that the result has, in its order.
  std::vector<int64_t> shape(kernelShape.begin(), kernelShape.end()),
      strides(shape.size()), sizes;
  int64_t stride = 1;
  for (char letter : llvm::reverse(e.output)) {
    size_t at = e.kernel.find(letter);
    bool isOfKernel = at != e.kernel.npos;
    sizes.insert(sizes.begin(), isOfKernel ? shape[at] : 1);
    if (isOfKernel)
      strides[at] = stride;
    stride *= sizes.front();
  }
  if (!isEinsum)
    sizes = {columns};
  Tensor kernel = integers(shape, {"", "", mode.bits, shape, strides});
  addBias();
  return ofIntegers(x, kernel, frozen(c, "kernel_scale", sizes, ones(), ""));
}

Tensor QuantizedProduct::int4(Tensor x,
                              llvm::function_ref<void()> addBias) const {
  Tensors &t = c.t;
  IntegerForm form{"", "", mode.bits, {rows, columns}, {0, 1}};
  if (mode.group)
    form = {"", "kernel_zero", mode.bits, {rows, columns}, {columns, 1},
            0,  mode.group};
  Tensor packed = integers({rows, (columns + 1) / 2}, form);
  addBias();
  std::vector<int64_t> sizes = {columns};
  if (mode.group)
    sizes.insert(sizes.begin(), groupsOf(rows));
  Tensor scale = frozen(c, "kernel_scale", sizes, ones(), "");
  Tensor whole = unpacked(t, packed, 1, columns, /*isSigned=*/true);
  if (mode.group) {
    Tensor zero = frozen(c, "kernel_zero", sizes, zeros(), "int8");
    Tensor groups = frozen(c, "g_idx", {rows}, zeros(), "float32");
    return ofFloats(x, dequantized(t, whole, scale, zero, groups));
  }
  if (!isEinsum)
    return ofIntegers(x, whole, scale);
  Tensor floats = c.cast(whole);
  return ofFloats(x, floats / t.stretch(scale, t.shape(floats)));
}

Tensor QuantizedProduct::float8(Tensor x,
                                llvm::function_ref<void()> addBias) const {
  Tensor kernel =
      c.weight("kernel", {kernelShape.begin(), kernelShape.end()}, rules);
  addBias();
  auto scaleOf = [&](const std::string &of) {
    Weight own{ones()}, history{zeros()};
    for (Weight *each : {&own, &history}) {
      each->isFrozen = each->keepsType = each->takesGradient = true;
      each->dtype = "float32";
    }
    Tensor scale = c.weight((of + "_scale").c_str(), {}, own);
    c.weight((of + "_amax_history").c_str(), {mode.history}, history);
    return scale;
  };
  Tensor ofInputs = scaleOf("inputs"), ofKernel = scaleOf("kernel");
  scaleOf("outputs_grad");
  return e.contracted(c.t, throughFloat8(c.t, x, ofInputs),
                      throughFloat8(c.t, kernel, ofKernel));
}

Tensor weft::keras::quantizedBias(Call &c, Tensor bias) {
  bool isRounded = c.policy.quantization &&
                   c.policy.quantization->mode == "float8" &&
                   c.policy.compute == "float32";
  return isRounded ? c.cast(c.t.cast(bias, c.t.typeOf("bfloat16"))) : bias;
}

/// The rows and columns of the matrix that Keras calibrates for a kernel of
/// heads: its largest size is that of the features, before or after the others.
static std::pair<int64_t, int64_t> matrixOf(ArrayRef<int64_t> shape) {
  if (shape.size() == 2)
    return {shape[0], shape[1]};
  return std::max_element(shape.begin(), shape.end()) == shape.begin()
             ? std::pair(shape[0], shape[1] * shape[2])
             : std::pair(shape[0] * shape[1], shape[2]);
}

Tensor QuantizedProduct::calibrated(Tensor x,
                                    llvm::function_ref<void()> addBias) const {
  Tensors &t = c.t;
  addBias();
  if (kernelShape.size() != 2 && kernelShape.size() != 3) {
    c.refuse("has a kernel of shape " + shapeText(kernelShape) +
             ", for which Keras has no \"" + mode.mode +
             "\"; it takes those of 2 or 3 dimensions");
    return t.splat(0, tensorType(x).clone(resultShape));
  }
  auto [rows, columns] = matrixOf(kernelShape);
  bool isPacked = mode.bits == 4, isAwq = mode.mode == "awq";
  Tensor kernel =
      frozen(c, "kernel", {isPacked ? (columns + 1) / 2 : columns, rows},
             zeros(), "uint8");
  std::vector<int64_t> sizes = {columns, groupsOf(rows)};
  Tensor scale = frozen(c, "kernel_scale", sizes, ones(), "");
  Tensor zero = frozen(c, isEinsum ? "zero_point" : "kernel_zero", sizes,
                       zeros(), "uint8");
  Tensor factors =
      isAwq ? frozen(c, "awq_scales", {rows}, ones(), "") : Tensor();
  Tensor groups = frozen(c, "g_idx", {rows}, zeros(), "float32");
  if (isPacked)
    kernel = unpacked(t, kernel, 0, columns, /*isSigned=*/false);
  auto turned = [&](Tensor a) { return t.transpose(a, {1, 0}); };
  Tensor floats =
      dequantized(t, turned(kernel), turned(scale), turned(zero), groups);
  if (factors)
    floats = floats / t.along(factors, floats, 0);
  return ofFloats(x, floats);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

QuantizedTable::QuantizedTable(Call &c, int64_t inputDim, int64_t outputDim,
                               const QuantizationConfig *config,
                               const LowRank &lora)
    : c(c), inputDim(inputDim), outputDim(outputDim),
      isPacked(c.policy.quantization->mode == "int4"),
      quantizer(config ? config->activation : usualQuantizer()) {
  if (isPacked)
    group =
        config && config->group ? *config->group : c.policy.quantization->group;
  std::vector<int64_t> sizes = {inputDim};
  if (group)
    sizes.push_back((outputDim + group - 1) / group);
  IntegerForm form{.scale = "embeddings_scale",
                   .zero = group ? "embeddings_zero" : "",
                   .bits = isPacked ? 4 : 8,
                   .shape = {inputDim, outputDim},
                   .strides = {group ? sizes[1] : 1, group ? 1 : 0},
                   .groupDim = 1,
                   .group = std::max<int64_t>(group, 1)};
  table = frozen(c, "embeddings",
                 {inputDim, isPacked ? (outputDim + 1) / 2 : outputDim},
                 zeros(), "int8", adapterOf(lora, "embeddings", form));
  scale = frozen(c, "embeddings_scale", sizes, ones(), "");
  if (group) {
    zero = frozen(c, "embeddings_zero", sizes, zeros(), "int8");
    groups = frozen(c, "g_idx", {outputDim}, zeros(), "float32");
  }
}

void QuantizedTable::addReverse() {
  reverse = frozen(c, "reverse_embeddings",
                   {isPacked ? (outputDim + 1) / 2 : outputDim, inputDim},
                   zeros(), "int8");
  std::vector<int64_t> sizes = {inputDim};
  if (group)
    sizes.insert(sizes.begin(), (outputDim + group - 1) / group);
  reverseScale = frozen(c, "reverse_embeddings_scale", sizes, ones(), "");
  if (group)
    reverseZero = frozen(c, "reverse_embeddings_zero", sizes, zeros(), "");
}

/// The value of each column's group, from rows (..., groups).
Tensor QuantizedTable::alongGroups(Tensor rows) const {
  Tensors &t = c.t;
  SmallVector<int64_t> shape(t.shape(rows));
  int64_t last = shape.pop_back_val(), count = 1;
  for (int64_t size : shape)
    count *= size;
  shape.push_back(outputDim);
  Tensor byGroup = t.transpose(t.reshape(rows, {count, last}), {1, 0});
  Tensor byColumn = t.take(byGroup, t.toInteger(groups));
  return t.reshape(t.transpose(byColumn, {1, 0}), shape);
}

Tensor QuantizedTable::rowsOf(Tensor indices) const {
  Tensors &t = c.t;
  Tensor rows = t.take(table, indices);
  if (isPacked)
    rows = unpacked(t, rows, t.last(rows), outputDim, /*isSigned=*/true);
  rows = c.cast(rows);
  if (!group) {
    Tensor scales = t.take(t.reshape(scale, {inputDim, 1}), indices);
    return rows / t.stretch(scales, t.shape(rows));
  }
  Tensor zeros = alongGroups(c.cast(t.take(zero, indices)));
  return (rows - zeros) * alongGroups(t.take(scale, indices));
}

/// The integers (features, rows) with which logits are computed.
Tensor QuantizedTable::kernel() const {
  Tensors &t = c.t;
  Tensor from = reverse ? reverse : t.transpose(table, {1, 0});
  return isPacked ? unpacked(t, from, 0, outputDim, /*isSigned=*/true) : from;
}

Tensor QuantizedTable::logits(Tensor x) const {
  Tensors &t = c.t;
  Tensor kernel = this->kernel(), values = x, divisor;
  SmallVector<int64_t> shape(t.shape(x)), last = {t.last(x)};
  shape.back() = inputDim;
  if (quantizer && c.hasAxes(x, quantizer->axis) &&
      t.dims(x, quantizer->axis) != last)
    c.refuse("quantizes logits' inputs along \"axis\" " +
             shapeText(quantizer->axis) + "; it must be the last one, -1");
  if (quantizer) {
    Integers in = quantized(t, x, last, *quantizer);
    values = in.values;
    divisor = t.stretch(t.kept(in.scale, x, last), shape);
  }
  if (group) {
    auto turned = [&](Tensor a) { return t.transpose(a, {1, 0}); };
    Tensor floats = reverse ? dequantized(t, c.cast(kernel), reverseScale,
                                          reverseZero, groups)
                            : dequantized(t, c.cast(kernel), turned(scale),
                                          turned(zero), groups);
    Tensor out = t.matmul(c.cast(values), floats);
    return divisor ? out / divisor : out;
  }
  Tensor ofTable = t.stretch(reverse ? reverseScale : scale, shape);
  if (!divisor)
    return t.matmul(x, t.castLike(kernel, x)) / ofTable;
  Tensor sums = t.make<DotOp>(values, kernel, last, ArrayRef<int64_t>{0},
                              ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                              t.builder.getI32Type());
  return c.cast(sums) / (divisor * ofTable);
}
