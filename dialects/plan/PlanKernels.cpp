//===- PlanKernels.cpp - kernels that are no functions of the host --------===//

#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace weft;
using namespace weft::plan;

int64_t plan::scratchBytes(Operation *kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kScratchAttr);
  if (!bytes)
    bytes = kernel->getAttrOfType<IntegerAttr>("scratch");
  return bytes ? bytes.getInt() : 0;
}

LogicalResult DeviceModuleOp::verify() {
  if (getChip().empty() || getData().empty()) // (C1)
    return emitOpError("for the chip \"")
           << getChip() << "\" has " << getData().size()
           << " bytes of code; name a chip and give its code";
  return success();
}

LogicalResult DeviceKernelOp::verify() {
  constexpr int64_t mostThreads = 1024;
  int64_t threads = 1;
  for (int64_t size : getBlock())
    threads = size >= 1 && size <= mostThreads && threads <= mostThreads
                  ? threads * size
                  : mostThreads + 1;
  if (getBlock().size() != 3 || threads > mostThreads ||
      static_cast<int64_t>(getBlocks()) < 1) // (C1)
    return emitOpError("has ")
           << static_cast<int64_t>(getBlocks()) << " blocks of [" << getBlock()
           << "] threads; a block has three sizes from 1 on and " << mostThreads
           << " threads at most";
  constexpr int64_t mostShared = 1 << 20;
  auto shared = static_cast<int64_t>(getShared()),
       scratch = static_cast<int64_t>(getScratch());
  if (shared < 0 || shared > mostShared || scratch < 0) // (C3)
    return emitOpError("has ")
           << shared << " bytes of shared and " << scratch
           << " of scratch memory; neither is negative, and a block shares "
           << mostShared << " bytes at most";
  return success();
}

LogicalResult DeviceKernelOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<DeviceModuleOp>(
          *this, getInModuleAttr())) // (C2)
    return success();
  return emitOpError("is in ")
         << getInModuleAttr() << ", which is no plan.device_module";
}

LogicalResult LibraryContractionOp::verify() {
  bool fits = getBatch().size() % 4 == 0 && getRows().size() == 4 &&
              getColumns().size() == 4 && getContract().size() == 4 &&
              getRows()[2] == 0 && getColumns()[1] == 0 &&
              getContract()[3] == 0;
  for (ArrayRef<int64_t> numbers :
       {getBatch(), getRows(), getColumns(), getContract()})
    fits &= llvm::all_of(numbers, [](int64_t number) { return number >= 0; });
  if (!fits) // (C1)
    return emitOpError("has the dimensions batch [")
           << getBatch() << "], rows [" << getRows() << "], columns ["
           << getColumns() << "], contract [" << getContract()
           << "]; each is a size and its strides in lhs, rhs and result, 0 "
              "where there is none";
  return success();
}

LogicalResult
LibraryContractionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<DeviceKernelOp>(
          *this, getFallbackAttr())) // (C2)
    return success();
  return emitOpError("has the fallback ")
         << getFallbackAttr() << ", which is no plan.device_kernel";
}

LogicalResult BuiltinOp::verify() {
  if (getName().empty()) // (C1)
    return emitOpError("has no name; say which kernel of the runtime it is");
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *kernel = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (!kernel)
    return success(); // a symbol of the shared object
  if (!isa<FunctionOpInterface, DeviceKernelOp, LibraryContractionOp,
           BuiltinOp>(kernel)) // (C2)
    return emitOpError("launches ")
           << getKernelAttr() << ", a " << kernel->getName()
           << "; name a function or a kernel";
  int64_t wanted = scratchBytes(kernel);
  int64_t given = getScratch() ? bufferBytes(getScratch().getType()) : 0;
  if (static_cast<bool>(getScratch()) != (wanted > 0) || given < wanted) // (C1)
    return emitOpError("gives ")
           << given << " bytes of scratch memory, but its kernel wants "
           << wanted;
  return success();
}
