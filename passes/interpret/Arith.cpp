//===- Arith.cpp - the meaning of arith and math on scalars and tensors ---===//
//
// Meanings of arith and math. A scalar is a tensor of rank 0, an index a tensor
// of i64.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/interpret/Extremes.h"
#include "weft/passes/interpret/ForeignMeanings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace weft;

Type weft::storedElement(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? IntegerType::get(type.getContext(), 64) : element;
}

Tensor weft::storedTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return Tensor(tensor ? tensor.getShape() : ArrayRef<int64_t>(),
                storedElement(type));
}

namespace {
using RealUnary = double (*)(double);
using RealBinary = double (*)(double, double);
/// An operation on two sign- or zero-extended values and their bit width.
using IntegerBinary = int64_t (*)(int64_t, int64_t, unsigned);

uint64_t bitsOf(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(width);
}
int64_t signedOf(int64_t value, unsigned width) {
  return llvm::SignExtend64(static_cast<uint64_t>(value), width);
}
/// The larger number; the number if the other is NaN.
double maximumNumber(double x, double y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : maximum(x, y);
}
double minimumNumber(double x, double y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : minimum(x, y);
}
} // namespace

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static RealUnary realUnary(Operation *op) {
#define MEANS(OP, EXPRESSION)                                                  \
  .Case<OP>([](auto) { return +[](double x) -> double { return EXPRESSION; }; })
  return llvm::TypeSwitch<Operation *, RealUnary>(op)
      // clang-format off
      MEANS(arith::NegFOp, -x)
      MEANS(arith::ExtFOp, x)
      MEANS(arith::TruncFOp, x)
      MEANS(math::AbsFOp, std::fabs(x))
      MEANS(math::CeilOp, std::ceil(x))
      MEANS(math::CosOp, std::cos(x))
      MEANS(math::ErfOp, std::erf(x))
      MEANS(math::ExpOp, std::exp(x))
      MEANS(math::ExpM1Op, std::expm1(x))
      MEANS(math::FloorOp, std::floor(x))
      MEANS(math::LogOp, std::log(x))
      MEANS(math::Log1pOp, std::log1p(x))
      MEANS(math::RsqrtOp, 1 / std::sqrt(x))
      MEANS(math::SinOp, std::sin(x))
      MEANS(math::SqrtOp, std::sqrt(x))
      MEANS(math::TanhOp, std::tanh(x))
                                      // clang-format on
                                      .Default([](auto) { return nullptr; });
#undef MEANS
}

static RealBinary realBinary(Operation *op) {
#define MEANS(OP, EXPRESSION)                                                  \
  .Case<OP>([](auto) {                                                         \
    return +[](double x, double y) -> double { return EXPRESSION; };           \
  })
  return llvm::TypeSwitch<Operation *, RealBinary>(op)
      // clang-format off
      MEANS(arith::AddFOp, x + y)
      MEANS(arith::DivFOp, x / y)
      MEANS(arith::MaximumFOp, maximum(x, y))
      MEANS(arith::MaxNumFOp, maximumNumber(x, y))
      MEANS(arith::MinimumFOp, minimum(x, y))
      MEANS(arith::MinNumFOp, minimumNumber(x, y))
      MEANS(arith::MulFOp, x * y)
      MEANS(arith::RemFOp, std::fmod(x, y))
      MEANS(arith::SubFOp, x - y)
      MEANS(math::PowFOp, std::pow(x, y))
                          // clang-format on
                          .Default([](auto) { return nullptr; });
#undef MEANS
}

