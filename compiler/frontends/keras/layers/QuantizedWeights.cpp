//===- QuantizedWeights.cpp - layers whose weights are integers -----------===//

#include "weft/compiler/frontends/keras/layers/QuantizedWeights.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// A weight that never trains, in the type of its variable unless that is a
/// float.
static Value frozen(Call &c, const char *name, std::vector<int64_t> shape,
                    const InitializerPtr &initializer, const char *dtype) {
  WeightRules rules{initializer};
  rules.isFrozen = true;
  rules.dtype = dtype;
  rules.keepsType = StringRef(dtype).contains("int");
  return c.weight(name, std::move(shape), rules);
}

/// keras.quantizers.abs_max_quantize
static Integers quantized(Tensors &t, Value x, ArrayRef<int64_t> dims,
                          const Quantizer &by) {
  Value largest = t.reduce(ReduceKind::Max, t.make<AbsOp>(x), dims);
  Value size = t.add(largest, by.epsilon);
  Value scale = t.div(t.splat(by.range[1], size), size);
  Value whole = t.make<RoundEvenOp>(t.mul(x, t.spread(scale, x, dims)));
  return {t.cast(t.clamp(whole, by.range[0], by.range[1]), t.typeOf("int8")),
          scale};
}

/// The `count` integers of 4 bits that lie in pairs along a dimension, the
/// lower half of each byte first. keras.quantizers.unpack_int4
static Value unpacked(Tensors &t, Value packed, int64_t dim, int64_t count,
                      bool isSigned) {
  Value mask = t.splat(15, packed);
  Value high = t.make<ShiftRightLogicalOp>(packed, t.splat(4, packed));
  SmallVector<int64_t> one(t.shape(packed)), joined = one;
  one.insert(one.begin() + dim + 1, 1);
  joined[dim] *= 2;
  SmallVector<Value> halves;
  for (Value half : {packed, high}) {
    half = t.make<AndOp>(half, mask);
    if (isSigned) {
      Value eight = t.splat(8, half);
      half = t.sub(t.make<XorOp>(half, eight), eight);
    }
    halves.push_back(t.reshape(half, one));
  }
  Value both = t.reshape(t.concatenate(halves, dim + 1), joined);
  return joined[dim] == count ? both : t.slice(both, dim, 0, count);
}

/// (integers - zero) * scale with the zero and the scale of each row's group.
/// keras.quantizers.dequantize_with_sz_map with group_axis=0
static Value dequantized(Tensors &t, Value integers, Value scale, Value zero,
                         Value groups) {
  Value rows = t.toInteger(groups);
  Value scales = t.take(scale, rows);
  Value zeros = t.castLike(t.take(zero, rows), scales);
  return t.mul(t.sub(t.castLike(integers, scales), zeros), scales);
}

