//===- ElementEmitter.cpp - the value of one element ----------------------===//

#include "weft/compiler/codegen/cpu/ComplexOps.h"
#include "weft/compiler/codegen/cpu/SmallFloatOps.h"
#include "weft/compiler/codegen/cpu/WholeNests.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/IndexingOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft::cpu {

Value KernelEmitter::constant(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}
Value KernelEmitter::add(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}
Value KernelEmitter::mul(Value a, int64_t factor) {
  return factor == 1 ? a
                     : arith::MulIOp::create(builder, loc, a, constant(factor))
                           .getResult();
}

ElementIndex KernelEmitter::makeIndex(ArrayRef<Value> dims, unsigned depth) {
  ElementIndex index;
  index.dims.assign(dims.begin(), dims.end());
  // As soon as the loops over its dimensions are open, whoever asks: elements
  // of equal positions are computed once, so in front of all their users.
  unsigned known = 0;
  for (Value dim : dims)
    known = std::max(known, depthOf(dim, depth));
  index.depth = std::min(depth, known);
  SmallVector<void *, 4> key;
  for (Value dim : dims)
    key.push_back(dim.getAsOpaquePointer());
  index.id = indexIds.try_emplace(key, indexIds.size()).first->second;
  return index;
}

ElementIndex KernelEmitter::makeFlatIndex(Value linear, unsigned depth) {
  ElementIndex index = makeIndex(linear, depth);
  index.dims.clear();
  index.linear = linear;
  return index;
}

Value KernelEmitter::linearIndex(ArrayRef<int64_t> shape,
                                 const ElementIndex &index) {
  if (index.linear)
    return index.linear;
  Value linear;
  for (auto [dim, size] : llvm::zip_equal(index.dims, shape))
    linear = linear ? add(mul(linear, size), dim) : dim;
  return linear ? linear : constant(0);
}

Value KernelEmitter::load(Value pointer, Type elementType, Value linear) {
  if (isa<ComplexType>(elementType)) {
    Type part = partType(elementType);
    Value at = mul(linear, 2), re = load(pointer, part, at);
    return ComplexEmitter{builder, loc}.make(
        re, load(pointer, part, add(at, constant(1))));
  }
  Type storage = storageType(elementType);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = LLVM::GEPOp::create(builder, loc, pointerType, storage,
                                      pointer, ArrayRef<LLVM::GEPArg>{linear},
                                      LLVM::GEPNoWrapFlags::inbounds);
  auto op = LLVM::LoadOp::create(builder, loc, storage, address,
                                 bytesOf(elementType));
  op.setAccessGroupsAttr(builder.getArrayAttr({accessGroup}));
  if (isSmallFloat(elementType))
    return smallFromBits(builder, loc, elementType, op);
  Type inRegister = computeType(elementType);
  return storage == inRegister
             ? op.getResult()
             : arith::TruncIOp::create(builder, loc, inRegister, op)
                   .getResult();
}

void KernelEmitter::store(Value value, Value pointer, Type elementType,
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
  else if (value.getType() != storage)
    value = arith::ExtUIOp::create(builder, loc, storage, value);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = LLVM::GEPOp::create(builder, loc, pointerType, storage,
                                      pointer, ArrayRef<LLVM::GEPArg>{linear},
                                      LLVM::GEPNoWrapFlags::inbounds);
  auto op =
      LLVM::StoreOp::create(builder, loc, value, address, bytesOf(elementType));
  op.setAccessGroupsAttr(builder.getArrayAttr({accessGroup}));
}

void KernelEmitter::enterDepth(unsigned depth) {
  if (depth < levels.size())
    builder.setInsertionPoint(levels[depth]);
  else if (levels.empty())
    builder.setInsertionPoint(nestAnchor);
  else
    builder.setInsertionPoint(
        levels.back().getBody(),
        levels.back().getBody()->without_terminator().end());
}

FailureOr<Value> KernelEmitter::element(Value tensor,
                                        const ElementIndex &index) {
  auto key = std::make_pair(tensor, index.id);
  if (Value known = elements.lookup(key))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  enterDepth(index.depth);
  RankedTensorType type = tensorType(tensor);
  FailureOr<Value> result;
  Value pointer = current.contains(tensor) ? Value() : memory.lookup(tensor);
  if (pointer)
    result = load(pointer, type.getElementType(),
                  linearIndex(type.getShape(), index));
  else {
    ++computations[tensor.getDefiningOp()];
    result = compute(tensor.getDefiningOp(), index);
  }
  if (succeeded(result))
    elements[key] = *result;
  return result;
}

