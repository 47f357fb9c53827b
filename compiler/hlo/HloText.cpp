//===- HloText.cpp - each device's program as XLA prints it ---------------===//

#include "weft/compiler/hlo/HloText.h"

#include "weft/compiler/hlo/HloNames.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

namespace {

class HloPrinter {
public:
  HloPrinter(ModuleOp module, StringRef name) : module(module), name(name) {}
  std::string print();

private:
  /// The lines of a computation; computations that it calls are printed before.
  std::string computation(StringRef title, Block &block, bool takesTuple);
  std::string parameters(Block &block, bool takesTuple, std::string &header);
  std::string instruction(Operation &op, Value root);
  std::string called(Operation &op, StringRef opcode);
  /// The name, "%sum.f32", of a computation that combines two elements; printed
  /// once.
  std::string reducer(ReduceKind kind, Type element);
  std::string operandsOf(ValueRange values);
  std::string fresh(StringRef stem) {
    return "%" + stem.str() + "." + std::to_string(++numbers);
  }

  ModuleOp module;
  StringRef name;
  std::string before; ///< text of the called computations
  llvm::DenseMap<Value, std::string> names;
  llvm::StringSet<> reducers;
  int64_t numbers = 0, channels = 0;
};

std::string line(StringRef name, const std::string &shape, StringRef opcode,
                 const std::string &operands, bool isRoot) {
  return ("  " + Twine(isRoot ? "ROOT " : "") + name + " = " + shape + " " +
          opcode + "(" + operands + ")")
      .str();
}

std::string HloPrinter::operandsOf(ValueRange values) {
  return llvm::join(
      llvm::map_range(values, [&](Value value) { return names.lookup(value); }),
      ", ");
}

/// The op of two scalars that a kind of reduction repeats.
Operation *combine(OpBuilder &builder, ReduceKind kind, Value x, Value y) {
  Location loc = builder.getUnknownLoc();
  switch (kind) {
  case ReduceKind::Sum:
    return AddOp::create(builder, loc, x, y);
  case ReduceKind::Prod:
    return MulOp::create(builder, loc, x, y);
  case ReduceKind::Max:
    return MaxOp::create(builder, loc, x, y);
  case ReduceKind::Min:
    return MinOp::create(builder, loc, x, y);
  case ReduceKind::And:
    return AndOp::create(builder, loc, x, y);
  case ReduceKind::Or:
    return OrOp::create(builder, loc, x, y);
  }
  llvm_unreachable("all kinds are handled");
}

std::string HloPrinter::reducer(ReduceKind kind, Type element) {
  Type scalar = RankedTensorType::get({}, element);
  std::string shape = hlo::shapeText(scalar);
  std::string title = "%" + std::string(stringifyReduceKind(kind)) + "." +
                      StringRef(shape).drop_back(2).str();
  if (!reducers.insert(title).second)
    return title;
  Block block;
  Location loc = module.getLoc();
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(&block);
  Operation *op = combine(builder, kind, block.addArgument(scalar, loc),
                          block.addArgument(scalar, loc));
  before += title + " (x: " + shape + ", y: " + shape + ") -> " + shape +
            " {\n" + line("%x", shape, "parameter", "0", false) + "\n" +
            line("%y", shape, "parameter", "1", false) + "\n" +
            line("%r", shape, hlo::opcodeOf(op), "%x, %y", true) + "\n}\n\n";
  return title;
}

/// A loop's region takes the values that it carries as one tuple.
std::string HloPrinter::parameters(Block &block, bool takesTuple,
                                   std::string &header) {
  std::string text;
  ValueRange arguments = block.getArguments();
  if (takesTuple) {
    std::string tuple = fresh("arg_tuple");
    std::string shape = arguments.size() == 1
                            ? "(" + hlo::shapeText(arguments[0].getType()) + ")"
                            : hlo::shapeText(arguments.getTypes());
    header = StringRef(tuple).drop_front().str() + ": " + shape;
    text = line(tuple, shape, "parameter", "0", false) + "\n";
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      names[argument] = fresh("get-tuple-element");
      text += line(names[argument], hlo::shapeText(argument.getType()),
                   "get-tuple-element", tuple, false) +
              ", index=" + std::to_string(i) + "\n";
    }
    return text;
  }
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    std::string shape = hlo::shapeText(argument.getType());
    std::string own = fresh("p" + std::to_string(i));
    names[argument] = own;
    header +=
        (i ? ", " : "") + StringRef(own).drop_front().str() + ": " + shape;
    text += line(own, shape, "parameter", std::to_string(i), false) + "\n";
  }
  return text;
}

