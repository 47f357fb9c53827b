//===- Tensor.cpp - values of the reference interpreter
//--------------------===//

#include "weft/dialects/interpret/Tensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace weft {

Tensor::Tensor(RankedTensorType type)
    : Tensor(type.getShape(), type.getElementType()) {}

Tensor::Tensor(ArrayRef<int64_t> shape, Type elementType)
    : elementType(elementType), shape(shape),
      cells(std::accumulate(shape.begin(), shape.end(), int64_t(1),
                            std::multiplies<>()),
            0) {}

Tensor Tensor::ofReals(ArrayRef<int64_t> shape, Type elementType,
                       ArrayRef<double> values) {
  Tensor tensor(shape, elementType);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setReal(i, values[i]);
  return tensor;
}

Tensor Tensor::ofIntegers(ArrayRef<int64_t> shape, Type elementType,
                          ArrayRef<int64_t> values) {
  Tensor tensor(shape, elementType);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setInteger(i, values[i]);
  return tensor;
}

Tensor Tensor::ofAttribute(DenseElementsAttr data) {
  Tensor tensor(cast<RankedTensorType>(data.getType()));
  int64_t i = 0;
  if (tensor.isFloat()) {
    for (const llvm::APFloat &value : data.getValues<llvm::APFloat>())
      tensor.setBits(i++, value.bitcastToAPInt().getZExtValue());
    return tensor;
  }
  for (const llvm::APInt &value : data.getValues<llvm::APInt>())
    tensor.setBits(i++, value.getZExtValue());
  return tensor;
}

RankedTensorType Tensor::getType() const {
  return RankedTensorType::get(shape, elementType);
}

bool Tensor::isUnsigned() const {
  return elementType.isUnsignedInteger() || elementType.isInteger(1);
}

double Tensor::real(int64_t i) const {
  return llvm::bit_cast<double>(cells[i]);
}

void Tensor::setReal(int64_t i, double value) {
  if (elementType.isF32()) {
    value = static_cast<float>(value);
  } else if (!elementType.isF64()) {
    llvm::APFloat rounded(value);
    bool lost = false;
    rounded.convert(cast<FloatType>(elementType).getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
    value = rounded.convertToDouble();
  }
  cells[i] = llvm::bit_cast<uint64_t>(value);
}

void Tensor::setInteger(int64_t i, int64_t value) {
  unsigned width = bitWidth();
  if (width < 64)
    value = isUnsigned()
                ? static_cast<int64_t>(static_cast<uint64_t>(value) &
                                       llvm::maskTrailingOnes<uint64_t>(width))
                : llvm::SignExtend64(static_cast<uint64_t>(value), width);
  cells[i] = static_cast<uint64_t>(value);
}

uint64_t Tensor::bits(int64_t i) const {
  if (!isFloat())
    return cells[i] & llvm::maskTrailingOnes<uint64_t>(bitWidth());
  llvm::APFloat value(real(i));
  bool lost = false;
  value.convert(cast<FloatType>(elementType).getFloatSemantics(),
                llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.bitcastToAPInt().getZExtValue();
}

void Tensor::setBits(int64_t i, uint64_t value) {
  if (!isFloat())
    return setInteger(i, static_cast<int64_t>(value));
  llvm::APFloat number(cast<FloatType>(elementType).getFloatSemantics(),
                       llvm::APInt(bitWidth(), value));
  cells[i] = llvm::bit_cast<uint64_t>(number.convertToDouble());
}

void Tensor::setPadding(int64_t i) {
  if (isFloat())
    setReal(i, std::numeric_limits<double>::quiet_NaN());
  else
    setInteger(i, 0x7f7f7f7f7f7f7f7f);
}

bool Tensor::equals(int64_t i, const Tensor &other, int64_t j) const {
  if (!isFloat())
    return integer(i) == other.integer(j);
  double a = real(i), b = other.real(j);
  return a == b || (std::isnan(a) && std::isnan(b));
}

std::string Tensor::text(int64_t i) const {
  if (isFloat()) {
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%.9g", real(i));
    return buffer;
  }
  return isUnsigned() ? std::to_string(static_cast<uint64_t>(integer(i)))
                      : std::to_string(integer(i));
}

SmallVector<int64_t, 4> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = stride;
  return strides;
}

std::vector<int64_t> offsets(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                             int64_t start) {
  std::vector<int64_t> result{start}, next;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    next.clear();
    for (int64_t offset : result)
      for (int64_t i = 0; i < sizes[dim]; ++i)
        next.push_back(offset + i * strides[dim]);
    result.swap(next);
  }
  return result;
}

SmallVector<int64_t, 4> indexOf(int64_t i, ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; i /= shape[dim])
    index[dim] = i % shape[dim];
  return index;
}

std::string indexText(int64_t i, ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [dim, index] : llvm::enumerate(indexOf(i, shape)))
    text += (dim ? ", " : "") + std::to_string(index);
  return text + "]";
}

} // namespace weft