static bool compareReals(arith::CmpFPredicate how, double x, double y) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (how) {
  case P::AlwaysFalse:
    return false;
  case P::OEQ:
    return x == y;
  case P::OGT:
    return x > y;
  case P::OGE:
    return x >= y;
  case P::OLT:
    return x < y;
  case P::OLE:
    return x <= y;
  case P::ONE:
    return !unordered && x != y;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || x == y;
  case P::UGT:
    return unordered || x > y;
  case P::UGE:
    return unordered || x >= y;
  case P::ULT:
    return unordered || x < y;
  case P::ULE:
    return unordered || x <= y;
  case P::UNE:
    return unordered || x != y;
  case P::UNO:
    return unordered;
  case P::AlwaysTrue:
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// The function of an integer op, or null. Undefined results (a division by
/// zero, a shift by the width or more) are -1; the least integer over -1 wraps.
static IntegerBinary integerBinary(Operation *op) {
#define MEANS(OP, EXPRESSION)                                                  \
  .Case<OP>([](auto) {                                                         \
    return +[](int64_t x, int64_t y, unsigned w) -> int64_t {                  \
      return EXPRESSION;                                                       \
    };                                                                         \
  })
#define S(v) signedOf(v, w)
#define U(v) bitsOf(v, w)
  return llvm::TypeSwitch<Operation *, IntegerBinary>(op)
      // clang-format off
      MEANS(arith::AddIOp, static_cast<int64_t>(U(x) + U(y)))
      MEANS(arith::AndIOp, x & y)
      MEANS(arith::DivSIOp, U(y) == 0 || S(y) == -1 ? (U(y) ? static_cast<int64_t>(0 - U(x)) : -1) : S(x) / S(y))
      MEANS(arith::DivUIOp, U(y) == 0 ? -1 : static_cast<int64_t>(U(x) / U(y)))
      MEANS(arith::MaxSIOp, S(x) > S(y) ? x : y)
      MEANS(arith::MaxUIOp, U(x) > U(y) ? x : y)
      MEANS(arith::MinSIOp, S(x) < S(y) ? x : y)
      MEANS(arith::MinUIOp, U(x) < U(y) ? x : y)
      MEANS(arith::MulIOp, static_cast<int64_t>(U(x) * U(y)))
      MEANS(arith::OrIOp, x | y)
      MEANS(arith::RemSIOp, U(y) == 0 ? -1 : S(y) == -1 ? 0 : S(x) % S(y))
      MEANS(arith::RemUIOp, U(y) == 0 ? -1 : static_cast<int64_t>(U(x) % U(y)))
      MEANS(arith::ShLIOp, U(y) < w ? static_cast<int64_t>(U(x) << U(y)) : -1)
      MEANS(arith::ShRSIOp, U(y) < w ? S(x) >> U(y) : -1)
      MEANS(arith::ShRUIOp, U(y) < w ? static_cast<int64_t>(U(x) >> U(y)) : -1)
      MEANS(arith::SubIOp, static_cast<int64_t>(U(x) - U(y)))
      MEANS(arith::XOrIOp, x ^ y)
                                                  // clang-format on
                                                  .Default([](auto) {
                                                    return nullptr;
                                                  });
#undef S
#undef U
#undef MEANS
}

static bool compareIntegers(arith::CmpIPredicate how, int64_t a, int64_t b,
                            unsigned width) {
  using P = arith::CmpIPredicate;
  int64_t x = signedOf(a, width), y = signedOf(b, width);
  uint64_t u = bitsOf(a, width), v = bitsOf(b, width);
  switch (how) {
  case P::eq:
    return u == v;
  case P::ne:
    return u != v;
  case P::slt:
    return x < y;
  case P::sle:
    return x <= y;
  case P::sgt:
    return x > y;
  case P::sge:
    return x >= y;
  case P::ult:
    return u < v;
  case P::ule:
    return u <= v;
  case P::ugt:
    return u > v;
  case P::uge:
    return u >= v;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Converts one element from another type; returns false for other ops.
static bool castElement(Operation *op, const Tensor &from, int64_t j,
                        Tensor &to, int64_t i) {
  int64_t value = from.isFloat() ? 0 : from.integer(j);
  unsigned width = from.bitWidth();
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    to.setInteger(i, signedOf(value, width));
  else if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    to.setInteger(i, static_cast<int64_t>(bitsOf(value, width)));
  else if (isa<arith::SIToFPOp>(op))
    to.setReal(i, static_cast<double>(signedOf(value, width)));
  else if (isa<arith::UIToFPOp>(op))
    to.setReal(i, static_cast<double>(bitsOf(value, width)));
  else if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    to.setInteger(i, static_cast<int64_t>(from.real(j)));
  else if (isa<arith::BitcastOp>(op))
    to.setBits(i, from.bits(j));
  else
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool meaningOfElement(Operation *op, Operands in, ArrayRef<int64_t> at,
                             Tensor &out, int64_t i) {
  auto real = [&](unsigned k) { return in[k]->real(at[k]); };
  auto integer = [&](unsigned k) { return in[k]->integer(at[k]); };
  if (auto unary = realUnary(op))
    out.setReal(i, unary(real(0)));
  else if (auto binary = realBinary(op))
    out.setReal(i, binary(real(0), real(1)));
  else if (auto whole = integerBinary(op))
    out.setInteger(i, whole(integer(0), integer(1), out.bitWidth()));
  else if (auto compare = dyn_cast<arith::CmpFOp>(op))
    out.setInteger(i, compareReals(compare.getPredicate(), real(0), real(1)));
  else if (auto compare = dyn_cast<arith::CmpIOp>(op))
    out.setInteger(i, compareIntegers(compare.getPredicate(), integer(0),
                                      integer(1), in[0]->bitWidth()));
  else if (isa<arith::SelectOp>(op))
    out.copy(i, integer(0) ? *in[1] : *in[2], integer(0) ? at[1] : at[2]);
  else if (isa<math::FmaOp>(op))
    out.setReal(i, std::fma(real(0), real(1), real(2)));
  else
    return !in.empty() && castElement(op, *in[0], at[0], out, i);
  return true;
}

static std::optional<Tensor> constantTensor(Operation *op) {
  Attribute data;
  if (!matchPattern(op, m_Constant(&data)))
    return std::nullopt;
  Tensor result = storedTensor(op->getResult(0).getType());
  if (auto dense = dyn_cast<DenseElementsAttr>(data)) {
    if (!dense.getElementType().isIndex())
      return Tensor::ofAttribute(dense);
    for (auto [i, value] : llvm::enumerate(dense.getValues<APInt>()))
      result.setInteger(i, value.getSExtValue());
  } else if (auto number = dyn_cast<FloatAttr>(data)) {
    result.setReal(0, number.getValueAsDouble());
  } else if (auto number = dyn_cast<IntegerAttr>(data)) {
    result.setInteger(0, number.getValue().getSExtValue());
  } else {
    return std::nullopt;
  }
  return result;
}

std::optional<Tensor> weft::meaningOfArith(Operation *op, Operands in) {
  if (isa<arith::ConstantOp>(op))
    return constantTensor(op);
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      op->getNumResults() != 1)
    return std::nullopt;
  Tensor result = storedTensor(op->getResult(0).getType());
  SmallVector<int64_t, 3> at(in.size());
  for (int64_t i = 0; i < result.size(); ++i) {
    for (auto [k, tensor] : llvm::enumerate(in))
      at[k] = tensor->getShape().empty() ? 0 : i;
    if (!meaningOfElement(op, in, at, result, i))
      return std::nullopt;
  }
  return result;
}