Value KernelEmitter::splat(ConstantOp op) {
  auto data = cast<DenseElementsAttr>(op.getValue());
  Type elementType = data.getElementType();
  if (isa<ComplexType>(elementType)) {
    auto number = data.getSplatValue<std::complex<APFloat>>();
    auto part = [&](const APFloat &value) {
      return arith::ConstantOp::create(
          builder, loc, builder.getFloatAttr(partType(elementType), value));
    };
    return ComplexEmitter{builder, loc}.make(part(number.real()),
                                             part(number.imag()));
  }
  TypedAttr value = cast<TypedAttr>(data.getSplatValue<Attribute>());
  if (auto integer = dyn_cast<IntegerAttr>(value))
    value =
        IntegerAttr::get(computeType(integer.getType()), integer.getValue());
  else if (isSmallFloat(elementType))
    value = smallConstant(cast<FloatAttr>(value).getValue(), elementType);
  return arith::ConstantOp::create(builder, loc, value);
}

/// The value on the first device of the group, the neutral element elsewhere.
FailureOr<Value> KernelEmitter::partial(coll::MakePartialOp op,
                                        const ElementIndex &index) {
  FailureOr<Value> value = element(op.getInput(), index);
  if (failed(value))
    return failure();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        coordinate(op.getGroup()), constant(0));
  Value neutral = emitNeutral(builder, loc, op.getKind(),
                              tensorType(op.getInput()).getElementType());
  return arith::SelectOp::create(builder, loc, isFirst, *value, neutral)
      .getResult();
}

FailureOr<Value> KernelEmitter::compute(Operation *op,
                                        const ElementIndex &index) {
  if (isElementwise(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> value = element(operand, index);
      if (failed(value))
        return failure();
      operands.push_back(*value);
    }
    enterDepth(index.depth);
    return emitScalarOp(builder, op, operands);
  }
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](ConstantOp op) -> FailureOr<Value> { return splat(op); })
      .Case([&](IotaOp iota) { return counted(iota, index); })
      .Case([&](RngBitsOp rng) { return randomBits(rng, index); })
      .Case([&](ReshapeOp reshape) { return reshaped(reshape, index); })
      .Case([&](PadOp pad) { return padded(pad, index); })
      .Case([&](ConcatenateOp concatenate) {
        return concatenated(concatenate, index);
      })
      .Case([&](GatherOp gather) {
        return gatheredElement(*this, gather, index);
      })
      .Case(
          [&](OneHotOp oneHot) { return oneHotElement(*this, oneHot, index); })
      .Case(
          [&](DynamicSliceOp slice) { return dynamicallySliced(slice, index); })
      .Case([&](DynamicUpdateSliceOp update) {
        return dynamicallyUpdated(update, index);
      })
      .Case([&](coll::CoordinateOp op) -> FailureOr<Value> {
        return coordinate(op.getGroup());
      })
      .Case([&](coll::MakePartialOp op) { return partial(op, index); })
      .Default([&](Operation *other) { return computeMoved(other, index); });
}

/// Ops whose element is an element of their operand.
FailureOr<Value> KernelEmitter::computeMoved(Operation *op,
                                             const ElementIndex &index) {
  SmallVector<Value> dims;
  unsigned depth = index.depth;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (int64_t dim : broadcast.getDims())
      dims.push_back(index.dims[dim]);
    // Known as soon as the loops over its own dimensions are open.
    unsigned known = 0;
    for (Value dim : dims)
      known = std::max(known, depthOf(dim, index.depth));
    depth = std::min(depth, known);
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    dims.resize(index.dims.size());
    for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
      dims[from] = index.dims[i];
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(index.dims))
      dims.push_back(
          add(mul(dim, slice.getStride()[i]), constant(slice.getStart()[i])));
  } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
    dims.assign(index.dims.begin(), index.dims.end());
    for (int64_t dim : reverse.getDims())
      dims[dim] = arith::SubIOp::create(
          builder, loc,
          constant(tensorType(reverse.getInput()).getDimSize(dim) - 1),
          dims[dim]);
  } else if (auto roll = dyn_cast<RollOp>(op)) {
    for (auto [dim, size, shift] :
         llvm::zip_equal(index.dims, tensorType(roll.getInput()).getShape(),
                         roll.getShift()))
      dims.push_back(rolled(dim, size, shift));
  } else if (auto slice = dyn_cast<coll::SliceOp>(op)) {
    dims.assign(index.dims.begin(), index.dims.end());
    int64_t dim = slice.getDim();
    Value start = mul(coordinate(slice.getGroup()),
                      tensorType(slice.getResult()).getDimSize(dim));
    Value last = constant(tensorType(slice.getInput()).getDimSize(dim) - 1);
    // Positions past the end are padding: any element will do.
    dims[dim] =
        arith::MinSIOp::create(builder, loc, add(dims[dim], start), last);
  } else {
    return op->emitError()
           << "'" << op->getName()
           << "' has no CPU code; it must not be part of a kernel";
  }
  return element(op->getOperand(0), makeIndex(dims, depth));
}

