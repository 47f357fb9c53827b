//===- CollDialect.cpp - the dialect, its ops' generated parts and text ---===//

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/coll/Pairing.h"
#include "weft/dialects/plan/Plan.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace weft;
using namespace weft::coll;

//===----------------------------------------------------------------------===//
// Groups: #mesh ["data", "model":(2)2]
//===----------------------------------------------------------------------===//

static ParseResult parseGroup(OpAsmParser &parser, LayoutAttr &group) {
  MeshAttr mesh;
  if (parser.parseAttribute(mesh) || parser.parseLSquare())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  Layout layout = Layout::replicated(1);
  if (parseAxes(parser, mesh.getMesh(), layout.dims[0]) ||
      parser.parseRSquare())
    return failure();
  std::string reason = invalidReason(mesh.getMesh(), layout, 1);
  if (!reason.empty())
    return parser.emitError(loc) << reason;
  group = LayoutAttr::get(mesh, layout);
  return success();
}

static void printGroup(OpAsmPrinter &printer, Operation *, LayoutAttr group) {
  printer.printAttribute(group.getMesh());
  printer << " [";
  printAxes(printer, group.getMesh().getMesh(), groupAxes(group));
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Types: a single list if operands and results have the same types
//===----------------------------------------------------------------------===//

static ParseResult parseSameTypeLists(OpAsmParser &parser,
                                      SmallVectorImpl<Type> &inputs,
                                      SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(inputs))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return parser.parseTypeList(results);
  results.assign(inputs.begin(), inputs.end());
  return success();
}

static void printSameTypeLists(OpAsmPrinter &printer, Operation *,
                               TypeRange inputs, TypeRange results) {
  llvm::interleaveComma(inputs, printer);
  if (inputs != results) {
    printer << " -> ";
    llvm::interleaveComma(results, printer);
  }
}

static ParseResult parseSameTypes(OpAsmParser &parser, Type &input,
                                  Type &result) {
  if (parser.parseType(input))
    return failure();
  result = input;
  return succeeded(parser.parseOptionalArrow()) ? parser.parseType(result)
                                                : success();
}

static void printSameTypes(OpAsmPrinter &printer, Operation *op, Type input,
                           Type result) {
  printSameTypeLists(printer, op, input, result);
}

#include "weft/dialects/coll/CollDialect.cpp.inc"
#define GET_OP_CLASSES
#include "weft/dialects/coll/CollOps.cpp.inc"

void CollDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/coll/CollOps.cpp.inc"
      >();
  attachPairings(getContext());
}

/// The mnemonics of the collectives among `Ops`.
template <typename... Ops> static std::vector<StringRef> namesAmong() {
  std::vector<StringRef> names;
  auto add = [&](bool communicates, StringRef name) {
    if (communicates)
      names.push_back(name.split('.').second);
  };
  (add(Ops::template hasTrait<plan::PlanInstructionOpInterface::Trait>(),
       Ops::getOperationName()),
   ...);
  return names;
}

std::vector<StringRef> coll::collectiveNames() {
  return namesAmong<
#define GET_OP_LIST
#include "weft/dialects/coll/CollOps.cpp.inc"
      >();
}
