//===- ShardingTrees.cpp - shardings as builtin attributes, and their text ===//

#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace weft;

Attribute stablehlo::makeSubAxis(StringAttr name, int64_t skip, int64_t size) {
  Builder b(name.getContext());
  return b.getArrayAttr(
      {name, b.getI64IntegerAttr(skip), b.getI64IntegerAttr(size)});
}

Attribute stablehlo::makeShardedDim(ArrayAttr axes, bool closed,
                                    int64_t priority) {
  Builder b(axes.getContext());
  return b.getDictionaryAttr(
      {b.getNamedAttr("axes", axes),
       b.getNamedAttr("closed", b.getBoolAttr(closed)),
       b.getNamedAttr("priority", b.getI64IntegerAttr(priority))});
}

Attribute stablehlo::makeSharding(Attribute mesh, ArrayRef<Attribute> dims,
                                  Attribute replicated, Attribute unreduced) {
  Builder b(mesh.getContext());
  Attribute none = b.getArrayAttr({});
  return b.getDictionaryAttr(
      {b.getNamedAttr("mesh", mesh),
       b.getNamedAttr("dims", b.getArrayAttr(dims)),
       b.getNamedAttr("replicated", replicated ? replicated : none),
       b.getNamedAttr("unreduced", unreduced ? unreduced : none)});
}

Attribute stablehlo::makeMesh(MLIRContext *context, ArrayRef<Attribute> names,
                              ArrayRef<Attribute> sizes,
                              ArrayRef<int64_t> devices) {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr("names", b.getArrayAttr(names)),
       b.getNamedAttr("sizes", b.getArrayAttr(sizes)),
       b.getNamedAttr("devices", b.getDenseI64ArrayAttr(devices))});
}

/// Parses "x" or "x":(2)4.
static ParseResult parseAxis(AsmParser &parser, SmallVector<Attribute> &axes) {
  std::string name;
  int64_t skip = 1, size = 1;
  if (parser.parseString(&name))
    return failure();
  auto text = StringAttr::get(parser.getContext(), name);
  if (parser.parseOptionalColon()) {
    axes.push_back(text);
    return success();
  }
  if (parser.parseLParen() || parser.parseInteger(skip) ||
      parser.parseRParen() || parser.parseInteger(size))
    return failure();
  axes.push_back(stablehlo::makeSubAxis(text, skip, size));
  return success();
}

ParseResult stablehlo::parseAxisList(AsmParser &parser, Attribute &out) {
  SmallVector<Attribute> axes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                     [&] { return parseAxis(parser, axes); }))
    return failure();
  out = ArrayAttr::get(parser.getContext(), axes);
  return success();
}

/// {"x", "y", ?}p1
static ParseResult parseDim(AsmParser &parser, SmallVector<Attribute> &dims) {
  SmallVector<Attribute> axes;
  bool closed = true;
  auto entry = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      closed = false;
      return success();
    }
    return parseAxis(parser, axes);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, entry))
    return failure();
  int64_t priority = 0;
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word)) &&
      (!word.consume_front("p") || word.getAsInteger(10, priority)))
    return parser.emitError(parser.getCurrentLocation(),
                            "expected a priority as p0 after a dimension");
  dims.push_back(stablehlo::makeShardedDim(
      ArrayAttr::get(parser.getContext(), axes), closed, priority));
  return success();
}

/// Parses @mesh, or mesh<...>.
static ParseResult parseMeshOrName(AsmParser &parser, Attribute &mesh) {
  StringAttr name;
  if (succeeded(parser.parseOptionalSymbolName(name))) {
    mesh = name;
    return success();
  }
  return failure(parser.parseKeyword("mesh") ||
                 stablehlo::parseMesh(parser, mesh));
}

