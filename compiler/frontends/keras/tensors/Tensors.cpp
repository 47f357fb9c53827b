//===- Tensors.cpp - tensor expressions in weft ops -----------------------===//

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include "weft/compiler/frontends/formulas/Functions.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Type weft::keras::typeOf(Builder &builder, const std::string &name) {
  if (name == "bool")
    return builder.getI1Type();
  if (name == "float16")
    return builder.getF16Type();
  if (name == "bfloat16")
    return builder.getBF16Type();
  if (name == "float32" || name == "float64" || name == "float")
    return builder.getF32Type();
  for (unsigned width : {8u, 16u, 32u, 64u}) {
    unsigned kept = std::min(width, 32u);
    if (name == "int" + std::to_string(width))
      return builder.getIntegerType(kept);
    if (name == "uint" + std::to_string(width))
      return builder.getIntegerType(kept, /*isSigned=*/false);
  }
  return name == "int" ? Type(builder.getI32Type()) : Type();
}

std::string weft::keras::dtypeOf(Value value) {
  Type type = tensorType(value).getElementType();
  if (type.isInteger(1))
    return "bool";
  const char *kind = type.isUnsignedInteger() ? "uint"
                     : type.isInteger()       ? "int"
                     : type.isBF16()          ? "bfloat"
                                              : "float";
  return kind + std::to_string(type.getIntOrFloatBitWidth());
}

std::string weft::keras::shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    out += (i ? ", " : "") + (shape[i] < 0 ? "null" : std::to_string(shape[i]));
  return out + ")";
}

