//===- PlanKernels.cpp - kernels that are no functions of the host --------===//

#include "weft/dialects/plan/KernelResults.h"
#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/layout/Sizes.h"

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

/// Checks lists of four numbers a dimension; a number is 0 if the operand or
/// result lacks the dimension.
static LogicalResult
checkDimensions(function_ref<InFlightDiagnostic()> emitError,
                ArrayRef<int64_t> batch, ArrayRef<int64_t> rows,
                ArrayRef<int64_t> columns, ArrayRef<int64_t> contract,
                ArrayRef<int64_t> first) {
  bool fits = batch.size() % 4 == 0 && rows.size() == 4 &&
              columns.size() == 4 && contract.size() == 4 && rows[2] == 0 &&
              columns[1] == 0 && contract[3] == 0 &&
              (first.empty() || first.size() == 2);
  for (ArrayRef<int64_t> numbers : {batch, rows, columns, contract, first})
    fits &= llvm::all_of(numbers, [](int64_t number) { return number >= 0; });
  if (fits)
    return success();
  InFlightDiagnostic error = // (C1)
      emitError() << "has the dimensions batch [" << batch << "], rows ["
                  << rows << "], columns [" << columns << "], contract ["
                  << contract << "]";
  if (!first.empty())
    error << " from the elements [" << first << "] on";
  error << "; each is a size and its strides in lhs, rhs and result, 0 where "
           "there is none";
  if (!first.empty())
    error
        << ", and operands begin at two elements, that of lhs and that of rhs";
  return error;
}

LogicalResult plan::ContractionAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> batch,
    ArrayRef<int64_t> rows, ArrayRef<int64_t> columns,
    ArrayRef<int64_t> contract, ArrayRef<int64_t> first, Type, Epilogue,
    Compute) {
  return checkDimensions([&] { return emitError() << "the contraction "; },
                         batch, rows, columns, contract, first);
}

bool plan::hasBias(Epilogue epilogue) {
  return epilogue == Epilogue::bias || epilogue == Epilogue::bias_relu ||
         epilogue == Epilogue::bias_gelu_tanh;
}

/// The number of elements of lhs (1), rhs (2) or the result (3) up to the last
/// used element.
static int64_t reach(plan::ContractionAttr of, unsigned array) {
  bool isOperand = array < 3;
  int64_t last =
      isOperand && !of.getFirst().empty() ? of.getFirst()[array - 1] : 0;
  auto add = [&](ArrayRef<int64_t> dims) {
    for (; !dims.empty(); dims = dims.drop_front(4))
      last = saturatingAdd(
          last,
          saturatingMultiply(std::max<int64_t>(dims[0] - 1, 0), dims[array]));
  };
  for (ArrayRef<int64_t> dims :
       {of.getBatch(), of.getRows(), of.getColumns(), of.getContract()})
    add(dims);
  return saturatingAdd(last, 1);
}