ParseResult stablehlo::parseSharding(AsmParser &parser, Attribute &out) {
  Attribute mesh, replicated, unreduced;
  SmallVector<Attribute> dims;
  if (parser.parseLess() || parseMeshOrName(parser, mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseDim(parser, dims); }))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return failure();
    if (word != "replicated" && word != "unreduced")
      return parser.emitError(parser.getCurrentLocation(), "a sharding says '")
             << word << "'; known are replicated and unreduced";
    if (parseAxisList(parser, word == "replicated" ? replicated : unreduced))
      return failure();
  }
  if (parser.parseGreater())
    return failure();
  out = makeSharding(mesh, dims, replicated, unreduced);
  return success();
}

ParseResult stablehlo::parseShardings(AsmParser &parser, Attribute &out) {
  SmallVector<Attribute> all;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseSharding(parser, all.emplace_back());
      }))
    return failure();
  out = ArrayAttr::get(parser.getContext(), all);
  return success();
}

ParseResult stablehlo::parseMesh(AsmParser &parser, Attribute &out) {
  Builder b(parser.getContext());
  SmallVector<Attribute> names, sizes;
  SmallVector<int64_t> devices;
  auto axis = [&]() -> ParseResult {
    std::string name;
    int64_t size = 0;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    names.push_back(b.getStringAttr(name));
    sizes.push_back(b.getI64IntegerAttr(size));
    return success();
  };
  auto device = [&] { return parser.parseInteger(devices.emplace_back()); };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, axis))
    return failure();
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() ||
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, device)))
    return failure();
  out = makeMesh(parser.getContext(), names, sizes, devices);
  return parser.parseGreater();
}

/// Skips a bracket, a sign, a number or a word of a sharding rule.
static ParseResult skipToken(AsmParser &parser) {
  if (succeeded(parser.parseOptionalLParen()) ||
      succeeded(parser.parseOptionalRParen()) ||
      succeeded(parser.parseOptionalLSquare()) ||
      succeeded(parser.parseOptionalRSquare()) ||
      succeeded(parser.parseOptionalLBrace()) ||
      succeeded(parser.parseOptionalRBrace()) ||
      succeeded(parser.parseOptionalArrow()) ||
      succeeded(parser.parseOptionalComma()) ||
      succeeded(parser.parseOptionalEqual()))
    return success();
  int64_t number;
  if (OptionalParseResult found = parser.parseOptionalInteger(number);
      found.has_value())
    return *found;
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word)))
    return success();
  return parser.emitError(parser.getCurrentLocation(),
                          "expected a sharding rule, such as ([i, j])->([i]) "
                          "{i=8, j=4}");
}

/// Skips the rule of a custom call: <([i, j])->([i, j]) {i=4, j=4}, custom>. Ops
/// that are converted have rules of their own.
static Attribute skipShardingRule(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  for (unsigned open = 1; open > 0;) {
    if (succeeded(parser.parseOptionalLess())) {
      ++open;
    } else if (succeeded(parser.parseOptionalGreater())) {
      --open;
    } else if (failed(skipToken(parser))) {
      return {};
    }
  }
  return UnitAttr::get(parser.getContext());
}

Attribute stablehlo::parseShardyAttribute(DialectAsmParser &parser) {
  StringRef kind;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&kind))
    return {};
  Attribute out;
  if (kind == "sharding")
    return parseSharding(parser, out) ? Attribute() : out;
  if (kind == "mesh")
    return parseMesh(parser, out) ? Attribute() : out;
  if (kind == "sharding_per_value") {
    if (parser.parseLess() || parseShardings(parser, out) ||
        parser.parseGreater())
      return {};
    return out;
  }
  if (kind == "op_sharding_rule")
    return skipShardingRule(parser);
  if (kind == "manual_axes")
    return parseAxisList(parser, out) ? Attribute() : out;
  // The axes of a collective in generic form are skipped.
  if (kind == "axis_ref_list" || kind == "list_of_axis_ref_lists" ||
      kind == "all_to_all_param_list")
    return skipMovedAxes(parser) ? Attribute()
                                 : UnitAttr::get(parser.getContext());
  parser.emitError(loc, "#sdy.")
      << kind
      << " is not read; known are sharding, sharding_per_value, mesh "
         "and manual_axes";
  return {};
}
