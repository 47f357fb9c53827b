//===- Tensor.cpp - values of the reference interpreter -------------------===//

#include "weft/passes/interpret/Tensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace weft {

Tensor::Tensor(RankedTensorType type)
    : Tensor(type.getShape(), type.getElementType()) {}

Tensor::Tensor(ArrayRef<int64_t> shape, Type elementType)
    : elementType(elementType), shape(shape),
      components(componentsOf(elementType)),
      cells(std::accumulate(shape.begin(), shape.end(), components,
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

static double asDouble(llvm::APFloat value) {
  bool lost = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  return value.convertToDouble();
}

Tensor Tensor::ofAttribute(DenseElementsAttr data) {
  Tensor tensor(cast<RankedTensorType>(data.getType()));
  int64_t i = 0;
  if (tensor.isComplex()) {
    for (const auto &value : data.getValues<std::complex<llvm::APFloat>>())
      tensor.setNumber(i++, {asDouble(value.real()), asDouble(value.imag())});
    return tensor;
  }
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

/// The exponent + 127 of the nearest power of two, halves up; 255, a NaN, for
/// values that are not positive or too large. APFloat takes this NaN for
/// infinity.
static uint64_t exponentBits(double value) {
  if (!(value > 0) || std::isinf(value))
    return 255;
  int exponent = 0;
  double fraction = std::frexp(value, &exponent); // [0.5, 1)
  int bits = value <= 0x1p-127 ? 0 : 126 + exponent + (fraction >= 0.75);
  return std::min(bits, 255);
}

/// The bits of the nearest value that the type has; ties to even, in f8E8M0FNU
/// up.
static uint64_t nearestBits(double value, Type type) {
  if (isa<Float8E8M0FNUType>(type))
    return exponentBits(value);
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  // Without NaN there is no infinity either.
  if (!llvm::APFloat::semanticsHasNaN(semantics)) {
    double largest = asDouble(llvm::APFloat::getLargest(semantics));
    value = std::isnan(value) ? -0.0 : std::clamp(value, -largest, largest);
  }
  llvm::APFloat number(value);
  bool lost = false;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

static double ofBits(uint64_t bits, Type type) {
  if (isa<Float8E8M0FNUType>(type))
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, static_cast<int>(bits) - 127);
  llvm::APInt word(type.getIntOrFloatBitWidth(), bits);
  return asDouble(
      llvm::APFloat(cast<FloatType>(type).getFloatSemantics(), word));
}

static double rounded(double value, Type type) {
  if (type.isF32())
    return static_cast<float>(value);
  return type.isF64() ? value : ofBits(nearestBits(value, type), type);
}

void Tensor::setReal(int64_t i, double value) {
  cells[i] = llvm::bit_cast<uint64_t>(rounded(value, elementType));
}

std::complex<double> Tensor::number(int64_t i) const {
  if (!isComplex())
    return real(i);
  return {llvm::bit_cast<double>(cells[2 * i]),
          llvm::bit_cast<double>(cells[2 * i + 1])};
}

void Tensor::setNumber(int64_t i, std::complex<double> value) {
  if (!isComplex())
    return setReal(i, value.real());
  Type component = componentType(elementType);
  cells[2 * i] = llvm::bit_cast<uint64_t>(rounded(value.real(), component));
  cells[2 * i + 1] = llvm::bit_cast<uint64_t>(rounded(value.imag(), component));
}

Tensor Tensor::asReals() const {
  if (!isComplex())
    return *this;
  SmallVector<int64_t> pairs(shape.begin(), shape.end());
  pairs.push_back(2);
  Tensor result(pairs, componentType(elementType));
  result.cells = cells;
  return result;
}

Tensor Tensor::ofPairs(RankedTensorType type, const Tensor &pairs) {
  Tensor result(type);
  result.cells = pairs.cells;
  return result;
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
  return nearestBits(real(i), elementType);
}

void Tensor::setBits(int64_t i, uint64_t value) {
  if (!isFloat())
    return setInteger(i, static_cast<int64_t>(value));
  cells[i] = llvm::bit_cast<uint64_t>(ofBits(value, elementType));
}

void Tensor::setPadding(int64_t i) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (isComplex())
    setNumber(i, {nan, nan});
  else if (isa<Float4E2M1FNType>(elementType))
    setReal(i, 6); // The type has no NaN, so it gets the largest value.
  else if (isFloat())
    setReal(i, nan);
  else
    setInteger(i, 0x7f7f7f7f7f7f7f7f);
}

static bool isSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool Tensor::equals(int64_t i, const Tensor &other, int64_t j) const {
  if (isComplex())
    return isSame(number(i).real(), other.number(j).real()) &&
           isSame(number(i).imag(), other.number(j).imag());
  return isFloat() ? isSame(real(i), other.real(j))
                   : integer(i) == other.integer(j);
}

std::string Tensor::text(int64_t i) const {
  char buffer[64];
  if (isComplex()) {
    std::complex<double> value = number(i);
    snprintf(buffer, sizeof buffer, "(%.9g,%.9g)", value.real(), value.imag());
    return buffer;
  }
  if (isFloat()) {
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
