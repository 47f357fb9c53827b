//===- MachineCode.cpp - the LLVM dialect to objects or text --------------===//

#include "weft/compiler/codegen/MachineCode.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

using namespace weft;

CollectedErrors::CollectedErrors(mlir::MLIRContext *context)
    : handler(context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          text += (text.empty() ? "" : "; ") + diagnostic.str();
        return mlir::success();
      }) {}

/// Simplifies code that must be compiled fast, with few analyses.
static void simplify(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::FunctionAnalysisManager analyses;
  analyses.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  analyses.registerPass([] { return llvm::AssumptionAnalysis(); });
  analyses.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  analyses.registerPass([] { return llvm::TargetLibraryAnalysis(); });
  analyses.registerPass([&] { return machine.getTargetIRAnalysis(); });
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::EarlyCSEPass());
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, analyses);
}

/// The passes of Optimization::Nests. A generator has divided, ordered and
/// mostly vectorized the loops. What is left: short loops, as over a window,
/// are unrolled before loops over scalars are vectorized, and the rest is
/// cleaned up. -O3 takes 1.7 times as long in all, and makes no kernel faster
/// (docs/decisions/2026-11-28-compile-time.md).
static llvm::FunctionPassManager passesForNests() {
  llvm::FunctionPassManager passes;
  auto cleanUp = [&] {
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::InstCombinePass(
        llvm::InstCombineOptions().setVerifyFixpoint(false)));
  };
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  llvm::LoopPassManager rotation;
  rotation.addPass(llvm::LoopRotatePass());
  rotation.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rotation),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass(
      llvm::InstCombineOptions().setVerifyFixpoint(false)));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LoopFullUnrollPass(/*OptLevel=*/3)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  cleanUp();
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::LoopUnrollPass());
  cleanUp();
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     Optimization optimization) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (optimization == Optimization::Nests)
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(passesForNests()));
  else
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  passes.run(module, modules);
}

struct MachineCodeWriter::State {
  State(llvm::TargetMachine &machine, Optimization optimization)
      : machine(machine), optimization(optimization), stream(written) {}
  llvm::TargetMachine &machine;
  Optimization optimization;
  llvm::SmallVector<char, 0> written; ///< output for the current module
  llvm::raw_svector_ostream stream;
  llvm::legacy::PassManager emission;
  bool writesNoSuchFiles = false;
};

MachineCodeWriter::MachineCodeWriter(llvm::TargetMachine &machine,
                                     llvm::CodeGenFileType type,
                                     Optimization optimization)
    : state(std::make_unique<State>(machine, optimization)) {
  state->writesNoSuchFiles = machine.addPassesToEmitFile(
      state->emission, state->stream, nullptr, type);
}

MachineCodeWriter::~MachineCodeWriter() = default;

std::string
MachineCodeWriter::write(mlir::Operation *module,
                         llvm::SmallVectorImpl<char> &code,
                         llvm::function_ref<void(llvm::Module &)> prepare) {
  llvm::TargetMachine &machine = state->machine;
  if (state->writesNoSuchFiles)
    return "the code generator for " + machine.getTargetTriple().str() +
           " writes no such files";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      mlir::translateModuleToLLVMIR(module, context, "weft");
  if (!translated)
    return "translation to LLVM IR failed";
  translated->setTargetTriple(machine.getTargetTriple());
  translated->setDataLayout(machine.createDataLayout());
  prepare(*translated);
  if (state->optimization == Optimization::Little)
    simplify(*translated, machine);
  else
    optimize(*translated, machine, state->optimization);
  state->emission.run(*translated);
  code.append(state->written.begin(), state->written.end());
  state->written.clear();
  return "";
}
