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
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

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

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
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
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

struct MachineCodeWriter::State {
  explicit State(llvm::TargetMachine &machine)
      : machine(machine), stream(written) {}
  llvm::TargetMachine &machine;
  llvm::SmallVector<char, 0> written; ///< output for the current module
  llvm::raw_svector_ostream stream;
  llvm::legacy::PassManager emission;
  bool writesNoSuchFiles = false;
};

MachineCodeWriter::MachineCodeWriter(llvm::TargetMachine &machine,
                                     llvm::CodeGenFileType type)
    : state(std::make_unique<State>(machine)) {
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
  if (machine.getOptLevel() == llvm::CodeGenOptLevel::None)
    simplify(*translated, machine);
  else
    optimize(*translated, machine);
  state->emission.run(*translated);
  code.append(state->written.begin(), state->written.end());
  state->written.clear();
  return "";
}
