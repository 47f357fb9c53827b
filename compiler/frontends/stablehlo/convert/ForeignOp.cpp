//===- ForeignOp.cpp - one op of StableHLO, as it was read ----------------===//

#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

/// Removes the version of a name: add_v1 -> add.
static StringRef withoutVersion(StringRef name) {
  auto [stem, version] = name.rsplit("_v");
  unsigned number;
  return version.empty() || version.getAsInteger(10, number) ? name : stem;
}

std::string ForeignOp::name() const {
  auto [dialect, op] = this->op->getName().getStringRef().split('.');
  if (dialect == "vhlo") {
    op = withoutVersion(op);
    if (op == "call" || op == "func")
      return "func." + op.str();
    return op.str();
  }
  if (dialect == "stablehlo")
    return op.str();
  return (dialect + "." + op).str();
}

Ints stablehlo::integersOf(Attribute attribute) {
  Ints out;
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attribute)) {
    out.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  } else if (auto bits = dyn_cast_or_null<DenseBoolArrayAttr>(attribute)) {
    out.assign(bits.asArrayRef().begin(), bits.asArrayRef().end());
  } else if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    bool truth = dense.getElementType().isInteger(1);
    for (const APInt &value : dense)
      out.push_back(truth ? value.getZExtValue()
                          : value.sextOrTrunc(64).getSExtValue());
  } else if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
    for (Attribute entry : array) {
      if (auto value = dyn_cast<IntegerAttr>(entry))
        out.push_back(value.getType().isInteger(1)
                          ? value.getValue().getZExtValue()
                          : value.getValue().sextOrTrunc(64).getSExtValue());
      else
        out.append(integersOf(entry));
    }
  }
  return out;
}

Ints ForeignOp::ints(StringRef name) const {
  return integersOf(attribute(name));
}

Ints ForeignOp::ints(StringRef name, size_t count, int64_t fallback) const {
  return attribute(name) ? ints(name) : Ints(count, fallback);
}

std::optional<int64_t> ForeignOp::integer(StringRef name) const {
  auto value = dyn_cast_or_null<IntegerAttr>(attribute(name));
  if (!value)
    return std::nullopt;
  return value.getValue().sextOrTrunc(64).getSExtValue();
}

bool ForeignOp::flag(StringRef name) const {
  auto value = dyn_cast_or_null<BoolAttr>(attribute(name));
  return value && value.getValue();
}

StringRef ForeignOp::word(StringRef name) const {
  auto value = dyn_cast_or_null<StringAttr>(attribute(name));
  return value ? value.getValue() : StringRef();
}

RankedTensorType ForeignOp::operandType(unsigned index) const {
  return index < op->getNumOperands()
             ? dyn_cast<RankedTensorType>(op->getOperand(index).getType())
             : RankedTensorType();
}

RankedTensorType ForeignOp::resultType(unsigned index) const {
  return index < op->getNumResults()
             ? dyn_cast<RankedTensorType>(op->getResult(index).getType())
             : RankedTensorType();
}

InFlightDiagnostic ForeignOp::refuse() const {
  return emitError(op->getLoc()) << "'" << op->getName() << "' ";
}

StringRef stablehlo::wayOutOf(Type element) {
  return isa<quant::QuantizedType>(element)
             ? "; quantized types are none: compute with floats, (integer - "
               "zero point) * scale"
             : "";
}

bool stablehlo::isSupported(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.isSignless() ? llvm::is_contained({1, 2, 4, 8, 16, 32, 64},
                                                     integer.getWidth())
                                : integer.isUnsigned() &&
                                      llvm::is_contained({2, 4, 8, 16, 32, 64},
                                                         integer.getWidth());
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().isF32() || complex.getElementType().isF64();
  return element.isF32() || element.isF64() || element.isF16() ||
         element.isBF16() ||
         (isa<FloatType>(element) &&
          llvm::is_contained({4, 8}, element.getIntOrFloatBitWidth()));
}
