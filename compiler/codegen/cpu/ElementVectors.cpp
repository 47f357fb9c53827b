//===- ElementVectors.cpp - neighbours in memory as a vector --------------===//

#include "weft/compiler/codegen/cpu/ElementVectors.h"

#include "weft/compiler/codegen/elements/Registers.h"
#include "weft/compiler/codegen/elements/SmallFloatOps.h"
#include "weft/compiler/codegen/elements/TransposedVectors.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

ElementVectors::ElementVectors(OpBuilder &builder, Location loc, Type memory,
                               Type registers)
    : builder(&builder), loc(loc), memory(memory),
      registers(computeType(registers)),
      loaded(memory.isBF16() && registers != memory ? builder.getI16Type()
                                                    : storageType(memory)),
      alignment(bytesOf(memory)) {}

/// `element`, or a vector with as many elements as `like` has.
static Type shapedAs(Value like, Type element) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? vector.clone(element) : element;
}

Value ElementVectors::extended(Value value) {
  Type wide = shapedAs(value, registers);
  if (isSmallFloat(memory)) {
    value = smallFromBits(*builder, loc, memory, value);
  } else if (memory.isBF16() && loaded != memory) {
    Type i32 = shapedAs(value, builder->getI32Type());
    Value bits = arith::ExtUIOp::create(*builder, loc, i32, value);
    Value half = arith::ConstantOp::create(
        *builder, loc,
        isa<VectorType>(i32)
            ? TypedAttr(DenseElementsAttr::get(cast<VectorType>(i32),
                                               builder->getI32IntegerAttr(16)))
            : builder->getI32IntegerAttr(16));
    bits = arith::ShLIOp::create(*builder, loc, bits, half);
    value = arith::BitcastOp::create(
        *builder, loc, shapedAs(bits, builder->getF32Type()), bits);
  }
  if (value.getType() == wide)
    return value;
  if (isa<FloatType>(registers))
    return arith::ExtFOp::create(*builder, loc, wide, value);
  return isUnsigned(memory)
             ? arith::ExtUIOp::create(*builder, loc, wide, value).getResult()
             : arith::ExtSIOp::create(*builder, loc, wide, value).getResult();
}

Value ElementVectors::zeros(int64_t lanes) {
  return arith::ConstantOp::create(*builder, loc,
                                   builder->getZeroAttr(type(lanes)));
}

Value ElementVectors::mask(int64_t lanes, int64_t count) {
  SmallVector<bool> bits(lanes);
  std::fill_n(bits.begin(), count, true);
  auto type = VectorType::get(lanes, builder->getI1Type());
  return arith::ConstantOp::create(
      *builder, loc, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

Value ElementVectors::address(Value pointer, Value offset) {
  auto type = LLVM::LLVMPointerType::get(builder->getContext());
  return LLVM::GEPOp::create(*builder, loc, type, loaded, pointer,
                             ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value ElementVectors::load(Value pointer, Value offset, int64_t lanes) {
  return extended(LLVM::LoadOp::create(*builder, loc,
                                       VectorType::get(lanes, loaded),
                                       address(pointer, offset), alignment));
}

Value ElementVectors::loadFirst(Value pointer, Value offset, int64_t lanes,
                                int64_t count) {
  if (count >= lanes)
    return load(pointer, offset, lanes);
  auto type = VectorType::get(lanes, loaded);
  Value none =
      arith::ConstantOp::create(*builder, loc, builder->getZeroAttr(type));
  return extended(
      LLVM::MaskedLoadOp::create(*builder, loc, type, address(pointer, offset),
                                 mask(lanes, count), none, alignment));
}

Value ElementVectors::loadScalar(Value pointer, Value offset) {
  return extended(LLVM::LoadOp::create(*builder, loc, loaded,
                                       address(pointer, offset), alignment));
}

Value ElementVectors::loadSplat(Value pointer, Value offset, int64_t lanes) {
  Value element = LLVM::LoadOp::create(*builder, loc, loaded,
                                       address(pointer, offset), alignment);
  return extended(vector::BroadcastOp::create(
      *builder, loc, VectorType::get(lanes, loaded), element));
}

void ElementVectors::store(Value value, Value pointer, Value offset) {
  LLVM::StoreOp::create(*builder, loc, value, address(pointer, offset),
                        alignment);
}

void ElementVectors::storeFirst(Value value, Value pointer, Value offset,
                                int64_t count) {
  int64_t lanes = cast<VectorType>(value.getType()).getNumElements();
  if (count >= lanes)
    return store(value, pointer, offset);
  LLVM::MaskedStoreOp::create(*builder, loc, value, address(pointer, offset),
                              mask(lanes, count), alignment);
}

Value ElementVectors::add(Value a, Value b) {
  return isa<FloatType>(registers)
             ? arith::AddFOp::create(*builder, loc, a, b).getResult()
             : arith::AddIOp::create(*builder, loc, a, b).getResult();
}

Value ElementVectors::multiplyAdd(Value a, Value b, Value c) {
  if (isa<FloatType>(registers))
    return math::FmaOp::create(*builder, loc, a, b, c);
  return add(arith::MulIOp::create(*builder, loc, a, b), c);
}

Value ElementVectors::sumOfLanes(Value vector) {
  auto anyOrder = isa<FloatType>(registers) ? arith::FastMathFlags::reassoc
                                            : arith::FastMathFlags::none;
  return vector::ReductionOp::create(*builder, loc, vector::CombiningKind::ADD,
                                     vector, anyOrder);
}

void ElementVectors::transpose(MutableArrayRef<Value> rows) {
  llvm::copy(
      elements::transposedVectors(*builder, loc, rows, bytesOf(registers)),
      rows.begin());
}

} // namespace weft::cpu
