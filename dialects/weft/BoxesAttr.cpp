//===- BoxesAttr.cpp - boxes of moved elements as an attribute ------------===//

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace weft;

MovedBoxes BoxesAttr::getBoxes() const {
  return boxesOf(getCode()).value_or(MovedBoxes());
}

BoxesAttr BoxesAttr::get(MLIRContext *context, const MovedBoxes &boxes) {
  return get(context, asNumbers(boxes));
}

LogicalResult BoxesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> code) {
  if (!boxesOf(code))
    return emitError() << code.size() << " numbers are no boxes";
  return success();
}

/// Parses start:count or start:count:step.
static ParseResult parseBoxRange(AsmParser &parser, MovedBox &box) {
  if (parser.parseInteger(box.start.emplace_back()) || parser.parseColon() ||
      parser.parseInteger(box.count.emplace_back()))
    return failure();
  box.step.push_back(1);
  return succeeded(parser.parseOptionalColon())
             ? parser.parseInteger(box.step.back())
             : success();
}

/// Parses a number, or a dimension with a stride and an offset: d0 * -1 + 5.
static ParseResult parseBoxPlace(AsmParser &parser, MovedBox &box) {
  int64_t &dim = box.dim.emplace_back(-1);
  int64_t &offset = box.offset.emplace_back(0);
  int64_t &stride = box.stride.emplace_back(0);
  if (OptionalParseResult number = parser.parseOptionalInteger(offset);
      number.has_value())
    return *number;
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  if (!word.consume_front("d") || word.getAsInteger(10, dim))
    return parser.emitError(loc)
           << "'" << word << "' is no dimension; write d0, d1, ...";
  stride = 1;
  if (succeeded(parser.parseOptionalStar()) && parser.parseInteger(stride))
    return failure();
  return succeeded(parser.parseOptionalPlus()) ? parser.parseInteger(offset)
                                               : success();
}

Attribute BoxesAttr::parse(AsmParser &parser, Type) {
  MovedBoxes boxes;
  auto list = AsmParser::Delimiter::Square;
  auto parseBox = [&]() -> ParseResult {
    MovedBox &box = boxes.emplace_back();
    return failure(
        parser.parseCommaSeparatedList(
            list, [&] { return parseBoxRange(parser, box); }) ||
        parser.parseKeyword("of") || parser.parseInteger(box.operand) ||
        parser.parseKeyword("at") || parser.parseCommaSeparatedList(list, [&] {
          return parseBoxPlace(parser, box);
        }));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseBox))
    return {};
  return get(parser.getContext(), boxes);
}

static void printBox(AsmPrinter &printer, const MovedBox &box) {
  printer << "[";
  llvm::interleaveComma(llvm::seq<size_t>(0, box.start.size()), printer,
                        [&](size_t r) {
                          printer << box.start[r] << ":" << box.count[r];
                          if (box.step[r] != 1)
                            printer << ":" << box.step[r];
                        });
  printer << "] of " << box.operand << " at [";
  llvm::interleaveComma(llvm::seq<size_t>(0, box.dim.size()), printer,
                        [&](size_t d) {
                          if (box.dim[d] < 0) {
                            printer << box.offset[d];
                            return;
                          }
                          printer << "d" << box.dim[d];
                          if (box.stride[d] != 1)
                            printer << " * " << box.stride[d];
                          if (box.offset[d] != 0)
                            printer << " + " << box.offset[d];
                        });
  printer << "]";
}

void BoxesAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getBoxes(), printer,
                        [&](const MovedBox &box) { printBox(printer, box); });
  printer << ">";
}
