//===- PrettyForms.cpp - ops as StableHLO, CHLO and Shardy print them -----===//
//
// Nearly all ops have one form, which parseClauses reads:
//
//   NAME [WORD,] %operands [, key = value]* [, WORD] {attributes} : types
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace weft;

namespace {

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

/// The kind of value in `key = value`. A clause with an empty `op` is for all
/// ops.
enum class Kind {
  Attribute,
  Pair,
  Words,
  Word,
  Text,
  Bool,
  Precision,
  Algorithm
};
struct Clause {
  StringLiteral op, key;
  Kind kind;
  StringLiteral attribute, second;
};

constexpr Clause kClauses[] = {
    {"broadcast_in_dim", "dims", Kind::Attribute, "broadcast_dimensions", ""},
    {"dynamic_broadcast_in_dim", "dims", Kind::Attribute,
     "broadcast_dimensions", ""},
    {"broadcast", "sizes", Kind::Attribute, "broadcast_sizes", ""},
    {"einsum", "config", Kind::Text, "einsum_config", ""},
    {"unary_einsum", "config", Kind::Text, "einsum_config", ""},
    {"set_dimension_size", "dim", Kind::Attribute, "dimension", ""},
    {"transpose", "dims", Kind::Attribute, "permutation", ""},
    {"reverse", "dims", Kind::Attribute, "dimensions", ""},
    {"dynamic_iota", "dim", Kind::Attribute, "iota_dimension", ""},
    {"iota", "dim", Kind::Attribute, "iota_dimension", ""},
    {"concatenate", "dim", Kind::Attribute, "dimension", ""},
    {"get_dimension_size", "dim", Kind::Attribute, "dimension", ""},
    {"pad", "low", Kind::Attribute, "edge_padding_low", ""},
    {"pad", "high", Kind::Attribute, "edge_padding_high", ""},
    {"pad", "interior", Kind::Attribute, "interior_padding", ""},
    {"dynamic_slice", "sizes", Kind::Attribute, "slice_sizes", ""},
    {"dot_general", "batching_dims", Kind::Pair, "lhs_batching_dimensions",
     "rhs_batching_dimensions"},
    {"dot_general", "contracting_dims", Kind::Pair,
     "lhs_contracting_dimensions", "rhs_contracting_dimensions"},
    {"", "precision", Kind::Words, "precision_config", ""},
    {"dot_general", "algorithm", Kind::Algorithm, "algorithm", ""},
    {"rng_bit_generator", "algorithm", Kind::Word, "rng_algorithm", ""},
    {"rng", "distribution", Kind::Word, "rng_distribution", ""},
    {"reduce_precision", "format", Kind::Precision, "exponent_bits",
     "mantissa_bits"},
    {"fft", "type", Kind::Word, "fft_type", ""},
    {"fft", "length", Kind::Attribute, "fft_length", ""},
    {"cholesky", "lower", Kind::Bool, "lower", ""},
    {"top_k", "k", Kind::Attribute, "k", ""},
    {"sharding_group", "group_id", Kind::Attribute, "group_id", ""},
    {"propagation_barrier", "allowed_direction", Kind::Word,
     "allowed_direction", ""},
};

StringRef stem(StringRef name) { return name.split('.').second; }

/// e8m7 -> 8, 7.
ParseResult parsePrecision(OpAsmParser &parser, const Clause &clause,
                           NamedAttrList &out) {
  StringRef word;
  int64_t exponent = 0, mantissa = 0;
  if (parser.parseKeyword(&word))
    return failure();
  if (!word.consume_front("e") || word.consumeInteger(10, exponent) ||
      !word.consume_front("m") || word.getAsInteger(10, mantissa))
    return parser.emitError(parser.getCurrentLocation(),
                            "expected a float format as e8m7");
  Builder &b = parser.getBuilder();
  out.set(clause.attribute, b.getI64IntegerAttr(exponent));
  out.set(clause.second, b.getI64IntegerAttr(mantissa));
  return success();
}

/// Parses <lhs_precision_type = tf32, ...> to a dictionary.
ParseResult parseAlgorithm(OpAsmParser &parser, const Clause &clause,
                           NamedAttrList &out) {
  NamedAttrList entries;
  auto entry = [&]() -> ParseResult {
    StringRef key;
    Attribute value;
    if (parser.parseKeyword(&key) || parser.parseEqual() ||
        parser.parseAttribute(value))
      return failure();
    entries.set(key, value);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, entry))
    return failure();
  out.set(clause.attribute, entries.getDictionary(parser.getContext()));
  return success();
}

