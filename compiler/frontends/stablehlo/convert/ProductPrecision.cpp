//===- ProductPrecision.cpp - how exact products are asked to be ----------===//

#include "weft/compiler/frontends/stablehlo/convert/ProductPrecision.h"

#include "weft/dialects/weft/ElementTypes.h"

using namespace mlir;

namespace weft::stablehlo {

/// A field of `algorithm`; in portable artifacts the fields are attributes of
/// the op.
template <class Kind> static Kind fieldOf(ForeignOp op, StringRef name) {
  auto algorithm = dyn_cast_or_null<DictionaryAttr>(op.attribute("algorithm"));
  return dyn_cast_or_null<Kind>(algorithm ? algorithm.get(name)
                                          : op.attribute(name));
}

static FloatType floatOf(ForeignOp op, StringRef name) {
  auto type = fieldOf<TypeAttr>(op, name);
  return type ? dyn_cast<FloatType>(type.getValue()) : FloatType();
}

static bool isOneOf(ForeignOp op, StringRef name) {
  auto count = fieldOf<IntegerAttr>(op, name);
  return !count || count.getValue().getSExtValue() == 1;
}

/// The precision for an algorithm. tf32 is exact enough if there is one product
/// of numbers whose significands have at most kBits bits.
static Precision precisionOfAlgorithm(ForeignOp op, FloatType lhs,
                                      FloatType rhs) {
  constexpr unsigned kBits = 11; // including the implicit bit
  bool isOneProduct = isOneOf(op, "lhs_component_count") &&
                      isOneOf(op, "rhs_component_count") &&
                      isOneOf(op, "num_primitive_operations");
  bool isShort =
      lhs.getFPMantissaWidth() <= kBits && rhs.getFPMantissaWidth() <= kBits;
  return isOneProduct && isShort ? Precision::Tf32 : Precision::Highest;
}

static FailureOr<Precision> precisionOfWords(ForeignOp op) {
  auto highest = Precision::Default;
  auto words = dyn_cast_or_null<ArrayAttr>(op.attribute("precision_config"));
  for (Attribute each : words ? words.getValue() : ArrayRef<Attribute>()) {
    auto word = dyn_cast<StringAttr>(each);
    std::string lower = word ? word.getValue().lower() : "";
    std::optional<Precision> precision = symbolizePrecision(lower);
    if (!precision || *precision > Precision::Highest)
      return op.refuse() << "has precision " << each
                         << "; it is DEFAULT, HIGH or HIGHEST";
    highest = std::max(highest, *precision);
  }
  return highest;
}

FailureOr<ProductPrecision> productPrecisionOf(ForeignOp op) {
  FailureOr<Precision> precision = precisionOfWords(op);
  if (failed(precision))
    return failure();
  Type element = op.resultType().getElementType();
  ProductPrecision found{*precision, element};
  FloatType lhs = floatOf(op, "lhs_precision_type"),
            rhs = floatOf(op, "rhs_precision_type"),
            sums = floatOf(op, "accumulation_type");
  if (!lhs || !rhs || !sums || !isa<FloatType>(element))
    return found;
  if (found.precision != Precision::Highest)
    found.precision = precisionOfAlgorithm(op, lhs, rhs);
  // An accumulation type that is not supported, such as tf32, is ignored.
  bool isWider =
      sums != element && isSupported(sums) && isExactIn(element, sums);
  if (isWider)
    found.sums = sums;
  return found;
}

} // namespace weft::stablehlo
