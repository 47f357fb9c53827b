//===- MovedElements.cpp - elements that come from another position -------===//

#include "weft/compiler/codegen/cpu/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::cpu {

FailureOr<Value> KernelEmitter::padded(PadOp op, const ElementIndex &index) {
  RankedTensorType type = tensorType(op.getInput());
  Value outside =
      emitNeutral(builder, loc, ReduceKind::Sum, type.getElementType());
  if (op.getValue()) {
    FailureOr<Value> given = element(op.getValue(), makeIndex({}, 0));
    if (failed(given))
      return failure();
    enterDepth(index.depth);
    outside = *given;
  }
  if (type.getNumElements() == 0)
    return outside;
  Value inside =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  SmallVector<Value> dims;
  for (auto [i, dim] : llvm::enumerate(index.dims)) {
    Value position = add(dim, constant(-op.getLow()[i]));
    auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
      Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
      inside = arith::AndIOp::create(builder, loc, inside, holds);
    };
    require(arith::CmpIPredicate::sge, position, constant(0));
    if (op.getInterior()[i] != 0) {
      Value step = constant(op.getInterior()[i] + 1);
      require(arith::CmpIPredicate::eq,
              arith::RemSIOp::create(builder, loc, position, step),
              constant(0));
      position = arith::DivSIOp::create(builder, loc, position, step);
    }
    require(arith::CmpIPredicate::slt, position, constant(type.getDimSize(i)));
    // An element that exists is read in any case, then not used.
    position = arith::MaxSIOp::create(builder, loc, position, constant(0));
    dims.push_back(arith::MinSIOp::create(builder, loc, position,
                                          constant(type.getDimSize(i) - 1)));
  }
  FailureOr<Value> value = element(op.getInput(), makeIndex(dims, index.depth));
  if (failed(value))
    return failure();
  enterDepth(index.depth);
  return arith::SelectOp::create(builder, loc, inside, *value, outside)
      .getResult();
}

FailureOr<Value> KernelEmitter::concatenated(ConcatenateOp op,
                                             const ElementIndex &index) {
  int64_t dim = op.getDim(), start = 0;
  Value result;
  for (Value input : op.getInputs()) {
    int64_t size = tensorType(input).getDimSize(dim);
    if (size == 0)
      continue;
    enterDepth(index.depth);
    SmallVector<Value> dims(index.dims.begin(), index.dims.end());
    Value position = add(dims[dim], constant(-start));
    Value clamped = arith::MaxSIOp::create(builder, loc, position, constant(0));
    dims[dim] =
        arith::MinSIOp::create(builder, loc, clamped, constant(size - 1));
    FailureOr<Value> value = element(input, makeIndex(dims, index.depth));
    if (failed(value))
      return failure();
    enterDepth(index.depth);
    Value reached = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, position, constant(0));
    result =
        result ? arith::SelectOp::create(builder, loc, reached, *value, result)
                     .getResult()
               : *value;
    start += size;
  }
  return result;
}

/// (position - shift) mod size, with one comparison.
Value KernelEmitter::rolled(Value position, int64_t size, int64_t shift) {
  int64_t by = size == 0 ? 0 : ((shift % size) + size) % size;
  if (by == 0)
    return position;
  Value back = add(position, constant(-by));
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      back, constant(0));
  return arith::SelectOp::create(builder, loc, wraps,
                                 add(position, constant(size - by)), back);
}

/// Known in front of all loops: the starts of a block, clamped into the whole.
FailureOr<SmallVector<Value>>
KernelEmitter::clampedStarts(ValueRange starts, ArrayRef<int64_t> whole,
                             ArrayRef<int64_t> block) {
  SmallVector<Value> result;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    FailureOr<Value> value = element(start, makeIndex({}, 0));
    if (failed(value))
      return failure();
    enterDepth(0);
    result.push_back(clampedPosition(*value, tensorType(start).getElementType(),
                                     whole[dim] - block[dim]));
  }
  return result;
}

Value KernelEmitter::extended(Value value, Type elementType) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  if (isUnsigned(elementType))
    return arith::ExtUIOp::create(builder, loc, i64, value);
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

Value KernelEmitter::narrowed(Value position, Value tensor) {
  Type type = computeType(tensorType(tensor).getElementType());
  if (position.getType() == type)
    return position;
  return arith::TruncIOp::create(builder, loc, type, position);
}

Value KernelEmitter::clampedPosition(Value value, Type elementType,
                                     int64_t last) {
  value = extended(value, elementType);
  if (isUnsigned(elementType))
    return arith::MinUIOp::create(builder, loc, value, constant(last));
  value = arith::MaxSIOp::create(builder, loc, value, constant(0));
  return arith::MinSIOp::create(builder, loc, value, constant(last));
}

FailureOr<Value> KernelEmitter::dynamicallySliced(DynamicSliceOp op,
                                                  const ElementIndex &index) {
  auto starts =
      clampedStarts(op.getStarts(), tensorType(op.getInput()).getShape(),
                    tensorType(op.getResult()).getShape());
  if (failed(starts))
    return failure();
  enterDepth(index.depth);
  SmallVector<Value> dims;
  for (auto [dim, start] : llvm::zip_equal(index.dims, *starts))
    dims.push_back(add(dim, start));
  return element(op.getInput(), makeIndex(dims, index.depth));
}

FailureOr<Value> KernelEmitter::dynamicallyUpdated(DynamicUpdateSliceOp op,
                                                   const ElementIndex &index) {
  ArrayRef<int64_t> block = tensorType(op.getUpdate()).getShape();
  FailureOr<Value> outside = element(op.getInput(), index);
  if (failed(outside) || elementCount(op.getUpdate()) == 0)
    return outside;
  auto starts = clampedStarts(op.getStarts(),
                              tensorType(op.getInput()).getShape(), block);
  if (failed(starts))
    return failure();
  enterDepth(index.depth);
  Value inside =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  SmallVector<Value> dims;
  for (auto [dim, start, size] : llvm::zip_equal(index.dims, *starts, block)) {
    Value position = arith::SubIOp::create(builder, loc, dim, start);
    // Unsigned, what lies before the block is past its end.
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        position, constant(size));
    inside = arith::AndIOp::create(builder, loc, inside, holds);
    position = arith::MaxSIOp::create(builder, loc, position, constant(0));
    dims.push_back(
        arith::MinSIOp::create(builder, loc, position, constant(size - 1)));
  }
  FailureOr<Value> value =
      element(op.getUpdate(), makeIndex(dims, index.depth));
  if (failed(value))
    return failure();
  enterDepth(index.depth);
  return arith::SelectOp::create(builder, loc, inside, *value, *outside)
      .getResult();
}

} // namespace weft::cpu
