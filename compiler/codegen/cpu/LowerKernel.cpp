//===- LowerKernel.cpp - a kernel's text to an object file ----------------===//

#include "weft/compiler/codegen/cpu/LowerKernel.h"

#include "weft/compiler/codegen/cpu/ConvertKernel.h"
#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/compiler/codegen/cpu/RoutineEmitter.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ForeignCode.h"
#include "weft/dialects/coll/Coll.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;

namespace weft::cpu {

/// Replaces functions of complex numbers by functions of their components,
/// which are approximated like other functions.
static LogicalResult splitComplex(ModuleOp module) {
  bool found = module
                   .walk([](Operation *op) {
                     return isa<complex::ComplexDialect>(op->getDialect())
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   })
                   .wasInterrupted();
  if (!found)
    return success();
  PassManager passes(module.getContext());
  passes.addPass(createConvertComplexToStandardPass(
      {.complexRange = complex::ComplexRangeFlags::improved}));
  return passes.run(module);
}

static LogicalResult lowerToLLVMDialect(ModuleOp module,
                                        const CpuTarget &target,
                                        const KernelConversion &conversion) {
  auto kernels = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp kernel : kernels) {
    std::string foreign = elements::foreignOps(kernel);
    if (failed(KernelEmitter(kernel, target).emit()))
      return failure();
    std::string name = kernel.getName().str();
    kernel.erase();
    // The entry gets the kernel's name.
    module.lookupSymbol<LLVM::LLVMFuncOp>(name + ".entry").setName(name);
    if (failed(elements::verifyForeignCode(foreign, module)))
      return failure();
  }
  for (auto routine : llvm::to_vector(module.getOps<plan::RoutineOp>()))
    if (failed(emitRoutine(routine)))
      return failure();
  if (failed(splitComplex(module)) || failed(conversion.run(module)))
    return failure();
  // The loop's annotation is copied to its branch as a discardable attribute.
  module.walk([](Operation *op) {
    auto note =
        op->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
    if (auto branch = dyn_cast<LLVM::CondBrOp>(op); branch && note)
      branch.setLoopAnnotationAttr(note);
    if (auto branch = dyn_cast<LLVM::BrOp>(op); branch && note)
      branch.setLoopAnnotationAttr(note);
  });
  return success();
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const CpuTarget &target, Optimization optimization,
              std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(target.triple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  auto level = optimization == Optimization::Little
                   ? llvm::CodeGenOptLevel::None
                   : llvm::CodeGenOptLevel::Aggressive;
  return std::unique_ptr<llvm::TargetMachine>(
      backend->createTargetMachine(triple, target.cpu, target.features, options,
                                   llvm::Reloc::PIC_, std::nullopt, level));
}

struct KernelLowering::Generator {
  Generator(const CpuTarget &target, Kind kind)
      : machine(createMachine(target, kind.first, error)) {
    if (machine)
      writer.emplace(*machine, kind.second, kind.first);
  }
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::optional<MachineCodeWriter> writer;
};

KernelLowering::KernelLowering(const CpuTarget &target,
                               const DialectRegistry &dialects)
    : target(target) {
  DialectRegistry registry;
  registry.insert<WeftDialect, coll::CollDialect, nest::NestDialect,
                  plan::PlanDialect, func::FuncDialect, arith::ArithDialect,
                  complex::ComplexDialect, math::MathDialect, scf::SCFDialect,
                  cf::ControlFlowDialect, vector::VectorDialect,
                  LLVM::LLVMDialect>();
  elements::registerElementCode(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->appendDialectRegistry(dialects);
  conversion = std::make_unique<KernelConversion>(context.get(), target.hasFma);
}

KernelLowering::~KernelLowering() = default;

bool KernelLowering::knows(const DialectRegistry &dialects) const {
  return dialects.isSubsetOf(context->getDialectRegistry());
}

KernelLowering::Generator &KernelLowering::generatorOf(Kind kind) {
  std::unique_ptr<Generator> &generator = generators[kind];
  if (!generator)
    generator = std::make_unique<Generator>(target, kind);
  return *generator;
}

std::string KernelLowering::lower(StringRef text, Optimization optimization,
                                  llvm::CodeGenFileType type,
                                  SmallVectorImpl<char> &code) {
  Generator &generator = generatorOf({optimization, type});
  if (!generator.writer)
    return "no code generator for " + target.triple + ": " + generator.error;
  seen += text.size();
  CollectedErrors errors(context.get());
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(context.get()));
  if (!module || failed(lowerToLLVMDialect(*module, target, *conversion)))
    return errors.textOr("lowering failed");
  return errors.textOr(
      generator.writer->write(*module, code, [&](llvm::Module &translated) {
        defineBFloatRounding(translated);
        for (llvm::Function &function : translated) {
          function.addFnAttr("target-cpu", target.cpu);
          function.addFnAttr("prefer-vector-width",
                             std::to_string(target.vectorBytes * 8));
          function.addFnAttr(llvm::Attribute::NoUnwind);
        }
      }));
}

std::unique_ptr<KernelLowering>
KeptLowerings::take(const DialectRegistry &dialects) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = llvm::find_if(
        idle, [&](const auto &lowering) { return lowering->knows(dialects); });
    if (found != idle.end()) {
      std::unique_ptr<KernelLowering> lowering = std::move(*found);
      idle.erase(found);
      return lowering;
    }
  }
  return std::make_unique<KernelLowering>(target, dialects);
}

void KeptLowerings::giveBack(std::unique_ptr<KernelLowering> lowering) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!lowering || lowering->isWorn())
    return;
  if (idle.size() == kMost) // Drop the oldest, perhaps of other dialects.
    idle.erase(idle.begin());
  idle.push_back(std::move(lowering));
}

} // namespace weft::cpu