ParseResult parseWords(OpAsmParser &parser, const Clause &clause,
                       NamedAttrList &out) {
  SmallVector<StringRef> words;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseKeyword(&words.emplace_back());
      }))
    return failure();
  out.set(clause.attribute, parser.getBuilder().getStrArrayAttr(words));
  return success();
}

ParseResult parseValue(OpAsmParser &parser, const Clause &clause,
                       NamedAttrList &out) {
  Attribute value, second;
  StringRef word;
  switch (clause.kind) {
  case Kind::Attribute: {
    // Integers are parsed separately, since parseAttribute would also parse ` :
    // type`.
    int64_t number = 0;
    OptionalParseResult found = parser.parseOptionalInteger(number);
    if (found.has_value() ? failed(*found)
                          : failed(parser.parseAttribute(value)))
      return failure();
    if (found.has_value())
      value = parser.getBuilder().getI64IntegerAttr(number);
    out.set(clause.attribute, value);
    return success();
  }
  case Kind::Pair:
    if (parser.parseAttribute(value) || parser.parseKeyword("x") ||
        parser.parseAttribute(second))
      return failure();
    out.set(clause.attribute, value);
    out.set(clause.second, second);
    return success();
  case Kind::Word:
  case Kind::Bool:
    if (parser.parseKeyword(&word))
      return failure();
    out.set(clause.attribute,
            clause.kind == Kind::Word
                ? Attribute(parser.getBuilder().getStringAttr(word))
                : parser.getBuilder().getBoolAttr(word == "true"));
    return success();
  case Kind::Text: { // parseAttribute would also parse ` : type`
    std::string text;
    if (parser.parseString(&text))
      return failure();
    out.set(clause.attribute, parser.getBuilder().getStringAttr(text));
    return success();
  }
  case Kind::Words:
    return parseWords(parser, clause, out);
  case Kind::Precision:
    return parsePrecision(parser, clause, out);
  case Kind::Algorithm:
    return parseAlgorithm(parser, clause, out);
  }
  llvm_unreachable("all kinds are handled");
}

/// Parses one `key = value`, or the type of comparison in compare.
ParseResult parseClause(OpAsmParser &parser, OperationState &state) {
  StringRef op = stem(state.name.getStringRef()), key;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&key))
    return failure();
  if (op == "compare") {
    state.attributes.set("compare_type",
                         parser.getBuilder().getStringAttr(key));
    return success();
  }
  for (const Clause &clause : kClauses)
    if ((clause.op.empty() || clause.op == op) && clause.key == key)
      return failure(parser.parseEqual() ||
                     parseValue(parser, clause, state.attributes));
  return parser.emitError(loc, "'")
         << state.name << "' has no clause '" << key << "' that is known";
}

/// [0:2, 1:5:2]
ParseResult parseSliceRanges(OpAsmParser &parser, NamedAttrList &out) {
  SmallVector<int64_t> start, limit, stride;
  auto range = [&]() -> ParseResult {
    stride.push_back(1);
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(limit.emplace_back()))
      return failure();
    return succeeded(parser.parseOptionalColon())
               ? parser.parseInteger(stride.back())
               : success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, range))
    return failure();
  Builder &b = parser.getBuilder();
  out.set("start_indices", b.getDenseI64ArrayAttr(start));
  out.set("limit_indices", b.getDenseI64ArrayAttr(limit));
  out.set("strides", b.getDenseI64ArrayAttr(stride));
  return success();
}

/// Parses the index [1] of get_tuple_element.
ParseResult parseIndex(OpAsmParser &parser, NamedAttrList &out) {
  int64_t index = 0;
  if (parser.parseLSquare() || parser.parseInteger(index) ||
      parser.parseRSquare())
    return failure();
  out.set("index", parser.getBuilder().getI64IntegerAttr(index));
  return success();
}

