//===- LowerToPtx.cpp - kernels' text to PTX ------------------------------===//

#include "weft/compiler/codegen/gpu/LowerToPtx.h"

#include "weft/compiler/codegen/MachineCode.h"
#include "weft/compiler/codegen/elements/AccurateMath.h"
#include "weft/compiler/codegen/elements/DoubleMath.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ForeignCode.h"
#include "weft/compiler/codegen/gpu/GpuKernelEmitter.h"
#include "weft/dialects/coll/Coll.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

namespace weft::gpu {

/// Replaces functions of complex numbers by functions of their components.
static LogicalResult splitComplex(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createConvertComplexToStandardPass(
      {.complexRange = complex::ComplexRangeFlags::improved}));
  return passes.run(module);
}

/// Replaces functions by arithmetic, so that no device library is needed; the
/// remaining functions must be instructions.
static LogicalResult approximateMath(mlir::gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  elements::populateAccurateMathPatterns(patterns);
  elements::populateDoubleMathPatterns(patterns);
  populateMathPolynomialApproximationPatterns(
      patterns, MathPolynomialApproximationOptions());
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  WalkResult result = module.walk([](Operation *op) {
    bool isCall = isa<arith::RemFOp>(op) ||
                  isa_and_nonnull<math::MathDialect>(op->getDialect());
    if (!isCall ||
        isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp,
            math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::FmaOp,
            math::CopySignOp, math::CtPopOp, math::CountLeadingZerosOp>(op))
      return WalkResult::advance();
    auto function = op->getParentOfType<mlir::gpu::GPUFuncOp>();
    op->emitError() << "kernel '" << function.getName() << "' needs '"
                    << op->getName() << "' on " << op->getResult(0).getType()
                    << ", which is no instruction";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The attributes of pointer arguments, which the conversion drops.
static SmallVector<SmallVector<DictionaryAttr>>
argumentAttributes(mlir::gpu::GPUModuleOp module) {
  SmallVector<SmallVector<DictionaryAttr>> all;
  for (auto function : module.getOps<mlir::gpu::GPUFuncOp>()) {
    all.emplace_back();
    function.getAllArgAttrs(all.back());
  }
  return all;
}

/// Converts like the pass convert-gpu-to-nvvm, which refuses LLVM's sqrt and
/// floor in favour of a device library; with all scalar types, since threads
/// exchange complex numbers.
static LogicalResult convertGpuOps(mlir::gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  configureGpuToNVVMTypeConverter(converter);
  RewritePatternSet patterns(context);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateComplexToLLVMConversionPatterns(converter, patterns);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addIllegalDialect<mlir::gpu::GPUDialect, arith::ArithDialect,
                           cf::ControlFlowDialect, complex::ComplexDialect>();
  target.addLegalOp<mlir::gpu::GPUModuleOp>();
  return applyPartialConversion(module, target, std::move(patterns));
}

static LogicalResult lowerToNvvm(mlir::gpu::GPUModuleOp module,
                                 ModuleOp parent) {
  auto attributes = argumentAttributes(module);
  PassManager toLoops(parent.getContext()), passes(parent.getContext());
  toLoops.addPass(createCSEPass());
  toLoops.addPass(createSCFToControlFlowPass());
  toLoops.addPass(createConvertMathToLLVMPass());
  if (failed(toLoops.run(parent)) || failed(convertGpuOps(module)))
    return failure();
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(parent)))
    return failure();
  auto kernels = llvm::filter_to_vector(
      module.getOps<LLVM::LLVMFuncOp>(),
      [](LLVM::LLVMFuncOp function) { return !function.isExternal(); });
  for (auto [kernel, known] : llvm::zip_equal(kernels, attributes))
    for (auto [i, dictionary] : llvm::enumerate(known))
      if (dictionary)
        for (NamedAttribute attribute : dictionary)
          kernel.setArgAttr(i, attribute.getName(), attribute.getValue());
  return success();
}

static std::unique_ptr<llvm::TargetMachine> createMachine(StringRef chip,
                                                          std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, chip, chip == "sm_100a" ? "+ptx86" : "+ptx80",
      llvm::TargetOptions(), std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

static std::string emitPtx(mlir::gpu::GPUModuleOp module, StringRef chip,
                           std::string &ptx) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(chip, error);
  if (!machine)
    return "no PTX back end: " + error;
  SmallVector<char> text;
  error = MachineCodeWriter(*machine, llvm::CodeGenFileType::AssemblyFile,
                            Optimization::Full)
              .write(module, text, [](llvm::Module &) {});
  ptx.assign(text.begin(), text.end());
  return error;
}

/// Builds a gpu.module with a gpu.func for each kernel, and erases the kernels.
static FailureOr<mlir::gpu::GPUModuleOp> emitFunctions(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto kernels = llvm::to_vector(module.getOps<func::FuncOp>());
  auto result =
      mlir::gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
  for (func::FuncOp kernel : kernels) {
    std::string why;
    std::string foreign = elements::foreignOps(kernel);
    for (auto [i, loops] : llvm::enumerate(findLaunches(kernel, why)))
      if (failed(GpuKernelEmitter(kernel, loops, launchName(kernel, i))
                     .emit(result)))
        return failure();
    if (!why.empty() || failed(elements::verifyForeignCode(foreign, result)))
      return failure();
  }
  for (func::FuncOp kernel : kernels)
    kernel.erase();
  return result;
}

std::string lowerToPtx(StringRef text, StringRef chip, std::string &ptx) {
  DialectRegistry registry;
  registry
      .insert<WeftDialect, coll::CollDialect, nest::NestDialect,
              func::FuncDialect, arith::ArithDialect, complex::ComplexDialect,
              math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect,
              vector::VectorDialect, memref::MemRefDialect, LLVM::LLVMDialect,
              mlir::gpu::GPUDialect, NVVM::NVVMDialect>();
  elements::registerElementCode(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  CollectedErrors errors(&context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  auto functions =
      module ? emitFunctions(*module) : FailureOr<mlir::gpu::GPUModuleOp>();
  if (failed(functions) || failed(splitComplex(*module)) ||
      failed(approximateMath(*functions)) ||
      failed(lowerToNvvm(*functions, *module)))
    return errors.textOr("lowering failed");
  return errors.textOr(emitPtx(*functions, chip, ptx));
}

} // namespace weft::gpu