std::string HloPrinter::computation(StringRef title, Block &block,
                                    bool takesTuple) {
  std::string header;
  std::string lines = parameters(block, takesTuple, header);
  Operation *end = block.getTerminator();
  bool single = end->getNumOperands() == 1;
  Operation *last = single ? end->getOperand(0).getDefiningOp() : nullptr;
  bool isRoot =
      last && last->getNumResults() == 1 && last->getBlock() == &block;
  for (Operation &op : block.without_terminator())
    lines += instruction(op, isRoot ? end->getOperand(0) : Value());
  std::string shape = hlo::shapeText(end->getOperandTypes());
  if (!isRoot)
    lines +=
        line(fresh(single ? "copy" : "tuple"), shape, single ? "copy" : "tuple",
             operandsOf(end->getOperands()), true) +
        "\n";
  return title.str() + " (" + header + ") -> " + shape + " {\n" + lines + "}\n";
}

/// The text ", condition=%a, body=%b", ", to_apply=%a" or ",
/// called_computations={%a, %b}"; empty if nothing is called.
std::string HloPrinter::called(Operation &op, StringRef opcode) {
  if (auto kind = op.getAttrOfType<ReduceKindAttr>("kind"))
    return ", to_apply=" +
           reducer(kind.getValue(),
                   getElementTypeOrSelf(op.getResult(0).getType()));
  SmallVector<std::string> titles;
  for (Region &region : op.getRegions()) {
    if (region.empty())
      continue;
    titles.push_back(fresh("region"));
    std::string text = computation(titles.back(), region.front(),
                                   isa<RegionBranchOpInterface>(op));
    before += text + "\n";
  }
  if (titles.empty())
    return "";
  SmallVector<StringRef> words;
  hlo::computationWords(opcode).split(words, ' ', -1, /*KeepEmpty=*/false);
  std::string text;
  if (words.size() >= titles.size()) {
    for (auto [word, title] :
         llvm::zip_equal(ArrayRef(words).take_back(titles.size()), titles))
      text += ", " + word.str() + "=" + title;
    return text;
  }
  return titles.size() == 1
             ? ", to_apply=" + titles.front()
             : ", called_computations={" + llvm::join(titles, ", ") + "}";
}

/// The text between the parentheses of "constant(3)"; "{...}" unless there is
/// one element.
std::string literal(Attribute value) {
  auto data = dyn_cast<DenseElementsAttr>(value);
  if (!data || data.getNumElements() != 1)
    return "{...}";
  std::string text;
  llvm::raw_string_ostream(text) << *data.getValues<Attribute>().begin();
  return StringRef(text).split(" : ").first.str();
}

std::string HloPrinter::instruction(Operation &op, Value root) {
  std::string opcode = hlo::opcodeOf(&op);
  bool isCustom = opcode.empty();
  if (isCustom)
    opcode = "custom-call";
  std::string own = fresh(opcode), operands = operandsOf(op.getOperands());
  Attribute value;
  if (matchPattern(&op, m_Constant(&value)))
    operands = literal(value);
  // Called computations are numbered first.
  std::string rest = called(op, opcode);
  std::string text =
      line(own, hlo::shapeText(op.getResultTypes()), opcode, operands,
           op.getNumResults() == 1 && op.getResult(0) == root) +
      hlo::devicesText(&op, channels) + hlo::attributesText(&op) + rest;
  if (isCustom)
    text +=
        ", custom_call_target=\"" + op.getName().getStringRef().str() + "\"";
  text += hlo::metadataText(&op) + "\n";
  if (op.getNumResults() == 1) {
    names[op.getResult(0)] = own;
    return text;
  }
  for (OpResult result : op.getResults()) {
    names[result] = fresh("get-tuple-element");
    text += line(names[result], hlo::shapeText(result.getType()),
                 "get-tuple-element", own, false) +
            ", index=" + std::to_string(result.getResultNumber()) + "\n";
  }
  return text;
}

std::string HloPrinter::print() {
  int64_t partitions = 1;
  if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr))
    partitions = mesh.getMesh().size();
  std::string text;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPublic())
      continue;
    before.clear();
    reducers.clear(); // Each module defines its own symbols.
    std::string entry = computation(("ENTRY %" + function.getName()).str(),
                                    function.getBody().front(), false);
    text += "HloModule " + name.str() + ", entry_computation_layout={(" +
            llvm::join(
                llvm::map_range(function.getArgumentTypes(),
                                [](Type type) { return hlo::shapeText(type); }),
                ", ") +
            ")->" + hlo::shapeText(function.getResultTypes()) +
            "}, num_partitions=" + std::to_string(partitions) + "\n\n" +
            before + entry;
  }
  return text;
}

} // namespace

std::string weft::hloText(ModuleOp module, StringRef name) {
  return HloPrinter(module, name).print();
}
