//===- DeviceCode.cpp - code of devices as ops of a plan ------------------===//

#include "weft/compiler/program/DeviceCode.h"

#include "weft/dialects/nest/KernelWork.h"
#include "weft/dialects/plan/KernelResults.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/KernelTraits.h"

using namespace mlir;
using namespace weft;

namespace {
/// Replaces the kernel functions of a module by their code.
class CodePlacer {
public:
  CodePlacer(ModuleOp module, StringAttr code)
      : symbols(module), builder(module.getContext()), code(code) {}
  void place(const DeviceKernel &kernel);

private:
  Operation *createLaunch(func::FuncOp function, const DeviceLaunch &launch,
                          StringRef name);
  Operation *createCode(func::FuncOp function, const DeviceKernel &kernel);
  void createContraction(func::FuncOp function, StringAttr fallback,
                         plan::ContractionAttr of);

  SymbolTable symbols;
  OpBuilder builder;
  StringAttr code;
};
} // namespace

Operation *CodePlacer::createLaunch(func::FuncOp function,
                                    const DeviceLaunch &launch,
                                    StringRef name) {
  return plan::DeviceKernelOp::create(
      builder, function->getLoc(), builder.getStringAttr(name),
      FlatSymbolRefAttr::get(code), builder.getStringAttr(launch.symbol),
      builder.getDenseI64ArrayAttr(launch.block),
      builder.getI64IntegerAttr(launch.blocks),
      builder.getI64IntegerAttr(launch.shared),
      builder.getI64IntegerAttr(plan::scratchBytes(function)));
}

/// Says how much a kernel computes, and how many buffers it writes.
static void describe(func::FuncOp function, Operation *code) {
  code->setAttr(plan::kOperationsAttr,
                function->getAttr(plan::kOperationsAttr));
  Builder builder(function.getContext());
  code->setAttr(plan::kResultsAttr,
                builder.getI64IntegerAttr(function.getNumResults()));
}

/// Creates the kernel's code: one launch, or several in a sequence.
Operation *CodePlacer::createCode(func::FuncOp function,
                                  const DeviceKernel &kernel) {
  if (kernel.launches.size() == 1)
    return createLaunch(function, kernel.launches[0], kernel.name);
  SmallVector<Attribute> parts;
  for (const DeviceLaunch &launch : kernel.launches) {
    StringAttr name = symbols.insert(
        createLaunch(function, launch, launch.symbol + "_launch"));
    parts.push_back(FlatSymbolRefAttr::get(name));
  }
  return plan::KernelSequenceOp::create(
      builder, function->getLoc(), builder.getStringAttr(kernel.name),
      builder.getArrayAttr(parts),
      builder.getI64IntegerAttr(plan::scratchBytes(function)));
}

/// Creates the library call to which launches refer, with the kernel's
/// code as its fallback.
void CodePlacer::createContraction(func::FuncOp function, StringAttr fallback,
                                   plan::ContractionAttr of) {
  auto made = plan::LibraryContractionOp::create(
      builder, function.getLoc(), function.getNameAttr(),
      builder.getDenseI64ArrayAttr(of.getBatch()),
      builder.getDenseI64ArrayAttr(of.getRows()),
      builder.getDenseI64ArrayAttr(of.getColumns()),
      builder.getDenseI64ArrayAttr(of.getContract()),
      builder.getDenseI64ArrayAttr(of.getFirst()), TypeAttr::get(of.getSums()),
      plan::EpilogueAttr::get(builder.getContext(), of.getEpilogue()),
      plan::ComputeAttr::get(builder.getContext(), of.getCompute()),
      FlatSymbolRefAttr::get(fallback),
      builder.getI64IntegerAttr(plan::scratchBytes(function)));
  describe(function, made);
}

void CodePlacer::place(const DeviceKernel &kernel) {
  auto function = cast<func::FuncOp>(symbols.lookup(kernel.name));
  builder.setInsertionPoint(function);
  auto library =
      function->getAttrOfType<plan::ContractionAttr>(plan::kLibraryAttr);
  Operation *made = createCode(function, kernel);
  describe(function, made);
  if (library) {
    SymbolTable::setSymbolName(made, kernel.name + "_code");
    createContraction(function, symbols.insert(made), library);
    symbols.erase(function);
    return;
  }
  symbols.erase(function);
  symbols.insert(made);
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
  CodePlacer placer(module, symbols.insert(ptx));
  for (const DeviceKernel &kernel : code.deviceKernels)
    placer.place(kernel);
}
