//===- RegionForms.cpp - printed forms with regions or windows ------------===//

#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;

namespace {

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;
using Arguments = SmallVector<OpAsmParser::Argument>;

/// Builds the region of `applies stablehlo.add`, which applies one op to two
/// scalars.
void buildBody(OpAsmParser &parser, OperationState &state, StringRef name,
               Type element) {
  OpBuilder builder(parser.getContext());
  Region *region = state.addRegion();
  Block *block = builder.createBlock(region);
  Type scalar = RankedTensorType::get({}, element);
  Location loc = state.location;
  Value lhs = block->addArgument(scalar, loc);
  Value rhs = block->addArgument(scalar, loc);
  OperationState body(loc, name);
  body.addOperands({lhs, rhs});
  body.addTypes(scalar);
  Operation *op = builder.create(body);
  OperationState end(loc, "stablehlo.return");
  end.addOperands(op->getResults());
  builder.create(end);
}

/// Parses (%a: t, %b: t) (%c: t, %d: t) { ... }; the arguments of the region
/// are a, c, b, d.
ParseResult parseReducer(OpAsmParser &parser, OperationState &state,
                         size_t count) {
  Arguments left(count), right(count);
  for (size_t i = 0; i < count; ++i)
    if (parser.parseLParen() || parser.parseArgument(left[i], true) ||
        parser.parseComma() || parser.parseArgument(right[i], true) ||
        parser.parseRParen())
      return failure();
  left.append(right);
  return parser.parseRegion(*state.addRegion(), left);
}

/// Parses (%a init: %c), (%b init: %d)
ParseResult parseReduced(OpAsmParser &parser, Operands &inputs,
                         Operands &inits) {
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

/// Parses the entries of `window = {...}`.
ParseResult parseWindow(OpAsmParser &parser, NamedAttrList &out) {
  static constexpr std::pair<StringLiteral, StringLiteral> names[] = {
      {"stride", "window_strides"},
      {"pad", "padding"},
      {"lhs_dilate", "lhs_dilation"},
      {"rhs_dilate", "rhs_dilation"},
      {"reverse", "window_reversal"}};
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        StringRef key;
        Attribute value;
        llvm::SMLoc loc = parser.getCurrentLocation();
        if (parser.parseKeyword(&key) || parser.parseEqual() ||
            parser.parseAttribute(value))
          return failure();
        for (auto [written, attribute] : names)
          if (written == key) {
            out.set(attribute, value);
            return success();
          }
        return parser.emitError(loc, "a window has no '")
               << key << "' that is known";
      });
}

} // namespace

ParseResult stablehlo::parseReduce(OpAsmParser &parser, OperationState &state) {
  Operands inputs, inits;
  StringRef name;
  Attribute dims;
  if (parseReduced(parser, inputs, inits))
    return failure();
  size_t count = inputs.size();
  // An op's name is parsed as one keyword, which can contain a dot.
  if (succeeded(parser.parseOptionalKeyword("applies")) &&
      parser.parseKeyword(&name))
    return failure();
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual() || parser.parseAttribute(dims) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.attributes.set("dimensions", dims);
  inputs.append(inits);
  if (parseOpTypes(parser, state, inputs))
    return failure();
  if (name.empty())
    return failure(parser.parseKeyword("reducer") ||
                   parseReducer(parser, state, count));
  auto type =
      state.types.empty() ? ShapedType() : dyn_cast<ShapedType>(state.types[0]);
  if (!type)
    return parser.emitError(parser.getNameLoc(), "a reduce without results");
  buildBody(parser, state, name, type.getElementType());
  return success();
}

ParseResult stablehlo::parseWhile(OpAsmParser &parser, OperationState &state) {
  Operands operands;
  Arguments arguments;
  auto pair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  SmallVector<Type> types;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, pair) ||
      (!operands.empty() && parser.parseColonTypeList(types)) ||
      parser.resolveOperands(operands, types, loc, state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  state.addTypes(types);
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  return failure(parser.parseKeyword("cond") ||
                 parser.parseRegion(*state.addRegion(), arguments) ||
                 parser.parseKeyword("do") ||
                 parser.parseRegion(*state.addRegion(), arguments));
}

ParseResult stablehlo::parseManualComputation(OpAsmParser &parser,
                                              OperationState &state) {
  Operands operands;
  Arguments arguments;
  std::string name;
  bool named = state.name.getStringRef() == "sdy.named_computation";
  if (named && (parser.parseLess() || parser.parseString(&name) ||
                parser.parseGreater()))
    return failure();
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren))
    return failure();
  for (StringRef key : {"in_shardings", "out_shardings"}) {
    Attribute shardings;
    if (named && parser.parseOptionalKeyword(key))
      continue;
    if ((!named && parser.parseKeyword(key)) || parser.parseEqual() ||
        parseShardings(parser, shardings))
      return failure();
    state.attributes.set(key, shardings);
  }
  Attribute axes;
  if (!named && (parser.parseKeyword("manual_axes") || parser.parseEqual() ||
                 parseAxisList(parser, axes)))
    return failure();
  if (axes)
    state.attributes.set("manual_axes", axes);
  return failure(parser.parseArgumentList(
                     arguments, OpAsmParser::Delimiter::Paren, true) ||
                 parser.parseRegion(*state.addRegion(), arguments) ||
                 parser.parseOptionalAttrDict(state.attributes) ||
                 parseOpTypes(parser, state, operands));
}

ParseResult stablehlo::parseConvolution(OpAsmParser &parser,
                                        OperationState &state) {
  Operands operands;
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dim_numbers") || parser.parseEqual() ||
      parseConvolutionDims(parser, state.attributes) || parser.parseComma() ||
      parser.parseKeyword("window") || parser.parseEqual() ||
      parseWindow(parser, state.attributes) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  return parseOpTypes(parser, state, operands);
}
