//===- Tensors.cpp - tensor expressions in weft ops -----------------------===//

#include "weft/compiler/frontends/keras/Tensors.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static int64_t lastDim(Value value) { return tensorType(value).getRank() - 1; }

static llvm::SmallVector<int64_t> allDims(Value value) {
  llvm::SmallVector<int64_t> dims(tensorType(value).getRank());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Value Tensors::splat(double number, RankedTensorType type) {
  Type element = type.getElementType();
  TypedAttr value = isa<FloatType>(element)
                        ? TypedAttr(builder.getFloatAttr(element, number))
                        : builder.getIntegerAttr(element, int64_t(number));
  return make<ConstantOp>(
      ElementsAttr(DenseElementsAttr::get(type, {Attribute(value)})));
}

Value Tensors::row(llvm::ArrayRef<double> numbers, Value like) {
  if (numbers.size() == 1)
    return splat(numbers[0], like);
  llvm::SmallVector<float> data(numbers.begin(), numbers.end());
  auto type =
      RankedTensorType::get({int64_t(data.size())}, builder.getF32Type());
  Value constant = make<ConstantOp>(
      ElementsAttr(DenseElementsAttr::get(type, llvm::ArrayRef<float>(data))));
  return make<BroadcastOp>(constant, tensorType(like).getShape(),
                           llvm::ArrayRef<int64_t>{lastDim(like)});
}

Value Tensors::fill(Value scalar, Value like) {
  if (tensorType(like).getRank() == 0)
    return scalar;
  return make<BroadcastOp>(scalar, tensorType(like).getShape(),
                           llvm::ArrayRef<int64_t>{});
}

Value Tensors::reduce(ReduceKind kind, Value a, llvm::ArrayRef<int64_t> dims) {
  return dims.empty() ? a : make<ReduceOp>(kind, a, dims);
}

Value Tensors::spread(Value reduced, Value like, llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> kept;
  for (int64_t dim : allDims(like))
    if (!llvm::is_contained(dims, dim))
      kept.push_back(dim);
  return make<BroadcastOp>(reduced, tensorType(like).getShape(), kept);
}

Value Tensors::sumAll(Value a) {
  return reduce(ReduceKind::Sum, a, allDims(a));
}

Value Tensors::mean(Value a, llvm::ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= tensorType(a).getDimSize(dim);
  return div(reduce(ReduceKind::Sum, a, dims), double(count));
}

Value Tensors::meanAll(Value a) { return mean(a, allDims(a)); }

Value Tensors::stopGradient(Value a) {
  auto bits = tensorType(a).clone(builder.getI32Type());
  return make<BitcastOp>(a.getType(), make<BitcastOp>(bits, a));
}

Value Tensors::softmax(Value a, llvm::ArrayRef<int64_t> dims) {
  Value largest = reduce(ReduceKind::Max, stopGradient(a), dims);
  Value raised = make<ExpOp>(sub(a, spread(largest, a, dims)));
  Value total = reduce(ReduceKind::Sum, raised, dims);
  return div(raised, spread(total, a, dims));
}

Value Tensors::logSoftmax(Value a) {
  int64_t dims[] = {lastDim(a)};
  Value largest = reduce(ReduceKind::Max, stopGradient(a), dims);
  Value shifted = sub(a, spread(largest, a, dims));
  Value total = reduce(ReduceKind::Sum, make<ExpOp>(shifted), dims);
  return sub(shifted, spread(make<LogOp>(total), a, dims));
}

Value Tensors::softplus(Value a) {
  Value small = make<Log1pOp>(make<ExpOp>(make<NegOp>(make<AbsOp>(a))));
  return add(max(a, 0), small);
}

Value Tensors::argmax(Value a) {
  int64_t dims[] = {lastDim(a)};
  Value largest = spread(reduce(ReduceKind::Max, a, dims), a, dims);
  auto type = tensorType(a).clone(builder.getI32Type());
  Value index = make<IotaOp>(type, builder.getI64IntegerAttr(dims[0]), Value());
  Value beyond = splat(double(type.getDimSize(dims[0])), type);
  Value first =
      make<SelectOp>(compare(CompareKind::EQ, a, largest), index, beyond);
  return reduce(ReduceKind::Min, first, dims);
}

Value Tensors::oneHot(Value index, Value like) {
  int64_t dims[] = {lastDim(like)};
  auto type = tensorType(like).clone(builder.getI32Type());
  Value positions =
      make<IotaOp>(type, builder.getI64IntegerAttr(dims[0]), Value());
  return toFloat(
      compare(CompareKind::EQ, positions, spread(index, like, dims)));
}

Value Tensors::uniform(Value key, RankedTensorType type) {
  auto bitType = type.clone(builder.getIntegerType(32, /*isSigned=*/false));
  Value bits = make<RngBitsOp>(bitType, key, ValueRange(), DenseI64ArrayAttr());
  Value mantissa = make<ShiftRightLogicalOp>(bits, splat(9, bits));
  // The mantissa of a number in [1, 2).
  Value number = make<OrOp>(mantissa, splat(0x3F800000, bits));
  return add(make<BitcastOp>(type, number), -1.0);
}

static Value elu(Tensors &t, Value x, double alpha) {
  Value zero = t.splat(0, x), positive = t.compare(CompareKind::GT, x, zero);
  Value below = t.make<SelectOp>(positive, zero, x);
  return t.make<SelectOp>(positive, x, t.mul(t.make<Expm1Op>(below), alpha));
}

Value weft::keras::activation(Tensors &t, llvm::StringRef name, Value x) {
  if (name == "relu")
    return t.make<ReluOp>(x);
  if (name == "softmax")
    return t.softmax(x, {lastDim(x)});
  if (name == "sigmoid")
    return t.make<LogisticOp>(x);
  if (name == "tanh")
    return t.make<TanhOp>(x);
  if (name == "silu")
    return t.mul(x, t.make<LogisticOp>(x));
  if (name == "gelu") // exact, as Keras' default
    return t.mul(t.mul(x, 0.5),
                 t.add(t.make<ErfOp>(t.mul(x, std::sqrt(0.5))), 1.0));
  if (name == "elu")
    return elu(t, x, 1.0);
  if (name == "selu")
    return t.mul(elu(t, x, 1.6732632423543772), 1.0507009873554805);
  if (name == "leaky_relu")
    return t.make<SelectOp>(t.compare(CompareKind::GE, x, t.splat(0, x)), x,
                            t.mul(x, 0.2));
  if (name == "relu6")
    return t.min(t.max(x, 0), 6);
  if (name == "hard_sigmoid")
    return t.div(t.min(t.max(t.add(x, 3.0), 0), 6), 6.0);
  if (name == "softplus")
    return t.softplus(x);
  if (name == "softsign")
    return t.div(x, t.add(t.make<AbsOp>(x), 1.0));
  if (name == "exponential")
    return t.make<ExpOp>(x);
  return x; // linear
}