/// Parses operands and clauses in any order, separated by commas.
ParseResult parseItems(OpAsmParser &parser, OperationState &state,
                       Operands &operands) {
  do {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (!found.has_value()) {
      if (parseClause(parser, state))
        return failure();
      continue;
    }
    if (failed(*found))
      return failure();
    operands.push_back(operand);
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

ParseResult parseClauses(OpAsmParser &parser, OperationState &state) {
  StringRef name = state.name.getStringRef(), op = stem(name);
  Operands operands;
  StringRef word;
  if (op == "compare") {
    if (parser.parseKeyword(&word) || parser.parseComma())
      return failure();
    state.attributes.set("comparison_direction",
                         parser.getBuilder().getStringAttr(word));
  }
  bool paren = name == "chlo.top_k";
  if (paren && parser.parseLParen())
    return failure();
  // Some ops have no operand, such as `stablehlo.iota` and
  // `stablehlo.partition_id`, and `stablehlo.return` may have none.
  OpAsmParser::UnresolvedOperand first;
  OptionalParseResult found = parser.parseOptionalOperand(first);
  if (found.has_value()) {
    if (failed(*found))
      return failure();
    operands.push_back(first);
    if (op == "get_tuple_element" && parseIndex(parser, state.attributes))
      return failure();
    if (succeeded(parser.parseOptionalComma()) &&
        parseItems(parser, state, operands))
      return failure();
  } else if (op == "iota" && parseClause(parser, state)) {
    return failure();
  }
  // Two ops of Shardy have no comma before their clause.
  if ((op == "sharding_group" || op == "propagation_barrier") &&
      parseClause(parser, state))
    return failure();
  if (op == "slice" && parseSliceRanges(parser, state.attributes))
    return failure();
  if (paren && parser.parseRParen())
    return failure();
  return failure(parser.parseOptionalAttrDict(state.attributes) ||
                 stablehlo::parseOpTypes(parser, state, operands));
}

ParseResult parseConstant(OpAsmParser &parser, OperationState &state) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseAttribute(value))
    return failure();
  state.attributes.set("value", value);
  state.addTypes(value.getType());
  return success();
}

