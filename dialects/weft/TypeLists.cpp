//===- TypeLists.cpp - types at the end of an op's text -------------------===//

#include "weft/dialects/weft/TypeLists.h"

using namespace mlir;

/// Parses one type, or the types of all operands and the result.
static ParseResult parseOneOrFunction(OpAsmParser &parser, size_t operands,
                                      Type &one, FunctionType &function) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(one))
    return failure();
  function = dyn_cast<FunctionType>(one);
  if (!function ||
      (function.getNumInputs() == operands && function.getNumResults() == 1))
    return success();
  return parser.emitError(loc)
         << "expected " << operands
         << " operand types and one result type, not " << function;
}

ParseResult weft::parseUnaryTypes(OpAsmParser &parser, Type &input,
                                  Type &result) {
  FunctionType function;
  if (parseOneOrFunction(parser, 1, input, function))
    return failure();
  result = function ? function.getResult(0) : input;
  if (function)
    input = function.getInput(0);
  return success();
}

void weft::printUnaryTypes(OpAsmPrinter &printer, Operation *, Type input,
                           Type result) {
  if (input == result)
    printer << input;
  else
    printer << '(' << input << ") -> " << result;
}

ParseResult weft::parseBinaryTypes(OpAsmParser &parser, Type &lhs, Type &rhs,
                                   Type &result) {
  FunctionType function;
  if (parseOneOrFunction(parser, 2, lhs, function))
    return failure();
  rhs = function ? function.getInput(1) : lhs;
  result = function ? function.getResult(0) : lhs;
  if (function)
    lhs = function.getInput(0);
  return success();
}

void weft::printBinaryTypes(OpAsmPrinter &printer, Operation *, Type lhs,
                            Type rhs, Type result) {
  if (lhs == rhs && lhs == result)
    printer << lhs;
  else
    printer << '(' << lhs << ", " << rhs << ") -> " << result;
}

ParseResult weft::parseAnnotatedTypes(OpAsmParser &parser, Type &input,
                                      Type &result) {
  bool unread = succeeded(parser.parseOptionalColon());
  if ((unread && parser.parseType(input)) || parser.parseArrow() ||
      parser.parseType(result))
    return failure();
  if (!unread)
    input = result;
  return success();
}

void weft::printAnnotatedTypes(OpAsmPrinter &printer, Operation *, Type input,
                               Type result) {
  printer << " : " << input << " -> " << result;
}

ParseResult weft::parseIotaTypes(OpAsmParser &parser, Type &offset,
                                 Type &result) {
  FunctionType function;
  if (parseOneOrFunction(parser, 1, result, function))
    return failure();
  if (function) {
    offset = function.getInput(0);
    result = function.getResult(0);
  }
  return success();
}

void weft::printIotaTypes(OpAsmPrinter &printer, Operation *, Type offset,
                          Type result) {
  if (offset)
    printer << '(' << offset << ") -> ";
  printer << result;
}

ParseResult weft::parseRngTypes(OpAsmParser &parser, Type &key,
                                SmallVectorImpl<Type> &offsets, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(key))
    return failure();
  auto function = dyn_cast<FunctionType>(key);
  if (!function)
    return failure(parser.parseArrow() || parser.parseType(result));
  if (function.getNumInputs() == 0 || function.getNumResults() != 1)
    return parser.emitError(loc)
           << "expected the key's type, the offsets' types and one result "
              "type, not "
           << function;
  key = function.getInput(0);
  llvm::append_range(offsets, function.getInputs().drop_front());
  result = function.getResult(0);
  return success();
}

void weft::printRngTypes(OpAsmPrinter &printer, Operation *, Type key,
                         TypeRange offsets, Type result) {
  if (offsets.empty()) {
    printer << key << " -> " << result;
    return;
  }
  printer << '(' << key << ", " << offsets << ") -> " << result;
}
