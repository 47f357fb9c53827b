//===- LayoutOps.cpp - layouts in types, and the ops that speak of them ---===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Tensor.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Functions on types and ops
//===----------------------------------------------------------------------===//

LayoutAttr weft::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

RankedTensorType weft::withLayout(RankedTensorType type, LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

SmallVector<Value> weft::cloneWithTypes(OpBuilder &builder, Operation *op,
                                        ValueRange operands,
                                        TypeRange resultTypes) {
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes,
                       op->getAttrs());
  IRMapping mapping;
  for (Region &region : op->getRegions())
    region.cloneInto(state.addRegion(), mapping);
  Operation *clone = builder.create(state);
  return llvm::to_vector_of<Value>(clone->getResults());
}

static APInt neutralInteger(ReduceKind kind, IntegerType type) {
  unsigned width = type.getWidth();
  // i1 is treated as unsigned: true is 1, not -1.
  bool isSigned = !type.isUnsigned() && width != 1;
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    return APInt::getZero(width);
  case ReduceKind::Prod:
    return APInt(width, 1);
  case ReduceKind::And:
    return APInt::getAllOnes(width);
  case ReduceKind::Max:
    return isSigned ? APInt::getSignedMinValue(width) : APInt::getZero(width);
  case ReduceKind::Min:
    return isSigned ? APInt::getSignedMaxValue(width)
                    : APInt::getMaxValue(width);
  }
  llvm_unreachable("all kinds are handled");
}

/// Infinity of the sign, or the largest number of a type without infinity; the
/// least code of a type without a sign if `negative`.
static APFloat mostOf(const llvm::fltSemantics &semantics, bool negative) {
  if (negative && !APFloat::semanticsHasSignedRepr(semantics))
    return APFloat(semantics, APInt(8, 0));
  return APFloat::semanticsHasInf(semantics)
             ? APFloat::getInf(semantics, negative)
             : APFloat::getLargest(semantics, negative);
}

TypedAttr weft::neutralElement(ReduceKind kind, Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerAttr::get(integer, neutralInteger(kind, integer));
  auto type = dyn_cast<FloatType>(componentType(elementType));
  if (!type)
    return {};
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  switch (kind) {
  case ReduceKind::Sum: // This is the least number of a type without zero.
    return FloatAttr::get(type, APFloat::semanticsHasZero(semantics)
                                    ? APFloat::getZero(semantics)
                                    : APFloat(semantics, APInt(8, 0)));
  case ReduceKind::Prod:
    return FloatAttr::get(type, APFloat::getOne(semantics));
  case ReduceKind::Max:
    return FloatAttr::get(type, mostOf(semantics, /*negative=*/true));
  case ReduceKind::Min:
    return FloatAttr::get(type, mostOf(semantics, /*negative=*/false));
  case ReduceKind::And:
  case ReduceKind::Or:
    return {};
  }
  llvm_unreachable("all kinds are handled");
}

DenseElementsAttr weft::neutralData(ReduceKind kind, RankedTensorType type) {
  type = withLayout(type, nullptr);
  TypedAttr element = neutralElement(kind, type.getElementType());
  if (!isa<ComplexType>(type.getElementType()))
    return DenseElementsAttr::get(type, Attribute(element));
  return splatData(cast<FloatAttr>(element).getValueAsDouble(), type);
}

DenseElementsAttr weft::splatData(double value, RankedTensorType type) {
  type = withLayout(type, nullptr);
  Type component = componentType(type.getElementType());
  if (auto integer = dyn_cast<IntegerType>(component))
    return DenseElementsAttr::get(
        type, Attribute(IntegerAttr::get(integer,
                                         formulas::integerOf(value, integer))));
  APFloat real = FloatAttr::get(component, value).getValue();
  if (!isa<ComplexType>(type.getElementType()))
    return DenseElementsAttr::get(type, ArrayRef<APFloat>(real));
  APFloat zero = APFloat::getZero(real.getSemantics());
  std::complex<APFloat> element(real, zero);
  return DenseElementsAttr::get(type, ArrayRef<std::complex<APFloat>>(element));
}

