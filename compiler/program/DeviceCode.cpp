//===- DeviceCode.cpp - code of devices as ops of a plan ------------------===//

#include "weft/compiler/program/DeviceCode.h"

#include "weft/dialects/nest/KernelWork.h"
#include "weft/dialects/plan/KernelResults.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/KernelTraits.h"

using namespace mlir;
using namespace weft;

/// Creates the library call `name`, to which launches refer, with the kernel's
/// code as its fallback.
static void createContraction(OpBuilder &builder, plan::DeviceKernelOp code,
                              StringRef name, StringAttr fallback,
                              plan::ContractionAttr of) {
  builder.setInsertionPointAfter(code);
  auto made = plan::LibraryContractionOp::create(
      builder, code.getLoc(), builder.getStringAttr(name),
      builder.getDenseI64ArrayAttr(of.getBatch()),
      builder.getDenseI64ArrayAttr(of.getRows()),
      builder.getDenseI64ArrayAttr(of.getColumns()),
      builder.getDenseI64ArrayAttr(of.getContract()),
      builder.getDenseI64ArrayAttr(of.getFirst()), TypeAttr::get(of.getSums()),
      plan::EpilogueAttr::get(builder.getContext(), of.getEpilogue()),
      plan::ComputeAttr::get(builder.getContext(), of.getCompute()),
      FlatSymbolRefAttr::get(fallback), builder.getI64IntegerAttr(0));
  for (StringRef name : {plan::kOperationsAttr, plan::kResultsAttr})
    made->setAttr(name, code->getAttr(name));
}

void weft::countOperations(ModuleOp module) {
  Builder builder(module.getContext());
  for (auto kernel : module.getOps<func::FuncOp>())
    if (isKernel(kernel))
      kernel->setAttr(plan::kOperationsAttr,
                      builder.getF64FloatAttr(nest::operationsOf(kernel)));
}

void weft::placeDeviceCode(ModuleOp module, const CompiledKernels &code) {
  if (code.deviceKernels.empty())
    return;
  SymbolTable symbols(module);
  OpBuilder builder(module.getBodyRegion());
  auto ptx = plan::DeviceModuleOp::create(builder, module.getLoc(),
                                          "device_code", code.chip,
                                          plan::ModuleFormat::ptx, code.ptx);
  StringAttr name = symbols.insert(ptx);
  for (const DeviceKernel &kernel : code.deviceKernels) {
    Operation *function = symbols.lookup(kernel.name);
    builder.setInsertionPoint(function);
    auto library =
        function->getAttrOfType<plan::ContractionAttr>(plan::kLibraryAttr);
    auto made = plan::DeviceKernelOp::create(
        builder, function->getLoc(), builder.getStringAttr(kernel.name),
        FlatSymbolRefAttr::get(name), builder.getStringAttr(kernel.name),
        builder.getDenseI64ArrayAttr(kernel.block),
        builder.getI64IntegerAttr(kernel.blocks),
        builder.getI64IntegerAttr(kernel.shared),
        /*scratch=*/builder.getI64IntegerAttr(0));
    made->setAttr(plan::kOperationsAttr,
                  function->getAttr(plan::kOperationsAttr));
    made->setAttr(plan::kResultsAttr,
                  builder.getI64IntegerAttr(
                      cast<func::FuncOp>(function).getNumResults()));
    symbols.erase(function);
    if (!library) {
      symbols.insert(made);
      continue;
    }
    made.setSymName(kernel.name + "_code");
    createContraction(builder, made, kernel.name, symbols.insert(made),
                      library);
  }
}
