//===- DeviceCode.cpp - code of devices as ops of a plan ------------------===//

#include "weft/compiler/program/DeviceCode.h"

#include "weft/dialects/plan/Plan.h"

using namespace mlir;
using namespace weft;

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
    plan::DeviceKernelOp::create(
        builder, function->getLoc(), builder.getStringAttr(kernel.name),
        FlatSymbolRefAttr::get(name), builder.getStringAttr(kernel.name),
        builder.getDenseI64ArrayAttr(kernel.block),
        builder.getI64IntegerAttr(kernel.blocks),
        builder.getI64IntegerAttr(kernel.shared),
        /*scratch=*/builder.getI64IntegerAttr(0));
    function->erase();
  }
}
