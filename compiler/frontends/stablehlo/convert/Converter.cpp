//===- Converter.cpp - the base of all conversions ------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

const ConversionEntry *stablehlo::findConversion(StringRef name) {
  static const llvm::StringMap<const ConversionEntry *> table = [] {
    llvm::StringMap<const ConversionEntry *> all;
    for (auto family :
         {elementwiseConversions(), moveConversions(), reductionConversions(),
          productConversions(), normalizationConversions(), windowConversions(),
          indexingConversions(), orderConversions(), controlConversions(),
          manualConversions(), collectiveConversions(), loopConversions(),
          linearAlgebraConversions(), bitConversions(), dynamicConversions(),
          randomConversions(), realFunctionConversions(), startedConversions()})
      for (const ConversionEntry &entry : family)
        all[entry.name] = &entry;
    return all;
  }();
  return table.lookup(name);
}

/// Replacements of ops that will not be converted, as they belong to another
/// runtime or to types that programs here do not have.
static constexpr std::pair<StringLiteral, StringLiteral> kWaysOut[] = {
    {"async_done", "; write the collective itself in the place of its start"},
    {"async_start", "; write the collective itself in the place of its start"},
    {"cross-replica-sum", "; write it as stablehlo.all_reduce"},
    {"infeed", "; pass the data to the function as an argument"},
    {"outfeed", "; return the data from the function as a result"},
    {"set_dimension_size", "; sizes are those of types: mask the elements "
                           "beyond the size, or slice the tensor"},
    {"uniform_dequantize", "; quantized types are none: convert the integers "
                           "to floats, and multiply by the scale"},
    {"uniform_quantize", "; quantized types are none: divide by the scale, "
                         "round, clamp and convert to integers"},
};

static StringRef wayOut(StringRef name) {
  for (const auto &[op, text] : kWaysOut)
    if (op == name)
      return text;
  return "";
}

/// Gives a foreign value of unknown shape the known shape, if it fits.
static void refine(Value foreign, Type found) {
  auto open = dyn_cast<RankedTensorType>(foreign.getType()),
       known = dyn_cast<RankedTensorType>(found);
  if (open && known && !open.hasStaticShape() && known.hasStaticShape() &&
      open.getElementType() == known.getElementType() &&
      succeeded(verifyCompatibleShape(open, known)))
    foreign.setType(known);
}

/// Gives the result of an elementwise op the shape of an operand: the second of
/// three, as the other operands of select and clamp can be scalars.
static void refineElementwise(ForeignOp op, const ConversionEntry &entry) {
  ArrayRef<ConversionEntry> all = elementwiseConversions();
  bool isElementwise = &entry >= all.begin() && &entry < all.end();
  auto shaped = op.operandType(op->getNumOperands() == 3 ? 1 : 0);
  if (!isElementwise || !shaped || op->getNumResults() != 1)
    return;
  if (auto result = op.resultType())
    refine(op->getResult(0), shaped.clone(result.getElementType()));
}

/// Checks the facts that every conversion relies on.
static LogicalResult checkOp(ForeignOp op, const ConversionEntry &entry) {
  if (op->getNumOperands() < entry.operands)
    return op.refuse() << "has " << op->getNumOperands() << " operands, not "
                       << entry.operands;
  int regions = op->getNumRegions();
  if (entry.regions >= 0 && regions != entry.regions)
    return op.refuse() << "has " << regions << " regions, not "
                       << entry.regions;
  for (Region &region : op->getRegions())
    if (!region.hasOneBlock() || region.front().empty())
      return op.refuse() << "has a region of other than one block";
  refineElementwise(op, entry);
  SmallVector<Type> types(op->getOperandTypes());
  size_t operands = types.size();
  llvm::append_range(types, op->getResultTypes());
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return op.refuse() << "has a value of type " << type
                         << ", which is no tensor of known rank";
    if (!tensor.hasStaticShape() &&
        !(entry.role == OpRole::GivesShape && i >= operands))
      return op.refuse() << "has a value of unknown shape, " << type
                         << "; only known shapes are supported";
    if (!isSupported(tensor.getElementType()))
      return op.refuse() << "has elements of type " << tensor.getElementType()
                         << ", which is not supported"
                         << wayOutOf(tensor.getElementType());
  }
  return success();
}

static bool isAnnotation(Operation *op) {
  const ConversionEntry *entry = findConversion(ForeignOp(op).name());
  bool isSharding = ForeignOp(op).word("call_target_name") == "Sharding";
  return entry && (entry->role == OpRole::Annotation || isSharding) &&
         op->getNumOperands() == 1 && op->getNumResults() == 1;
}