/// Parses @name(%operands)
ParseResult parseCustomCall(OpAsmParser &parser, OperationState &state) {
  StringAttr target;
  Operands operands;
  if (parser.parseSymbolName(target) ||
      parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.attributes.set("call_target_name", target);
  return stablehlo::parseOpTypes(parser, state, operands);
}

/// Parses "name" %operands
ParseResult parseComposite(OpAsmParser &parser, OperationState &state) {
  std::string name;
  Operands operands;
  if (parser.parseString(&name) || parser.parseOperandList(operands) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.attributes.set("name", parser.getBuilder().getStringAttr(name));
  return stablehlo::parseOpTypes(parser, state, operands);
}

/// Parses @name = <...>
ParseResult parseMeshOp(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  Attribute mesh;
  if (parser.parseSymbolName(name) || parser.parseEqual() ||
      stablehlo::parseMesh(parser, mesh) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.attributes.set("sym_name", name);
  state.attributes.set("mesh", mesh);
  return success();
}

/// Parses %value <...> : type
ParseResult parseConstraint(OpAsmParser &parser, OperationState &state) {
  Operands operands(1);
  Attribute sharding;
  if (parser.parseOperand(operands[0]) ||
      stablehlo::parseSharding(parser, sharding) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.attributes.set("sharding", sharding);
  return stablehlo::parseOpTypes(parser, state, operands);
}

using Form = ParseResult (*)(OpAsmParser &, OperationState &);
Form formOf(StringRef name) {
  return llvm::StringSwitch<Form>(name)
      .Case("stablehlo.constant", parseConstant)
      .Case("chlo.constant", parseConstant)
      .Case("stablehlo.custom_call", parseCustomCall)
      .Case("stablehlo.composite", parseComposite)
      .Case("stablehlo.reduce", stablehlo::parseReduce)
      .Case("stablehlo.while", stablehlo::parseWhile)
      .Case("stablehlo.convolution", stablehlo::parseConvolution)
      .Case("sdy.mesh", parseMeshOp)
      .Case("sdy.constant", parseConstant)
      .Cases({"sdy.all_gather", "sdy.all_reduce", "sdy.all_slice",
              "sdy.all_to_all", "sdy.collective_permute", "sdy.reduce_scatter",
              "sdy.replicated_to_unreduced", "sdy.sharded_to_unreduced"},
             stablehlo::parseShardyCollective)
      .Cases({"sdy.data_flow_edge", "sdy.func_data_flow_edge"},
             stablehlo::parseDataFlowEdge)
      .Cases({"sdy.sharding_constraint", "sdy.reshard"}, parseConstraint)
      .Cases({"sdy.manual_computation", "sdy.named_computation"},
             stablehlo::parseManualComputation)
      .Default(parseClauses);
}

} // namespace

ParseResult stablehlo::parsePrettyOp(OpAsmParser &parser,
                                     OperationState &state) {
  return formOf(state.name.getStringRef())(parser, state);
}

/// Assigns the types of operands and results from a list without an arrow,
/// which has one type for all or depends on the op.
static ParseResult takeTypes(OpAsmParser &parser, StringRef op,
                             ArrayRef<Type> listed, size_t operands,
                             SmallVectorImpl<Type> &inputs,
                             SmallVectorImpl<Type> &results) {
  if (op == "return" || op == "optimization_barrier" ||
      op == "sharding_group") {
    inputs.assign(listed.begin(), listed.end());
    if (op == "optimization_barrier")
      results.assign(listed.begin(), listed.end());
  } else if (op == "select" && listed.size() == 2) {
    inputs.assign({listed[0], listed[1], listed[1]});
    results.assign({listed[1]});
  } else if (auto tuple = listed.size() == 1 && op == "tuple"
                              ? dyn_cast<TupleType>(listed[0])
                              : TupleType()) {
    inputs.assign(tuple.begin(), tuple.end());
    results.assign({listed[0]});
  } else if (auto whole = listed.size() == 1 && op == "complex"
                              ? dyn_cast<RankedTensorType>(listed[0])
                              : RankedTensorType()) {
    inputs.assign(operands, whole.clone(componentType(whole.getElementType())));
    results.assign({listed[0]});
  } else if (listed.size() == 1) {
    inputs.assign(operands, listed[0]);
    results.assign({listed[0]});
  } else {
    return parser.emitError(parser.getCurrentLocation(), "'")
           << op << "' has " << operands << " operands and " << listed.size()
           << " types; expected one type, or (...) -> ...";
  }
  return success();
}

ParseResult
stablehlo::parseOpTypes(OpAsmParser &parser, OperationState &state,
                        ArrayRef<OpAsmParser::UnresolvedOperand> operands) {
  StringRef op = stem(state.name.getStringRef());
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> listed, inputs, results;
  if (parser.parseOptionalColon()) {
    // A return without operands has no types. For other ops missing types mean
    // an unknown form.
    if (op != "return" || !operands.empty())
      return parser.emitError(loc, "'") << state.name.getStringRef()
                                        << "' is written in a form that is not "
                                           "known; expected `:` and its "
                                           "types here, or its generic form";
    return success();
  }
  bool paren = succeeded(parser.parseOptionalLParen());
  if (!paren || parser.parseOptionalRParen()) {
    if (parser.parseTypeList(listed) || (paren && parser.parseRParen()))
      return failure();
  }
  if (paren || succeeded(parser.parseOptionalArrow())) {
    inputs = listed;
    if ((paren && parser.parseArrow()))
      return failure();
    if (succeeded(parser.parseOptionalLParen())) {
      if (parser.parseOptionalRParen() &&
          (parser.parseTypeList(results) || parser.parseRParen()))
        return failure();
    } else if (parser.parseType(results.emplace_back())) {
      return failure();
    }
    if (!paren && inputs.size() == 1)
      inputs.assign(operands.size(), listed[0]);
  } else if (takeTypes(parser, op, listed, operands.size(), inputs, results)) {
    return failure();
  }
  state.addTypes(results);
  return parser.resolveOperands(operands, inputs, loc, state.operands);
}