/// (C2) Checks that the kernel's arguments and result hold the contraction's
/// operands and result.
static LogicalResult checkKernel(FunctionOpInterface kernel,
                                 plan::ContractionAttr of) {
  bool isBiased = plan::hasBias(of.getEpilogue());
  SmallVector<int64_t> wanted = {reach(of, 1), reach(of, 2)};
  if (isBiased)
    wanted.push_back(of.getColumns()[0]);
  wanted.push_back(reach(of, 3));
  SmallVector<Type> types(kernel.getArgumentTypes());
  llvm::append_range(types, kernel.getResultTypes());
  bool fits = kernel.getNumResults() == 1 && types.size() == wanted.size();
  for (auto [type, elements] : llvm::zip(types, wanted)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    fits &= tensor && tensor.hasStaticShape() &&
            tensor.getNumElements() >= elements;
  }
  if (fits)
    return success();
  return kernel.emitError() // (C2)
         << "kernel " << kernel.getNameAttr() << " of "
         << kernel.getFunctionType() << " is no " << of
         << "; its arguments are lhs, rhs" << (isBiased ? ", the bias" : "")
         << ", with one result";
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  auto kernel = dyn_cast<FunctionOpInterface>(op);
  auto of = dyn_cast<plan::ContractionAttr>(attribute.getValue());
  if (attribute.getName() == kLibraryAttr && isKernel(op) && kernel && of)
    return checkKernel(kernel, of);
  auto count = dyn_cast<FloatAttr>(attribute.getValue());
  if (attribute.getName() == kOperationsAttr && count &&
      count.getType().isF64() && count.getValueAsDouble() >= 0)
    return success();
  auto results = dyn_cast<IntegerAttr>(attribute.getValue());
  if (attribute.getName() == kResultsAttr && results &&
      results.getType().isSignlessInteger(64) && results.getInt() >= 0)
    return success();
  auto shared = dyn_cast<LayoutAttr>(attribute.getValue());
  if (attribute.getName() == kSharedAttr && shared &&
      shared.getLayout().dims.size() == 1)
    return success();
  if (attribute.getName() == kSharedOffsetAttr && results &&
      results.getInt() >= 0)
    return success();
  return op->emitError()
         << "attribute '" << attribute.getName() << "' is "
         << attribute.getValue() << "; write '" << kLibraryAttr
         << " = #plan.contraction<...>' on a kernel function, '"
         << kOperationsAttr << " = 1.0' or '" << kResultsAttr
         << " = 1 : i64' on a kernel, '" << kSharedAttr
         << " = #weft.layout<...>' of rank 1 on what devices share";
}

LogicalResult LibraryContractionOp::verify() {
  return checkDimensions([&] { return emitOpError(); }, getBatch(), getRows(),
                         getColumns(), getContract(), getFirst());
}

LogicalResult
LibraryContractionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (isa_and_nonnull<DeviceKernelOp, KernelSequenceOp>(
          symbols.lookupNearestSymbolFrom(*this, getFallbackAttr()))) // (C2)
    return success();
  return emitOpError("has the fallback ")
         << getFallbackAttr()
         << ", which is no plan.device_kernel or plan.kernel_sequence";
}

LogicalResult
KernelSequenceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  bool fits = getKernels().size() >= 2;
  for (auto name : getKernels().getAsRange<FlatSymbolRefAttr>()) {
    auto kernel = symbols.lookupNearestSymbolFrom<DeviceKernelOp>(*this, name);
    fits &= kernel && kernel.getScratch() == getScratch();
  }
  if (fits) // (C1)
    return success();
  return emitOpError("runs ")
         << getKernels() << "; name two plan.device_kernel or more, each with "
         << static_cast<int64_t>(getScratch()) << " bytes of scratch memory";
}

LogicalResult BuiltinOp::verify() {
  if (getName().empty()) // (C1)
    return emitOpError("has no name; say which kernel of the runtime it is");
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *kernel = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (!kernel)
    return success(); // This is a symbol of the shared object.
  if (!isa<FunctionOpInterface, DeviceKernelOp, LibraryContractionOp,
           KernelSequenceOp, BuiltinOp, RoutineOp>(kernel)) // (C2)
    return emitOpError("launches ")
           << getKernelAttr() << ", a " << kernel->getName()
           << "; name a function or a kernel";
  if (auto routine = dyn_cast<RoutineOp>(kernel);
      routine &&
      routine.getBody().getArgumentTypes() != getBuffers().getTypes()) // (C3)
    return emitOpError("gives the routine ")
           << getKernelAttr() << " buffers of types ("
           << getBuffers().getTypes() << "), it takes ("
           << routine.getBody().getArgumentTypes() << ")";
  int64_t wanted = scratchBytes(kernel);
  int64_t given = getScratch() ? bufferBytes(getScratch().getType()) : 0;
  if (static_cast<bool>(getScratch()) != (wanted > 0) || given < wanted) // (C1)
    return emitOpError("gives ")
           << given << " bytes of scratch memory, but its kernel wants "
           << wanted;
  return success();
}