llvm::SmallVector<int64_t> Tensors::allDims(Value value) {
  llvm::SmallVector<int64_t> dims(tensorType(value).getRank());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Tensor Tensors::splat(double number, RankedTensorType type) {
  return Tensor::splat(builder, loc, number, type);
}

Tensor Tensors::constant(llvm::ArrayRef<float> numbers,
                         llvm::ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return make<ConstantOp>(ElementsAttr(DenseElementsAttr::get(type, numbers)));
}

Tensor Tensors::row(llvm::ArrayRef<double> numbers, Value like) {
  if (numbers.size() == 1)
    return splat(numbers[0], like);
  llvm::SmallVector<float> data(numbers.begin(), numbers.end());
  return along(castLike(constant(data, {int64_t(data.size())}), like), like);
}

llvm::SmallVector<int64_t> Tensors::dims(Value a,
                                         llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> out;
  for (int64_t axis : axes)
    out.push_back(axis < 0 ? axis + rank(a) : axis);
  llvm::sort(out);
  return out;
}

Tensor Tensors::matmul(Value a, Value b) {
  return make<DotOp>(a, b, llvm::ArrayRef<int64_t>{last(a)},
                     llvm::ArrayRef<int64_t>{0});
}

Tensor Tensors::along(Value vector, Value like, int64_t dim) {
  if (rank(like) == 1)
    return (*this)(vector);
  return make<BroadcastOp>(vector, shape(like),
                           llvm::ArrayRef<int64_t>(dims(like, dim)));
}

Tensor Tensors::stretch(Value a, llvm::ArrayRef<int64_t> to) {
  llvm::SmallVector<int64_t> keptDims, sizes;
  int64_t missing = int64_t(to.size()) - rank(a);
  for (int64_t dim = 0; dim < rank(a); ++dim)
    if (size(a, dim) == to[dim + missing]) {
      keptDims.push_back(dim + missing);
      sizes.push_back(size(a, dim));
    }
  if (keptDims.size() == to.size())
    return (*this)(a);
  return make<BroadcastOp>(reshape(a, sizes), to, keptDims);
}

Tensor Tensors::kept(Value reduced, Value like, llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> sizes(shape(like));
  for (int64_t dim : dims)
    sizes[dim] = 1;
  return reshape(reduced, sizes);
}

Tensor Tensors::repeat(Value a, int64_t dim, int64_t times) {
  llvm::SmallVector<int64_t> wide(shape(a)), joined = wide, dims;
  wide.insert(wide.begin() + dim + 1, times);
  joined[dim] *= times;
  for (int64_t i = 0; i < rank(a); ++i)
    dims.push_back(i > dim ? i + 1 : i);
  return reshape(make<BroadcastOp>(a, wide, dims), joined);
}

Tensor Tensors::take(Value table, Tensor indices) {
  double rows = double(size(table, 0));
  Tensor isNegative = indices < 0;
  Tensor index = select(isNegative, indices + rows, indices);
  Tensor isInside = (index >= 0) & (index < rows);
  llvm::SmallVector<int64_t> result(shape(index)), kept;
  for (int64_t i = 0; i < rank(index); ++i)
    kept.push_back(i);
  int64_t offsetDims[] = {rank(index)}, zero[] = {0};
  int64_t sliceSizes[] = {1, size(table, 1)};
  result.push_back(size(table, 1));
  auto type = tensorType(table).clone(result);
  Tensor found = make<GatherOp>(
      type, table, index, llvm::ArrayRef<int64_t>(offsetDims),
      llvm::ArrayRef<int64_t>(zero), llvm::ArrayRef<int64_t>(),
      llvm::ArrayRef<int64_t>(), llvm::ArrayRef<int64_t>(zero),
      uint64_t(rank(index)), llvm::ArrayRef<int64_t>(sliceSizes));
  double absent = isa<FloatType>(tensorType(table).getElementType())
                      ? std::nan("")
                      : double(std::numeric_limits<int32_t>::min());
  return select(make<BroadcastOp>(isInside, result, kept), found, absent);
}

Tensor Tensors::channelsLast(Value a) {
  llvm::SmallVector<int64_t> order = {0};
  for (int64_t dim = 2; dim < rank(a); ++dim)
    order.push_back(dim);
  order.push_back(1);
  return transpose(a, order);
}

Tensor Tensors::channelsFirst(Value a) {
  llvm::SmallVector<int64_t> order = {0, last(a)};
  for (int64_t dim = 1; dim < last(a); ++dim)
    order.push_back(dim);
  return transpose(a, order);
}

Tensor Tensors::reshape(Value a, llvm::ArrayRef<int64_t> wanted) {
  return shape(a) == wanted ? (*this)(a) : make<ReshapeOp>(a, wanted);
}

Tensor Tensors::transpose(Value a, llvm::ArrayRef<int64_t> permutation) {
  return make<TransposeOp>(a, permutation);
}

Tensor Tensors::concatenate(llvm::ArrayRef<Tensor> parts, int64_t dim) {
  llvm::SmallVector<int64_t> sizes(shape(parts[0]));
  int64_t at = dim < 0 ? dim + rank(parts[0]) : dim;
  sizes[at] = 0;
  for (Tensor part : parts)
    sizes[at] += size(part, at);
  return make<ConcatenateOp>(tensorType(parts[0]).clone(sizes), valuesOf(parts),
                             uint64_t(at));
}

Tensor Tensors::slice(Value a, int64_t dim, int64_t begin, int64_t end) {
  llvm::SmallVector<int64_t> start(rank(a), 0), limit(shape(a)),
      stride(rank(a), 1);
  int64_t at = dim < 0 ? dim + rank(a) : dim;
  start[at] = begin;
  limit[at] = end;
  return make<SliceOp>(a, start, limit, stride);
}

Tensor Tensors::join(llvm::ArrayRef<Tensor> parts) {
  llvm::SmallVector<int64_t> joined(shape(parts[0]));
  joined[0] = 0;
  for (Tensor part : parts)
    joined[0] += size(part, 0);
  return make<ConcatenateOp>(tensorType(parts[0]).clone(joined),
                             valuesOf(parts), uint64_t(0));
}

Tensor Tensors::fill(Value scalar, Value like) {
  if (tensorType(like).getRank() == 0)
    return (*this)(scalar);
  return make<BroadcastOp>(scalar, tensorType(like).getShape(),
                           llvm::ArrayRef<int64_t>{});
}

static bool isHalf(Value a) {
  Type element = tensorType(a).getElementType();
  return element.isBF16() || element.isF16();
}

Tensor Tensors::reduce(ReduceKind kind, Value a, llvm::ArrayRef<int64_t> dims) {
  if (dims.empty())
    return (*this)(a);
  if (kind == ReduceKind::Sum && isHalf(a))
    return castLike(make<ReduceOp>(kind, a, dims, builder.getF32Type()), a);
  return make<ReduceOp>(kind, a, dims);
}

Tensor Tensors::spread(Value reduced, Value like,
                       llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> kept;
  for (int64_t dim : allDims(like))
    if (!llvm::is_contained(dims, dim))
      kept.push_back(dim);
  return make<BroadcastOp>(reduced, tensorType(like).getShape(), kept);
}

Tensor Tensors::sumAll(Value a) {
  return reduce(ReduceKind::Sum, a, allDims(a));
}

Tensor Tensors::mean(Value a, llvm::ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= tensorType(a).getDimSize(dim);
  if (isHalf(a)) {
    Tensor total =
        make<ReduceOp>(ReduceKind::Sum, a, dims, builder.getF32Type());
    return castLike(total / double(count), a);
  }
  return reduce(ReduceKind::Sum, a, dims) / double(count);
}

Tensor Tensors::variance(Tensor a, Value mean, llvm::ArrayRef<int64_t> dims) {
  Tensor centred = a - spread(mean, a, dims);
  return this->mean(centred * centred, dims);
}

Tensor Tensors::meanAll(Value a) { return mean(a, allDims(a)); }

Tensor Tensors::softmax(Tensor a, llvm::ArrayRef<int64_t> dims) {
  Tensor largest = reduce(ReduceKind::Max, stopGradient(a), dims);
  Tensor raised = exp(a - spread(largest, a, dims));
  Tensor total = reduce(ReduceKind::Sum, raised, dims);
  return raised / spread(total, a, dims);
}

Tensor Tensors::logSoftmax(Tensor a) {
  int64_t dims[] = {last(a)};
  Tensor largest = reduce(ReduceKind::Max, stopGradient(a), dims);
  Tensor shifted = a - spread(largest, a, dims);
  Tensor total = reduce(ReduceKind::Sum, exp(shifted), dims);
  return shifted - spread(log(total), a, dims);
}

// If a equals b, `larger` is a, so that each derivative is 1/2, as that of |a -
// b| is 1. A difference is NaN if both are the same infinity, or one is NaN.
Tensor Tensors::logAddExp(Tensor a, Tensor b) {
  Tensor apart = a - b, isUsual = apart == apart;
  Tensor size = abs(select(isUsual, apart, 0));
  Tensor larger = select(a >= b, a, b);
  Tensor small = log1p(exp(-size));
  return select(isUsual, larger + small, a + b);
}

Tensor Tensors::softplus(Tensor a) {
  Tensor larger = select(a >= 0, a, 0);
  Tensor small = log1p(exp(-abs(a)));
  return larger + small;
}

Tensor Tensors::argmax(Tensor a) {
  int64_t dims[] = {last(a)};
  Tensor largest = spread(reduce(ReduceKind::Max, a, dims), a, dims);
  auto type = tensorType(a).clone(builder.getI32Type());
  Tensor index =
      make<IotaOp>(type, builder.getI64IntegerAttr(dims[0]), Value());
  Tensor beyond = splat(double(type.getDimSize(dims[0])), type);
  // A NaN counts as the largest element, as in jnp.argmax.
  Tensor isLargest = (a == largest) | (a != a);
  return reduce(ReduceKind::Min, select(isLargest, index, beyond), dims);
}

Tensor Tensors::oneHot(Value index, Value like) {
  int64_t dims[] = {last(like)};
  auto type = tensorType(like).clone(builder.getI32Type());
  Tensor positions =
      make<IotaOp>(type, builder.getI64IntegerAttr(dims[0]), Value());
  return toFloat(positions == spread(index, like, dims));
}

Tensor Tensors::uniform(Value key, RankedTensorType type) {
  auto bitType = type.clone(builder.getIntegerType(32, /*isSigned=*/false));
  Tensor bits =
      make<RngBitsOp>(bitType, key, ValueRange(), DenseI64ArrayAttr());
  auto element = cast<FloatType>(type.getElementType());
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  unsigned mantissaBits = llvm::APFloat::semanticsPrecision(semantics) - 1;
  // A bfloat16 uses 8 of the random bits, a float16 uses 16.
  unsigned width = element.getWidth(), taken = mantissaBits < 8 ? 8 : width;
  if (taken < 32)
    bits = bits & splat(double((1u << taken) - 1), bits);
  Tensor mantissa = make<ShiftRightLogicalOp>(
      bits, splat(double(taken - mantissaBits), bits));
  // The random bits become the mantissa of a number in [1, 2).
  llvm::APInt one = llvm::APFloat::getOne(semantics).bitcastToAPInt();
  Tensor number = mantissa | splat(double(one.getZExtValue()), bits);
  number = keras::Tensors::cast(
      number, builder.getIntegerType(width, /*isSigned=*/false));
  return make<BitcastOp>(type, number) + -1.0;
}

Tensor Tensors::erfInv(Value a) {
  return castLike(formulas::erfInv(wide(a)), a);
}

Tensor Tensors::normal(Value key, RankedTensorType type) {
  const llvm::fltSemantics &semantics =
      mlir::cast<FloatType>(type.getElementType()).getFloatSemantics();
  llvm::APFloat next = llvm::APFloat::getOne(semantics, /*Negative=*/true);
  next.next(/*nextDown=*/false);
  double least = next.convertToDouble();
  Tensor unit = uniform(key, type) * 2.0; // 1 - least rounds to 2
  return erfInv(max(unit + least, least)) * std::sqrt(2.0);
}
