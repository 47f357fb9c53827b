//===- Fourier.cpp - Fourier transforms -----------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

#include "weft/dialects/weft/ops/LinearAlgebraEnums.cpp.inc"

using namespace mlir;
using namespace weft;

/// The type with another size of a dimension and another element type.
static RankedTensorType resized(RankedTensorType type, int64_t dim,
                                int64_t size, Type elementType) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, elementType);
}

static RankedTensorType resultType(FftKind kind, RankedTensorType input,
                                   int64_t dim, int64_t length) {
  Type elements = input.getElementType();
  if (kind == FftKind::RFFT)
    return resized(input, dim, length / 2 + 1, ComplexType::get(elements));
  if (kind == FftKind::IRFFT)
    return resized(input, dim, length, componentType(elements));
  return resized(input, dim, length, elements);
}

int64_t FftOp::getLength() {
  bool fromReal = getKind() == FftKind::RFFT;
  return typeOf(fromReal ? getInput() : getResult()).getDimSize(getDim());
}

void FftOp::build(OpBuilder &builder, OperationState &state, FftKind kind,
                  Value input, int64_t dim, int64_t length) {
  build(builder, state, resultType(kind, typeOf(input), dim, length), kind,
        input, dim);
}

LogicalResult FftOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (failed(checkDim(*this, getDim(), input.getRank()))) // (C1)
    return failure();
  bool fromReal = getKind() == FftKind::RFFT;
  Type elements = input.getElementType();
  if (isa<ComplexType>(elements) == fromReal ||
      !isDifferentiable(elements)) // (C2)
    return emitOpError(stringifyFftKind(getKind()))
           << " is of " << (fromReal ? "real" : "complex") << " floats, not of "
           << elements;
  if (result.getRank() != input.getRank()) // (C3)
    return emitOpError("has ")
           << input.getRank() << " dimensions, but the result "
           << result.getRank();
  RankedTensorType expected =
      resultType(getKind(), input, getDim(), getLength());
  bool halves = getKind() != FftKind::IRFFT ||
                getLength() / 2 + 1 == input.getDimSize(getDim());
  if (getLength() < 1 || !halves) // (C3)
    return emitOpError("a length of ")
           << getLength() << " does not fit " << input.getDimSize(getDim())
           << " elements of the input";
  if (expected.getElementType() != result.getElementType()) // (C3)
    return emitOpError("gives ")
           << expected.getElementType() << ", not " << result.getElementType();
  return checkShape(*this, expected.getShape()); // (C3)
}

ShardingRule FftOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors factors;
  for (auto [dim, size] : llvm::enumerate(typeOf(getInput()).getShape())) {
    bool isTransformed = dim == getDim();
    factors.push_back({static_cast<unsigned>(rule.factors.size())});
    rule.factors.push_back(
        {size, isTransformed ? FactorKind::Replicated : FactorKind::Pass});
  }
  rule.operands = {factors};
  int64_t size = typeOf(getResult()).getDimSize(getDim());
  if (size != typeOf(getInput()).getDimSize(getDim())) {
    factors[getDim()] = {static_cast<unsigned>(rule.factors.size())};
    rule.factors.push_back({size, FactorKind::Replicated});
  }
  rule.results = {factors};
  rule.linearity = {Linearity::Linear};
  return rule;
}

Value weft::buildFft(OpBuilder &builder, Location loc, FftKind kind,
                     Value input, ArrayRef<int64_t> lengths) {
  int64_t rank = typeOf(input).getRank(), first = rank - lengths.size();
  auto along = [&](FftKind step, int64_t i) {
    input = FftOp::create(builder, loc, step, input, first + i, lengths[i]);
  };
  int64_t last = static_cast<int64_t>(lengths.size()) - 1;
  bool toReal = kind == FftKind::IRFFT;
  FftKind step = toReal                  ? FftKind::IFFT
                 : kind == FftKind::RFFT ? FftKind::FFT
                                         : kind;
  if (!toReal)
    along(kind, last);
  for (int64_t i = last - 1; i >= 0; --i)
    along(step, i);
  if (toReal)
    along(kind, last);
  return input;
}