/// `value`, with the derivative of `smooth`, whose difference with itself is 0.
static Value withDerivativeOf(Tensors &t, Value value, Value smooth) {
  return t.add(t.stopGradient(value), t.sub(smooth, t.stopGradient(smooth)));
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
                                   const LowRank &lora, bool isEinsum)
    : c(c), e(equation), kernelShape(kernelShape), resultShape(resultShape),
      mode(*c.policy.quantization), isEinsum(isEinsum) {
  if (lora.isUsed())
    c.refuse(kQuantizedAdapter);
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

Value QuantizedProduct::of(Value x, llvm::function_ref<void()> addBias) const {
  if (mode.mode == "int8")
    return int8(x, addBias);
  return mode.mode == "int4" ? int4(x, addBias) : calibrated(x, addBias);
}

int64_t QuantizedProduct::groupsOf(int64_t rows) const {
  return mode.group ? (rows + mode.group - 1) / mode.group : 1;
}

/// x as integers, with its scale in the shape of the result.
Integers QuantizedProduct::quantizedInput(Value x) const {
  Integers out = quantized(c.t, x, e.summedDims(), *quantizer);
  std::string letters;
  for (char letter : e.input)
    if (namesLetter(e.output, letter))
      letters += letter;
  out.scale = spreadLetters(c.t, out.scale, letters, e.output, resultShape);
  return out;
}

Value QuantizedProduct::ofIntegers(Value x, Value kernel, Value scale) const {
  Tensors &t = c.t;
  SmallVector<int64_t> sizes;
  for (char letter : kernelLetters)
    sizes.push_back(kernelShape[e.kernel.find(letter)]);
  scale = t.reshape(scale, sizes);
  Value divisor = spreadLetters(t, scale, kernelLetters, e.output, resultShape);
  if (!quantizer)
    return t.div(e.contracted(t, x, t.castLike(kernel, x)), divisor);
  Integers in = quantizedInput(x);
  Value sums = e.contracted(t, in.values, kernel, t.builder.getI32Type());
  Value out = t.div(c.cast(sums), t.mul(divisor, in.scale));
  if (!c.training)
    return out;
  Value floats = t.div(c.cast(kernel), spreadLetters(t, scale, kernelLetters,
                                                     e.kernel, kernelShape));
  return withDerivativeOf(t, out, e.contracted(t, x, floats));
}

Value QuantizedProduct::ofFloats(Value x, Value kernel) const {
  Tensors &t = c.t;
  kernel = t.reshape(c.cast(kernel), kernelShape);
  if (!quantizer)
    return e.contracted(t, x, kernel);
  Integers in = quantizedInput(x);
  Value out = t.div(e.contracted(t, c.cast(in.values), kernel), in.scale);
  return c.training ? withDerivativeOf(t, out, e.contracted(t, x, kernel))
                    : out;
}

Value QuantizedProduct::int8(Value x,
                             llvm::function_ref<void()> addBias) const {
  Value kernel = frozen(c, "kernel", {kernelShape.begin(), kernelShape.end()},
                        zeros(), "int8");
  addBias();
  std::vector<int64_t> sizes = {columns};
  if (isEinsum) {
    sizes.clear();
    for (char letter : e.output) {
      size_t at = e.kernel.find(letter);
      sizes.push_back(at == e.kernel.npos ? 1 : kernelShape[at]);
    }
  }
  return ofIntegers(x, kernel, frozen(c, "kernel_scale", sizes, ones(), ""));
}

Value QuantizedProduct::int4(Value x,
                             llvm::function_ref<void()> addBias) const {
  Tensors &t = c.t;
  Value packed =
      frozen(c, "kernel", {rows, (columns + 1) / 2}, zeros(), "int8");
  addBias();
  std::vector<int64_t> sizes = {columns};
  if (mode.group)
    sizes.insert(sizes.begin(), groupsOf(rows));
  Value scale = frozen(c, "kernel_scale", sizes, ones(), "");
  Value whole = unpacked(t, packed, 1, columns, /*isSigned=*/true);
  if (mode.group) {
    Value zero = frozen(c, "kernel_zero", sizes, zeros(), "int8");
    Value groups = frozen(c, "g_idx", {rows}, zeros(), "float32");
    return ofFloats(x, dequantized(t, whole, scale, zero, groups));
  }
  if (!isEinsum)
    return ofIntegers(x, whole, scale);
  Value floats = c.cast(whole);
  return ofFloats(x, t.div(floats, t.stretch(scale, t.shape(floats))));
}

/// The rows and columns of the matrix that Keras calibrates for a kernel of
/// heads: its largest size is that of the features, in front or behind.
static std::pair<int64_t, int64_t> matrixOf(ArrayRef<int64_t> shape) {
  if (shape.size() == 2)
    return {shape[0], shape[1]};
  return std::max_element(shape.begin(), shape.end()) == shape.begin()
             ? std::pair(shape[0], shape[1] * shape[2])
             : std::pair(shape[0] * shape[1], shape[2]);
}

Value QuantizedProduct::calibrated(Value x,
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
  Value kernel =
      frozen(c, "kernel", {isPacked ? (columns + 1) / 2 : columns, rows},
             zeros(), "uint8");
  std::vector<int64_t> sizes = {columns, groupsOf(rows)};
  Value scale = frozen(c, "kernel_scale", sizes, ones(), "");
  Value zero = frozen(c, isEinsum ? "zero_point" : "kernel_zero", sizes,
                      zeros(), "uint8");
  Value factors = isAwq ? frozen(c, "awq_scales", {rows}, ones(), "") : Value();
  Value groups = frozen(c, "g_idx", {rows}, zeros(), "float32");
  if (isPacked)
    kernel = unpacked(t, kernel, 0, columns, /*isSigned=*/false);
  auto turned = [&](Value a) { return t.transpose(a, {1, 0}); };
  Value floats =
      dequantized(t, turned(kernel), turned(scale), turned(zero), groups);
  if (factors)
    floats = t.div(floats, t.along(factors, floats, 0));
  return ofFloats(x, floats);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

QuantizedTable::QuantizedTable(Call &c, int64_t inputDim, int64_t outputDim,
                               const QuantizationConfig *config)
    : c(c), inputDim(inputDim), outputDim(outputDim),
      isPacked(c.policy.quantization->mode == "int4"),
      quantizer(config ? config->activation : usualQuantizer()) {
  if (isPacked)
    group =
        config && config->group ? *config->group : c.policy.quantization->group;
  std::vector<int64_t> sizes = {inputDim};
  if (group)
    sizes.push_back((outputDim + group - 1) / group);
  table = frozen(c, "embeddings",
                 {inputDim, isPacked ? (outputDim + 1) / 2 : outputDim},
                 zeros(), "int8");
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
Value QuantizedTable::alongGroups(Value rows) const {
  Tensors &t = c.t;
  SmallVector<int64_t> shape(t.shape(rows));
  int64_t last = shape.pop_back_val(), count = 1;
  for (int64_t size : shape)
    count *= size;
  shape.push_back(outputDim);
  Value byGroup = t.transpose(t.reshape(rows, {count, last}), {1, 0});
  Value byColumn = t.take(byGroup, t.toInteger(groups));
  return t.reshape(t.transpose(byColumn, {1, 0}), shape);
}

Value QuantizedTable::rowsOf(Value indices) const {
  Tensors &t = c.t;
  Value rows = t.take(table, indices);
  if (isPacked)
    rows = unpacked(t, rows, t.last(rows), outputDim, /*isSigned=*/true);
  rows = c.cast(rows);
  if (!group) {
    Value scales = t.take(t.reshape(scale, {inputDim, 1}), indices);
    return t.div(rows, t.stretch(scales, t.shape(rows)));
  }
  Value zeros = alongGroups(c.cast(t.take(zero, indices)));
  return t.mul(t.sub(rows, zeros), alongGroups(t.take(scale, indices)));
}

/// The integers (features, rows) with which logits are computed.
Value QuantizedTable::kernel() const {
  Tensors &t = c.t;
  Value from = reverse ? reverse : t.transpose(table, {1, 0});
  return isPacked ? unpacked(t, from, 0, outputDim, /*isSigned=*/true) : from;
}

Value QuantizedTable::logits(Value x) const {
  Tensors &t = c.t;
  Value kernel = this->kernel(), values = x, divisor;
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
    auto turned = [&](Value a) { return t.transpose(a, {1, 0}); };
    Value floats = reverse ? dequantized(t, c.cast(kernel), reverseScale,
                                         reverseZero, groups)
                           : dequantized(t, c.cast(kernel), turned(scale),
                                         turned(zero), groups);
    Value out = t.matmul(c.cast(values), floats);
    return divisor ? t.div(out, divisor) : out;
  }
  Value ofTable = t.stretch(reverse ? reverseScale : scale, shape);
  if (!divisor)
    return t.div(t.matmul(x, t.castLike(kernel, x)), ofTable);
  Value sums = t.make<DotOp>(values, kernel, last, ArrayRef<int64_t>{0},
                             ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                             t.builder.getI32Type());
  return t.div(c.cast(sums), t.mul(divisor, ofTable));
}
