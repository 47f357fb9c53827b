//===- ConvertLinearAlgebra.cpp - factors, solutions, Fourier transforms --===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

LogicalResult cholesky(Converter &c, ForeignOp op) {
  return c.give(op, c.make<CholeskyOp>(op, c.input(op, 0), !op.flag("lower")));
}

LogicalResult triangularSolve(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 2)
    return op.refuse() << "has " << op->getNumOperands() << " operands, not 2";
  StringRef form = op.word("transpose_a");
  bool adjoint = form == "ADJOINT";
  bool isComplex = isa<ComplexType>(op.resultType().getElementType());
  return c.give(op,
                c.make<TriangularSolveOp>(
                    op, c.input(op, 0), c.input(op, 1), !op.flag("left_side"),
                    op.flag("lower"), op.flag("unit_diagonal"),
                    adjoint || form == "TRANSPOSE", adjoint && isComplex));
}

LogicalResult fft(Converter &c, ForeignOp op) {
  auto kind = llvm::StringSwitch<std::optional<FftKind>>(op.word("fft_type"))
                  .Case("FFT", FftKind::FFT)
                  .Case("IFFT", FftKind::IFFT)
                  .Case("RFFT", FftKind::RFFT)
                  .Case("IRFFT", FftKind::IRFFT)
                  .Default(std::nullopt);
  Ints lengths = op.ints("fft_length");
  auto rank = static_cast<size_t>(op.operandType(0).getRank());
  if (!kind || lengths.empty() || lengths.size() > rank)
    return op.refuse() << "names no transform and lengths of its " << rank
                       << " dimensions";
  if (op.resultType().getNumElements() == 0)
    return c.give(op, c.splat(op, 0, op.resultType()));
  return c.give(
      op, buildFft(c.builder, op->getLoc(), *kind, c.input(op, 0), lengths));
}

constexpr ConversionEntry kEntries[] = {
    {"cholesky", cholesky},
    {"triangular_solve", triangularSolve},
    {"fft", fft},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::linearAlgebraConversions() {
  return kEntries;
}
