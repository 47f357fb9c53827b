//===- GeneratedElements.cpp - constants, counters, random bits -----------===//

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/elements/SmallFloatOps.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

/// Emits the element of a constant of one number; other constants are in
/// memory.
static FailureOr<Value> splatElement(ElementEmitter &e, ConstantOp op,
                                     const ElementIndex &) {
  auto data = cast<DenseElementsAttr>(op.getValue());
  Type elementType = data.getElementType();
  if (isa<ComplexType>(elementType)) {
    auto number = data.getSplatValue<std::complex<APFloat>>();
    auto constant = [&](const APFloat &value) {
      return arith::ConstantOp::create(
          e.builder, e.loc,
          e.builder.getFloatAttr(componentType(elementType), value));
    };
    return ComplexEmitter{e.builder, e.loc}.make(constant(number.real()),
                                                 constant(number.imag()));
  }
  TypedAttr value = cast<TypedAttr>(data.getSplatValue<Attribute>());
  if (auto integer = dyn_cast<IntegerAttr>(value))
    value =
        IntegerAttr::get(computeType(integer.getType()), integer.getValue());
  else if (isSmallFloat(elementType))
    value = smallConstant(cast<FloatAttr>(value).getValue(), elementType);
  return arith::ConstantOp::create(e.builder, e.loc, value).getResult();
}

/// The value on the group's first device, and the absent element on the others.
static FailureOr<Value> partialElement(ElementEmitter &e,
                                       coll::MakePartialOp op,
                                       const ElementIndex &index) {
  FailureOr<Value> value = e.element(op.getInput(), index);
  if (failed(value))
    return failure();
  Value isFirst =
      arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::eq,
                            e.coordinate(op.getGroup()), e.constant(0));
  Value absent = emitAbsent(e.builder, e.loc, op.getKind(),
                            typeOf(op.getInput()).getElementType());
  return arith::SelectOp::create(e.builder, e.loc, isFirst, *value, absent)
      .getResult();
}

static FailureOr<Value> countedElement(ElementEmitter &e, IotaOp op,
                                       const ElementIndex &index) {
  FailureOr<Value> counted =
      e.shifted(index.dims[op.getDim()], op.getOffset(), index.depth);
  if (failed(counted))
    return failure();
  Value position = *counted;
  Type type = typeOf(op.getResult()).getElementType(),
       target = computeType(type);
  if (isa<ComplexType>(target)) {
    Value re = arith::SIToFPOp::create(e.builder, e.loc, componentType(target),
                                       position);
    return ComplexEmitter{e.builder, e.loc}.make(
        re, arith::ConstantOp::create(
                e.builder, e.loc,
                e.builder.getFloatAttr(componentType(target), 0)));
  }
  if (isa<FloatType>(target))
    return roundedTo(
        e.builder, e.loc, type,
        arith::SIToFPOp::create(e.builder, e.loc, target, position));
  if (target.getIntOrFloatBitWidth() < 64)
    position = arith::TruncIOp::create(e.builder, e.loc, target, position);
  return e.mixesBits() ? e.asBits(position) : position;
}

/// out0 ^ out1 of threefry-2x32 on i32 registers.
static Value emitThreefry(OpBuilder &b, Location loc, Value key0, Value key1,
                          Value high, Value low) {
  auto number = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     b.getI32IntegerAttr(int32_t(value)));
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, loc, x, y);
  };
  auto exclusiveOr = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(b, loc, x, y);
  };
  Value keys[3] = {key0, key1,
                   exclusiveOr(exclusiveOr(key0, key1), number(0x1BD11BDA))};
  static const unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value x0 = add(high, keys[0]), x1 = add(low, keys[1]);
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned distance : rotations[group % 2]) {
      x0 = add(x0, x1);
      Value up = arith::ShLIOp::create(b, loc, x1, number(distance));
      Value down = arith::ShRUIOp::create(b, loc, x1, number(32 - distance));
      x1 = exclusiveOr(x0, arith::OrIOp::create(b, loc, up, down));
    }
    x0 = add(x0, keys[(group + 1) % 3]);
    x1 = add(x1, add(keys[(group + 2) % 3], number(group + 1)));
  }
  return exclusiveOr(x0, x1);
}

static FailureOr<Value> randomElement(ElementEmitter &e, RngBitsOp op,
                                      const ElementIndex &index) {
  Value position;
  if (!op.getGlobalShape()) {
    position = e.linearIndex(typeOf(op.getResult()).getShape(), index);
  } else {
    for (auto [dim, offset, size] :
         llvm::zip_equal(index.dims, op.getOffsets(), *op.getGlobalShape())) {
      FailureOr<Value> along = e.shifted(dim, offset, index.depth);
      if (failed(along))
        return failure();
      position = position ? e.add(e.mul(position, size), *along) : *along;
    }
    if (!position)
      position = e.constant(0);
  }
  Value key[2];
  for (int64_t i = 0; i < 2; ++i) {
    e.enterDepth(0);
    FailureOr<Value> word =
        e.element(op.getKey(), e.makeIndex(e.constant(i), 0));
    if (failed(word))
      return failure();
    key[i] = *word;
  }
  e.enterDepth(index.depth);
  Type i32 = e.builder.getI32Type();
  Value high = arith::TruncIOp::create(
      e.builder, e.loc, i32,
      arith::ShRUIOp::create(e.builder, e.loc, position, e.constant(32)));
  Value low = arith::TruncIOp::create(e.builder, e.loc, i32, position);
  return emitThreefry(e.builder, e.loc, key[0], key[1], high, e.asBits(low));
}

static FailureOr<Value> coordinateElement(ElementEmitter &e,
                                          coll::CoordinateOp op,
                                          const ElementIndex &) {
  return e.coordinate(op.getGroup());
}

void attachGeneratedElements(MLIRContext *context) {
  attachElement<ConstantOp, splatElement>(context);
  attachElement<IotaOp, countedElement>(context);
  attachElement<RngBitsOp, randomElement>(context);
}

void attachCoordinateElements(MLIRContext *context) {
  attachElement<coll::CoordinateOp, coordinateElement>(context);
  attachElement<coll::MakePartialOp, partialElement>(context);
}

} // namespace weft::elements
