//===- SharedMemory.cpp - the memory that a block's threads share ---------===//

#include "weft/compiler/codegen/gpu/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace weft::gpu {

void SharedMemory::allocate(Operation *function, StringRef name,
                            int64_t bytes) {
  OpBuilder before(function);
  auto type = LLVM::LLVMArrayType::get(before.getI8Type(), bytes);
  auto space = unsigned(NVVM::NVVMMemorySpace::Shared);
  auto global = LLVM::GlobalOp::create(
      before, nest.loc, type, /*isConstant=*/false, LLVM::Linkage::Internal,
      name, Attribute(), /*alignment=*/16, space);
  pointer = LLVM::AddressOfOp::create(nest.builder, nest.loc, global);
}

Value SharedMemory::at(Value from, Type element, Value offset) {
  return LLVM::GEPOp::create(nest.builder, nest.loc, from.getType(), element,
                             from, ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value SharedMemory::load(Value from, Type element, int64_t count) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Type type = count == 1 ? element : VectorType::get(count, element);
  return LLVM::LoadOp::create(nest.builder, nest.loc, type, from,
                              count * bytes);
}

void SharedMemory::store(Value from, Type element, ArrayRef<Value> values) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, count = values.size();
  Value stored = values.front();
  if (count > 1) {
    stored = LLVM::PoisonOp::create(nest.builder, nest.loc,
                                    VectorType::get(count, element));
    for (auto [i, value] : llvm::enumerate(values))
      stored = LLVM::InsertElementOp::create(nest.builder, nest.loc, stored,
                                             value, nest.constant(i));
  }
  LLVM::StoreOp::create(nest.builder, nest.loc, stored, from, count * bytes);
}

void SharedMemory::barrier() {
  mlir::gpu::BarrierOp::create(nest.builder, nest.loc);
}

void SharedMemory::warpBarrier() {
  Value all = arith::ConstantOp::create(nest.builder, nest.loc,
                                        nest.builder.getI32IntegerAttr(-1));
  NVVM::SyncWarpOp::create(nest.builder, nest.loc, all);
}

} // namespace weft::gpu
