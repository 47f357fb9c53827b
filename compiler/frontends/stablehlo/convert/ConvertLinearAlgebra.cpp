//===- ConvertLinearAlgebra.cpp - factors, solutions, Fourier transforms --===//
//
//   custom_call @lapack_dgetrf_ffi(%a) {mhlo.backend_config = {}}
//
// becomes weft.lapack "dgetrf"(%a): JAX writes such calls for CPUs.
//
//===----------------------------------------------------------------------===//

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

/// The number of an option: a letter, a flag or an integer; nothing if the
/// attribute is none.
std::optional<int64_t> optionOf(DictionaryAttr config, StringRef name) {
  Attribute value = config ? config.get(name) : Attribute();
  if (auto flag = dyn_cast_or_null<BoolAttr>(value))
    return flag.getValue();
  if (auto number = dyn_cast_or_null<IntegerAttr>(value))
    if (APInt bits = number.getValue(); bits.getBitWidth() <= 64)
      return number.getType().isUnsignedInteger()
                 ? static_cast<int64_t>(bits.getZExtValue())
                 : bits.getSExtValue();
  return std::nullopt;
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

std::optional<StringRef> stablehlo::routineOfCall(StringRef target) {
  if (target.consume_front("lapack_") && target.consume_back("_ffi"))
    return target;
  return std::nullopt;
}

LogicalResult stablehlo::convertLapack(Converter &c, ForeignOp op,
                                       StringRef routine) {
  Result<lapack::Named> named = lapack::findRoutine(routine);
  if (!named)
    return op.refuse() << named.message();
  auto config =
      dyn_cast_or_null<DictionaryAttr>(op.attribute("mhlo.backend_config"));
  if (!config)
    config = dyn_cast_or_null<DictionaryAttr>(op.attribute("backend_config"));
  Ints options;
  for (const lapack::OptionForm &form : named->routine->options) {
    std::optional<int64_t> value = optionOf(config, form.name);
    if (!value)
      return op.refuse() << "calls " << routine << " without a number \""
                         << form.name << "\" in its backend_config";
    options.push_back(*value);
  }
  OperationState state(op->getLoc(), LapackOp::getOperationName());
  LapackOp::build(c.builder, state, op->getResultTypes(),
                  c.builder.getStringAttr(routine), c.inputs(op),
                  c.builder.getDenseI64ArrayAttr(options));
  // What the verifier would find in the op, in terms of the file.
  OwningOpRef<Operation *> made = Operation::create(state);
  Result<lapack::Call> call = cast<LapackOp>(*made).getCall();
  if (!call)
    return op.refuse() << "calls " << routine << ": " << call.message();
  return c.give(op, c.builder.insert(made.release())->getResults());
}
