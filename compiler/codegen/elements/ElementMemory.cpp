//===- ElementMemory.cpp - elements in memory -----------------------------===//

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/SmallFloatOps.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

Value ElementEmitter::address(Value pointer, Type storage, Value linear) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), storage, pointer,
                             ArrayRef<LLVM::GEPArg>{linear},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value ElementEmitter::load(Value pointer, Type elementType, Value linear) {
  if (isa<ComplexType>(elementType)) {
    Type part = partType(elementType);
    Value at = mul(linear, 2), re = load(pointer, part, at);
    return ComplexEmitter{builder, loc}.make(
        re, load(pointer, part, add(at, constant(1))));
  }
  Type storage = storageType(elementType);
  auto op = LLVM::LoadOp::create(builder, loc, storage,
                                 address(pointer, storage, linear),
                                 bytesOf(elementType));
  op.setAccessGroupsAttr(builder.getArrayAttr({accessGroup}));
  if (isSmallFloat(elementType))
    return smallFromBits(builder, loc, elementType, op);
  Type inRegister = computeType(elementType);
  if (storage == inRegister)
    return op;
  if (isa<FloatType>(inRegister))
    return arith::BitcastOp::create(builder, loc, inRegister, op);
  return arith::TruncIOp::create(builder, loc, inRegister, op);
}

void ElementEmitter::store(Value value, Value pointer, Type elementType,
                           Value linear) {
  if (isa<ComplexType>(elementType)) {
    ComplexEmitter c{builder, loc};
    Type part = partType(elementType);
    Value at = mul(linear, 2);
    store(c.re(value), pointer, part, at);
    return store(c.im(value), pointer, part, add(at, constant(1)));
  }
  Type storage = storageType(elementType);
  if (isSmallFloat(elementType))
    value = smallToBits(builder, loc, elementType, value);
  else if (isa<FloatType>(elementType) && value.getType() != storage)
    value = arith::BitcastOp::create(builder, loc, storage, value);
  else if (value.getType() != storage)
    value = arith::ExtUIOp::create(builder, loc, storage, value);
  auto op = LLVM::StoreOp::create(builder, loc, value,
                                  address(pointer, storage, linear),
                                  bytesOf(elementType));
  op.setAccessGroupsAttr(builder.getArrayAttr({accessGroup}));
}

/// The numbers as they lie in memory: an i1 is a byte, a complex number two.
static DenseElementsAttr flatData(DenseElementsAttr data) {
  Type storage = storageType(data.getElementType());
  int64_t cells = data.getNumElements() * partsOf(storage);
  storage = partType(storage);
  auto flat = RankedTensorType::get(cells, storage);
  if (data.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool bit : data.getValues<bool>())
      bytes.push_back(bit);
    return DenseElementsAttr::get(flat, ArrayRef<int8_t>(bytes));
  }
  return DenseElementsAttr::getFromRawBuffer(flat, data.getRawData());
}

LogicalResult ElementEmitter::placeConstants() {
  WalkResult result = kernel.walk([&](ConstantOp op) {
    auto data = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!data) {
      op.emitError() << "constant data of kind " << op.getValue()
                     << " has no code; use dense<...>";
      return WalkResult::interrupt();
    }
    if (!data.isSplat())
      place(op.getResult(), globalData(flatData(data)));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

Value ElementEmitter::globalData(DenseElementsAttr flat) {
  std::string name = (kernel.getName() + ".constant" + Twine(globals++)).str();
  OpBuilder moduleBuilder(globalsBefore);
  auto type =
      LLVM::LLVMArrayType::get(flat.getElementType(), flat.getNumElements());
  auto global =
      LLVM::GlobalOp::create(moduleBuilder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name, flat, 64);
  return LLVM::AddressOfOp::create(builder, loc, global);
}

std::optional<StridedView> ElementEmitter::viewOf(Value tensor) {
  std::optional<nest::TensorView> view =
      nest::viewOf(tensor, [&](Value value) { return isInMemory(value); });
  if (!view)
    return std::nullopt;
  return StridedView{view->strides, memoryOf(view->root)};
}

Value ElementEmitter::coordinate(LayoutAttr group) {
  Mesh mesh = group.getMesh().getMesh();
  Layout layout = group.getLayout();
  Value result = constant(0);
  for (const SubAxis &sub : layout.dims[0]) {
    Value along = load(coordinates, builder.getI64Type(), constant(sub.axis));
    int64_t minor = minorOf(mesh.axes, sub);
    Value digit = arith::DivUIOp::create(builder, loc, along, constant(minor));
    digit = arith::RemUIOp::create(builder, loc, digit, constant(sub.size));
    result = add(mul(result, sub.size), digit);
  }
  return result;
}

} // namespace weft::elements
