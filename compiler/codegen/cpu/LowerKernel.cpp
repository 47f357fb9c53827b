//===- LowerKernel.cpp - a kernel's text to an object file -----------------===//

#include "weft/compiler/codegen/cpu/LowerKernel.h"

#include "weft/compiler/codegen/MachineCode.h"
#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/dialects/coll/Coll.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

namespace weft::cpu {

namespace {
/// Without the instruction a fused multiply-add would be a call for each element.
struct SplitMultiplyAdd : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const override {
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), op.getA(), op.getB());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getC());
    return success();
  }
};
} // namespace

static LogicalResult approximateMath(ModuleOp module, const CpuTarget &target) {
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns, MathPolynomialApproximationOptions());
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  if (target.hasFma)
    return success();
  RewritePatternSet split(module.getContext());
  split.add<SplitMultiplyAdd>(module.getContext());
  return applyPatternsGreedily(module, std::move(split));
}

/// Functions of complex numbers become ones of their parts, which are then
/// approximated like any other. Says whether there are any.
static FailureOr<bool> splitComplex(ModuleOp module) {
  bool found = module.walk([](Operation *op) { return isa<complex::ComplexDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
  if (!found)
    return false;
  PassManager passes(module.getContext());
  passes.addPass(createConvertComplexToStandardPass({.complexRange = complex::ComplexRangeFlags::improved}));
  if (failed(passes.run(module)))
    return failure();
  return true;
}

static LogicalResult lowerToLLVMDialect(ModuleOp module, const CpuTarget &target) {
  auto kernels = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp kernel : kernels) {
    if (failed(KernelEmitter(kernel, target).emit()))
      return failure();
    std::string name = kernel.getName().str();
    kernel.erase();
    // The entry takes over the kernel's name.
    module.lookupSymbol<LLVM::LLVMFuncOp>(name + ".entry").setName(name);
  }
  FailureOr<bool> complex = splitComplex(module);
  if (failed(complex) || failed(approximateMath(module, target)))
    return failure();
  PassManager passes(module.getContext());
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createConvertFuncToLLVMPass()); // libm's functions
  if (*complex)
    passes.addPass(createConvertComplexToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(module)))
    return failure();
  // The note about a loop travels as a discardable attribute of its branch.
  module.walk([](Operation *op) {
    auto note = op->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
    if (auto branch = dyn_cast<LLVM::CondBrOp>(op); branch && note)
      branch.setLoopAnnotationAttr(note);
    if (auto branch = dyn_cast<LLVM::BrOp>(op); branch && note)
      branch.setLoopAnnotationAttr(note);
  });
  return success();
}

static std::unique_ptr<llvm::TargetMachine> createMachine(const CpuTarget &target, llvm::CodeGenOptLevel level, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(target.triple);
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, std::nullopt, level));
}

KernelLowering::KernelLowering(const CpuTarget &target) : target(target) {
  DialectRegistry registry;
  registry.insert<WeftDialect, coll::CollDialect, func::FuncDialect, arith::ArithDialect, complex::ComplexDialect, math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
}

KernelLowering::~KernelLowering() = default;

llvm::TargetMachine *KernelLowering::machineOf(llvm::CodeGenOptLevel level, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> &machine = level == llvm::CodeGenOptLevel::None ? plain : optimizing;
  if (!machine)
    machine = createMachine(target, level, error);
  return machine.get();
}

std::string KernelLowering::lower(StringRef text, llvm::CodeGenOptLevel level, llvm::CodeGenFileType type, SmallVectorImpl<char> &code) {
  std::string error;
  llvm::TargetMachine *machine = machineOf(level, error);
  if (!machine)
    return "no code generator for " + target.triple + ": " + error;
  seen += text.size();
  CollectedErrors errors(context.get());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(context.get()));
  if (!module || failed(lowerToLLVMDialect(*module, target)))
    return errors.textOr("lowering failed");
  return errors.textOr(emitMachineCode(*module, *machine, type, code, [&](llvm::Module &translated) {
    defineBFloatRounding(translated);
    for (llvm::Function &function : translated) {
      function.addFnAttr("target-cpu", target.cpu);
      function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBytes * 8));
      function.addFnAttr(llvm::Attribute::NoUnwind);
    }
  }));
}

std::unique_ptr<KernelLowering> KeptLowerings::take() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<KernelLowering> lowering = std::move(idle.back());
      idle.pop_back();
      return lowering;
    }
  }
  return std::make_unique<KernelLowering>(target);
}

void KeptLowerings::giveBack(std::unique_ptr<KernelLowering> lowering) {
  std::lock_guard<std::mutex> lock(mutex);
  if (lowering && !lowering->isWorn() && idle.size() < kMost)
    idle.push_back(std::move(lowering));
}

} // namespace weft::cpu
