//===- ShardyForms.cpp - printed forms of Shardy's collectives ------------===//
//
//   sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<..>
//   sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<..>
//   sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]> : ..
//   sdy.collective_permute %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<..>
//
// The axes before the operand are skipped, as the shardings of operand and
// result imply them.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;

/// Skips {"x"}, {"x"}: 0->1 or {"x"} 0->1.
static ParseResult skipAxes(AsmParser &parser) {
  Attribute axes;
  if (stablehlo::parseAxisList(parser, axes))
    return failure();
  int64_t from = 0, to = 0;
  if (succeeded(parser.parseOptionalColon()))
    return failure(parser.parseInteger(from) || parser.parseArrow() ||
                   parser.parseInteger(to));
  OptionalParseResult found = parser.parseOptionalInteger(from);
  if (!found.has_value())
    return success();
  return failure(failed(*found) || parser.parseArrow() ||
                 parser.parseInteger(to));
}

ParseResult stablehlo::skipMovedAxes(AsmParser &parser) {
  if (failed(parser.parseOptionalLSquare()))
    return skipAxes(parser);
  if (succeeded(parser.parseOptionalRSquare()))
    return success();
  do {
    if (skipAxes(parser))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRSquare();
}

ParseResult stablehlo::parseShardyCollective(OpAsmParser &parser,
                                             OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands(1);
  OptionalParseResult found = parser.parseOptionalOperand(operands[0]);
  if (!found.has_value()) {
    if (skipMovedAxes(parser))
      return failure();
    found = parser.parseOperand(operands[0]);
  }
  Attribute sharding;
  if (failed(*found) || parser.parseKeyword("out_sharding") ||
      parser.parseEqual() || parseSharding(parser, sharding) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  state.attributes.set("out_sharding", sharding);
  return parseOpTypes(parser, state, operands);
}

ParseResult stablehlo::parseDataFlowEdge(OpAsmParser &parser,
                                         OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands(1);
  Attribute sharding;
  if (parser.parseOperand(operands[0]))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("sharding"))) {
    if (parser.parseEqual() || parseSharding(parser, sharding))
      return failure();
    state.attributes.set("sharding", sharding);
  }
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  return parseOpTypes(parser, state, operands);
}