//===----------------------------------------------------------------------===//
// constrain, reshard
//===----------------------------------------------------------------------===//

LogicalResult ConstrainOp::verify() {
  int64_t rank = cast<RankedTensorType>(getType()).getRank();
  Layout layout = getLayout().getLayout();
  if (static_cast<int64_t>(layout.dims.size()) != rank) // (C1)
    return emitOpError("layout has ")
           << layout.dims.size() << " dimensions, but the value has " << rank;
  return success();
}

LogicalResult ReshardOp::verify() {
  LayoutAttr from = getLayout(getInput().getType());
  LayoutAttr to = getLayout(getType());
  if (!from || !to) // (C1)
    return emitOpError("both types need a layout, but the ")
           << (from ? "result" : "input") << " is "
           << (from ? getType() : getInput().getType());
  if (from.getMesh() != to.getMesh()) // (C1)
    return emitOpError("the input lies on ")
           << from.getMesh() << ", but the result on " << to.getMesh();
  Mesh mesh = from.getMesh().getMesh();
  Layout source = from.getLayout(), target = to.getLayout();
  // Copies may become partial: one copy keeps the value, the others become
  // neutral. Shards of a dimension cannot.
  for (const SubAxis &sub : target.partial)
    for (const SubAxes &axes : source.dims)
      for (const SubAxis &split : axes)
        if (overlaps(sub, split)) // (C2)
          return emitOpError("the result is partial over axis \"")
                 << mesh.axes[sub.axis].name
                 << "\", which splits the input; only copies can become "
                    "partial";
  return success();
}

//===----------------------------------------------------------------------===//
// value_and_grad
//===----------------------------------------------------------------------===//

static bool isFloatTensor(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// (C1)
static LogicalResult checkSignature(ValueAndGradOp op,
                                    FunctionOpInterface callee) {
  if (TypeRange(op.getOperands()) != TypeRange(callee.getArgumentTypes()))
    return op.emitOpError("operand types are ")
           << op.getOperands().getTypes() << ", but @" << op.getCallee()
           << " takes " << callee.getArgumentTypes();
  size_t expected = callee.getNumResults() + op.getWrt().size();
  if (op.getNumResults() != expected)
    return op.emitOpError("has ")
           << op.getNumResults() << " results, but " << callee.getNumResults()
           << " results of @" << op.getCallee() << " and " << op.getWrt().size()
           << " gradients make " << expected;
  for (auto [index, type] : llvm::enumerate(callee.getResultTypes()))
    if (op.getResult(index).getType() != type)
      return op.emitOpError("result ")
             << index << " is " << op.getResult(index).getType()
             << ", but that of @" << op.getCallee() << " is " << type;
  return success();
}

LogicalResult ValueAndGradOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!callee) // (C1)
    return emitOpError("there is no function @") << getCallee();
  if (failed(checkSignature(*this, callee)))
    return failure();
  auto value = callee.getNumResults() == 0
                   ? RankedTensorType()
                   : dyn_cast<RankedTensorType>(callee.getResultTypes()[0]);
  if (!value || value.getRank() != 0 || !isFloatTensor(value)) // (C2)
    return emitOpError("the first result of @")
           << getCallee() << " should be a float scalar such as tensor<f32>";
  for (auto [index, argument] : llvm::enumerate(getWrt())) { // (C3)
    int64_t count = getOperands().size();
    if (argument < 0 || argument >= count)
      return emitOpError("wrt names argument ")
             << argument << ", but @" << getCallee() << " has " << count;
    if (llvm::is_contained(getWrt().take_front(index), argument))
      return emitOpError("wrt names argument ") << argument << " twice";
    Type type = getOperand(argument).getType();
    if (!isDifferentiable(getElementTypeOrSelf(type)))
      return emitOpError("argument ")
             << argument << " has no gradient: its type is " << type;
    Type gradient = getResult(callee.getNumResults() + index).getType();
    if (gradient != type) // (C1)
      return emitOpError("the gradient of argument ")
             << argument << " is " << gradient << ", but the argument " << type;
  }
  return success();
}