/// Erases sharding annotations in a region of scalars, so that its ops are
/// recognized. JAX adds them for explicit axes and in shard_map.
static void eraseAnnotations(Region &region) {
  region.walk([](Operation *op) {
    if (!isAnnotation(op) ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
}

LogicalResult Converter::convertOp(Operation *foreign) {
  ForeignOp op(foreign);
  const ConversionEntry *entry = findConversion(op.name());
  if (!entry)
    return op.refuse() << "is not supported" << wayOut(op.name());
  if (failed(checkOp(op, *entry)))
    return failure();
  if (foreign->getNumResults() == 0 && entry->role != OpRole::HasEffect)
    return op.refuse() << "has no result";
  for (Value operand : foreign->getOperands())
    if (!values.lookup(operand))
      return op.refuse() << "uses a value of type " << operand.getType()
                         << " that is not supported";
  bool overElements = entry->role == OpRole::OverElements;
  if (overElements)
    llvm::for_each(foreign->getRegions(), eraseAnnotations);
  llvm::SaveAndRestore inside(ofElements, ofElements || overElements);
  return entry->convert(*this, op);
}

LogicalResult Converter::convertBlock(Block &block,
                                      SmallVectorImpl<Value> &results) {
  if (block.empty())
    return emitError(block.getParentOp()->getLoc(), "a region without ops");
  for (Operation &op : llvm::drop_end(block))
    if (failed(convertOp(&op)))
      return failure();
  for (Value value : block.back().getOperands()) {
    results.push_back(lookup(value));
    if (!results.back())
      return ForeignOp(&block.back()).refuse()
             << "returns a value of type " << value.getType()
             << " that is not supported";
  }
  return success();
}

LogicalResult Converter::inlineBlock(ForeignOp at, Block &block,
                                     ArrayRef<Value> arguments,
                                     SmallVectorImpl<Value> &results) {
  if (block.getNumArguments() != arguments.size())
    return at.refuse() << "gives " << arguments.size() << " values to "
                       << block.getNumArguments() << " arguments";
  for (auto [from, to] : llvm::zip_equal(block.getArguments(), arguments)) {
    refine(from, to.getType());
    if (from.getType() != to.getType())
      return at.refuse() << "gives " << to.getType() << " to an argument of "
                         << from.getType();
    map(from, to);
  }
  return convertBlock(block, results);
}

LogicalResult Converter::call(ForeignOp op, StringRef callee) {
  auto found = functions.find(callee);
  if (found == functions.end())
    return op.refuse() << "calls @" << callee
                       << ", which the program does not define";
  SmallVector<Value> results;
  if (failed(inlineBlock(op, *found->second.body, inputs(op), results)))
    return failure();
  return give(op, results);
}

LogicalResult Converter::convertAs(ForeignOp op, StringRef name,
                                   ValueRange operands, RankedTensorType result,
                                   ArrayRef<std::pair<StringRef, Ints>> lists) {
  OperationState state(op->getLoc(), ("stablehlo." + name).str());
  state.addOperands(operands);
  state.addTypes(result);
  state.addAttributes(op->getAttrs());
  for (const auto &[list, numbers] : lists)
    state.attributes.set(list, builder.getDenseI64ArrayAttr(numbers));
  Operation *plain = OpBuilder(op.get()).create(state);
  LogicalResult converted = convertOp(plain);
  Value found = lookup(plain->getResult(0));
  values.erase(plain->getResult(0));
  plain->erase();
  return failed(converted) ? failure() : give(op, found);
}

LogicalResult Converter::convertAs(ForeignOp op, StringRef name,
                                   DictionaryAttr attributes) {
  OperationState state(op->getLoc(), name);
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  if (attributes)
    state.addAttributes(attributes.getValue());
  Operation *plain = OpBuilder(op.get()).create(state);
  SmallVector<Value> found;
  LogicalResult converted = convertOp(plain);
  for (Value result : plain->getResults()) {
    found.push_back(lookup(result));
    values.erase(result);
  }
  plain->erase();
  return failed(converted) ? failure() : give(op, found);
}

SmallVector<Value> Converter::inputs(ForeignOp op) const {
  return llvm::map_to_vector(op->getOperands(),
                             [&](Value value) { return lookup(value); });
}

LogicalResult Converter::give(ForeignOp op, ValueRange all) {
  if (all.size() != op->getNumResults())
    return op.refuse() << "has " << op->getNumResults() << " results, "
                       << all.size() << " are computed";
  for (auto [from, to] : llvm::zip_equal(op->getResults(), all)) {
    refine(from, to.getType());
    if (from.getType() != to.getType())
      return op.refuse() << "has a result of " << from.getType() << ", "
                         << to.getType() << " is computed";
    map(from, to);
  }
  return success();
}

/// The number as an attribute of that type.
static Attribute numberAs(double number, Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(real, number);
  auto integer = cast<IntegerType>(type);
  return IntegerAttr::get(integer, APInt(integer.getWidth(),
                                         static_cast<int64_t>(number), true,
                                         /*implicitTrunc=*/true));
}

Value Converter::splat(ForeignOp op, double number, RankedTensorType type) {
  if (isa<ComplexType>(type.getElementType()))
    return make<ConstantOp>(op, splatData(number, type));
  return make<ConstantOp>(
      op,
      DenseElementsAttr::get(type, numberAs(number, type.getElementType())));
}

Value Converter::cast(ForeignOp op, Value value, Type elementType) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == elementType)
    return value;
  // A complex number is converted by its real part, also to a boolean.
  if (isa<ComplexType>(from) && !isa<ComplexType>(elementType))
    return cast(op, make<RealOp>(op, value), elementType);
  return make<ConvertOp>(op, value, elementType);
}

Value Converter::summand(ForeignOp op, Value value, Type elementType) {
  return isExactIn(getElementTypeOrSelf(value.getType()), elementType)
             ? value
             : cast(op, value, elementType);
}

Value Converter::fill(ForeignOp op, Value scalar, RankedTensorType type) {
  if (scalar.getType() == type)
    return scalar;
  return make<BroadcastOp>(op, scalar, type.getShape(), ArrayRef<int64_t>());
}

Value Converter::combine(ForeignOp op, ReduceKind kind, Value a, Value b) {
  switch (kind) {
  case ReduceKind::Sum:
    return make<AddOp>(op, a, b);
  case ReduceKind::Prod:
    return make<MulOp>(op, a, b);
  case ReduceKind::Max:
    return make<MaxOp>(op, a, b);
  case ReduceKind::Min:
    return make<MinOp>(op, a, b);
  case ReduceKind::And:
    return make<AndOp>(op, a, b);
  case ReduceKind::Or:
    return make<OrOp>(op, a, b);
  }
  llvm_unreachable("all kinds are handled");
}

bool Converter::isNeutral(ReduceKind kind, Value init) const {
  // Constraints are skipped, as JAX may annotate each value.
  while (isa_and_nonnull<BroadcastOp, ConstrainOp>(init.getDefiningOp()))
    init = init.getDefiningOp()->getOperand(0);
  auto constant = init.getDefiningOp<ConstantOp>();
  auto data = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                       : DenseElementsAttr();
  if (data && isa<ComplexType>(data.getElementType()))
    return data == neutralData(kind, cast<RankedTensorType>(data.getType()));
  return data && data.isSplat() &&
         data.getSplatValue<Attribute>() ==
             neutralElement(kind, data.getElementType());
}

std::optional<ReduceKind> stablehlo::reductionOf(Block &block, unsigned index) {
  unsigned count = block.getNumArguments() / 2;
  if (block.empty() || index >= count || block.back().getNumOperands() != count)
    return std::nullopt;
  Operation *body = block.back().getOperand(index).getDefiningOp();
  if (!body || body->getNumOperands() != 2)
    return std::nullopt;
  Value a = block.getArgument(index), b = block.getArgument(count + index);
  bool straight = body->getOperand(0) == a && body->getOperand(1) == b;
  bool turned = body->getOperand(0) == b && body->getOperand(1) == a;
  if (!straight && !turned)
    return std::nullopt;
  Type element = getElementTypeOrSelf(a.getType());
  bool truth = element.isInteger(1), pairs = isa<ComplexType>(element);
  std::optional<ReduceKind> none;
  return llvm::StringSwitch<std::optional<ReduceKind>>(ForeignOp(body).name())
      .Case("add", truth ? ReduceKind::Or : ReduceKind::Sum)
      .Case("multiply", truth ? ReduceKind::And : ReduceKind::Prod)
      .Case("maximum", pairs   ? none
                       : truth ? std::optional(ReduceKind::Or)
                               : ReduceKind::Max)
      .Case("minimum", pairs   ? none
                       : truth ? std::optional(ReduceKind::And)
                               : ReduceKind::Min)
      .Case("and", ReduceKind::And)
      .Case("or", ReduceKind::Or)
      .Default(std::nullopt);
}

std::optional<ReduceKind> stablehlo::reductionOf(Region &region) {
  if (!region.hasOneBlock() || region.front().getNumArguments() != 2)
    return std::nullopt;
  return reductionOf(region.front(), 0);
}

Value stablehlo::withoutAnnotations(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isAnnotation(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

Operation *stablehlo::definedBy(Value value, StringRef name,
                                unsigned operands) {
  Operation *op = value.getDefiningOp();
  return op && ForeignOp(op).name() == name && op->getNumOperands() == operands
             ? op
             : nullptr;
}