unsigned KernelEmitter::depthOf(Value position, unsigned otherwise) {
  for (auto [level, loop] : llvm::enumerate(levels))
    if (loop.getInductionVar() == position)
      return level + 1;
  return otherwise;
}

FailureOr<Value> KernelEmitter::reshaped(ReshapeOp op,
                                         const ElementIndex &index) {
  if (index.linear)
    return element(op.getInput(), index);
  Value linear = linearIndex(tensorType(op.getResult()).getShape(), index);
  SmallVector<Value> dims;
  ArrayRef<int64_t> shape = tensorType(op.getInput()).getShape();
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    if (i == 0) {
      dims.push_back(linear);
      break;
    }
    Value size = constant(shape[i]);
    dims.push_back(arith::RemUIOp::create(builder, loc, linear, size));
    linear = arith::DivUIOp::create(builder, loc, linear, size);
  }
  std::reverse(dims.begin(), dims.end());
  return element(op.getInput(), makeIndex(dims, index.depth));
}

/// Does the kernel mix bits, as a random generator that is written out does?
static bool mixesBits(func::FuncOp kernel) {
  return llvm::any_of(kernel.getOps<XorOp>(), [](XorOp op) {
    return !tensorType(op.getResult()).getElementType().isInteger(1);
  });
}

Value KernelEmitter::unknownZero(Type type) {
  OpBuilder::InsertionGuard guard(builder);
  enterDepth(0);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
  return LLVM::InlineAsmOp::create(
             builder, loc, type, zero, /*asm_string=*/"",
             /*constraints=*/"=r,0", /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getRes();
}

Value KernelEmitter::asBits(Value position) {
  return arith::XOrIOp::create(builder, loc, position,
                               unknownZero(position.getType()));
}

FailureOr<Value> KernelEmitter::counted(IotaOp op, const ElementIndex &index) {
  Value position = index.dims[op.getDim()];
  if (op.getOffset()) {
    FailureOr<Value> offset = element(op.getOffset(), makeIndex({}, 0));
    if (failed(offset))
      return failure();
    enterDepth(index.depth);
    position = add(position, *offset);
  }
  Type type = tensorType(op.getResult()).getElementType(),
       target = computeType(type);
  if (isa<ComplexType>(target)) {
    Value re =
        arith::SIToFPOp::create(builder, loc, partType(target), position);
    return ComplexEmitter{builder, loc}.make(
        re, arith::ConstantOp::create(
                builder, loc, builder.getFloatAttr(partType(target), 0)));
  }
  if (isa<FloatType>(target))
    return roundedTo(builder, loc, type,
                     arith::SIToFPOp::create(builder, loc, target, position));
  if (target.getIntOrFloatBitWidth() < 64)
    position = arith::TruncIOp::create(builder, loc, target, position);
  return mixesBits(kernel) ? asBits(position) : position;
}

FailureOr<Value> KernelEmitter::randomBits(RngBitsOp op,
                                           const ElementIndex &index) {
  Value position;
  if (!op.getGlobalShape()) {
    position = linearIndex(tensorType(op.getResult()).getShape(), index);
  } else {
    for (auto [dim, offset, size] :
         llvm::zip_equal(index.dims, op.getOffsets(), *op.getGlobalShape())) {
      FailureOr<Value> start = element(offset, makeIndex({}, 0));
      if (failed(start))
        return failure();
      enterDepth(index.depth);
      Value along = add(dim, *start);
      position = position ? add(mul(position, size), along) : along;
    }
    if (!position)
      position = constant(0);
  }
  Value key[2];
  for (int64_t i = 0; i < 2; ++i) {
    enterDepth(0);
    FailureOr<Value> word = element(op.getKey(), makeIndex(constant(i), 0));
    if (failed(word))
      return failure();
    key[i] = *word;
  }
  enterDepth(index.depth);
  Type i32 = builder.getI32Type();
  Value high = arith::TruncIOp::create(
      builder, loc, i32,
      arith::ShRUIOp::create(builder, loc, position, constant(32)));
  Value low = arith::TruncIOp::create(builder, loc, i32, position);
  return emitThreefry(builder, loc, key[0], key[1], high, asBits(low));
}

Value KernelEmitter::coordinate(LayoutAttr group) {
  Mesh mesh = group.getMesh().getMesh();
  Layout layout = group.getLayout();
  Value result = constant(0);
  for (const SubAxis &sub : layout.dims[0]) {
    Value along = load(coordinates, builder.getI64Type(), constant(sub.axis));
    int64_t minor = mesh.axes[sub.axis].size / sub.skip / sub.size;
    Value digit = arith::DivUIOp::create(builder, loc, along, constant(minor));
    digit = arith::RemUIOp::create(builder, loc, digit, constant(sub.size));
    result = add(mul(result, sub.size), digit);
  }
  return result;
}

} // namespace weft::cpu
