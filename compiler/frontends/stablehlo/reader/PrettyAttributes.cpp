//===- PrettyAttributes.cpp - attributes of StableHLO as builtin ones -----===//

#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace weft;

namespace {

/// Parses dimension numbers such as [b, 0, 1, f], which give the positions of
/// two letters and of the spatial dimensions.
ParseResult parseDimList(AsmParser &parser, StringRef prefix, StringRef first,
                         StringRef second, StringRef firstName,
                         StringRef secondName, NamedAttrList &out) {
  SmallVector<int64_t> spatial;
  int64_t position = 0, firstAt = -1, secondAt = -1;
  auto entry = [&]() -> ParseResult {
    StringRef word;
    int64_t number = 0;
    llvm::SMLoc loc = parser.getCurrentLocation();
    OptionalParseResult found = parser.parseOptionalInteger(number);
    if (found.has_value()) {
      if (failed(*found) || number < 0 || number > 64)
        return parser.emitError(loc, "no spatial dimension has number ")
               << number;
      spatial.resize(std::max<size_t>(spatial.size(), number + 1), -1);
      spatial[number] = position++;
      return success();
    }
    if (parser.parseKeyword(&word))
      return failure();
    if (word != first && word != second)
      return parser.emitError(loc, "expected a number, '")
             << first << "' or '" << second << "', found '" << word << "'";
    (word == first ? firstAt : secondAt) = position++;
    return success();
  };
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, entry))
    return failure();
  if (firstAt < 0 || secondAt < 0 || llvm::is_contained(spatial, -1))
    return parser.emitError(loc, "dimension numbers leave a dimension out");
  Builder &b = parser.getBuilder();
  std::string start = prefix.str();
  out.set(start + firstName.str(), b.getI64IntegerAttr(firstAt));
  out.set(start + secondName.str(), b.getI64IntegerAttr(secondAt));
  out.set(start + "_spatial_dimensions", b.getDenseI64ArrayAttr(spatial));
  return success();
}

/// Parses <key = value, key = value>.
Attribute parseDictionary(AsmParser &parser) {
  NamedAttrList out;
  auto entry = [&]() -> ParseResult {
    StringRef key;
    Attribute value;
    if (parser.parseKeyword(&key) || parser.parseEqual() ||
        parser.parseAttribute(value))
      return failure();
    out.set(key, value);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, entry))
    return {};
  return out.getDictionary(parser.getContext());
}

/// Whether attributes of this kind are enumerations, which are read as strings.
bool isEnumeration(StringRef kind) {
  return llvm::is_contained({"precision", "comparison_direction",
                             "comparison_type", "fft_type", "rng_algorithm",
                             "rng_distribution", "transpose",
                             "result_accuracy_mode", "custom_call_api_version"},
                            kind);
}

} // namespace

ParseResult stablehlo::parseConvolutionDims(AsmParser &parser,
                                            NamedAttrList &out) {
  return failure(parseDimList(parser, "input", "b", "f", "_batch_dimension",
                              "_feature_dimension", out) ||
                 parser.parseKeyword("x") ||
                 parseDimList(parser, "kernel", "i", "o",
                              "_input_feature_dimension",
                              "_output_feature_dimension", out) ||
                 parser.parseArrow() ||
                 parseDimList(parser, "output", "b", "f", "_batch_dimension",
                              "_feature_dimension", out));
}

Attribute stablehlo::parseStablehloAttribute(DialectAsmParser &parser) {
  StringRef kind, word;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&kind))
    return {};
  if (isEnumeration(kind)) {
    // #stablehlo<precision DEFAULT> or #stablehlo.precision<DEFAULT>
    bool angled = succeeded(parser.parseOptionalLess());
    if (parser.parseKeyword(&word) || (angled && parser.parseGreater()))
      return {};
    return StringAttr::get(parser.getContext(), word);
  }
  if (kind == "conv") {
    NamedAttrList dims;
    if (parser.parseLess() || parseConvolutionDims(parser, dims) ||
        parser.parseGreater())
      return {};
    return dims.getDictionary(parser.getContext());
  }
  if (llvm::is_contained({"gather", "scatter", "dot", "channel_handle",
                          "dot_algorithm", "output_operand_alias",
                          "result_accuracy"},
                         kind))
    return parseDictionary(parser);
  parser.emitError(loc, "#stablehlo.") << kind << " is not read";
  return {};
}
