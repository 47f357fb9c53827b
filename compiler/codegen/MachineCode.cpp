//===- MachineCode.cpp - the LLVM dialect to objects or text ---------------===//

#include "weft/compiler/codegen/MachineCode.h"

#include "mlir/Target/LLVMIR/Export.h"
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
  if (machine.getOptLevel() == llvm::CodeGenOptLevel::None) {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::EarlyCSEPass());
    llvm::createModuleToFunctionPassAdaptor(std::move(passes)).run(module, modules);
    return;
  }
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::string weft::emitMachineCode(mlir::Operation *module, llvm::TargetMachine &machine, llvm::CodeGenFileType type, llvm::SmallVectorImpl<char> &code,
                                  llvm::function_ref<void(llvm::Module &)> prepare) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated = mlir::translateModuleToLLVMIR(module, context, "weft");
  if (!translated)
    return "translation to LLVM IR failed";
  translated->setTargetTriple(machine.getTargetTriple());
  translated->setDataLayout(machine.createDataLayout());
  prepare(*translated);
  optimize(*translated, machine);
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager emission;
  if (machine.addPassesToEmitFile(emission, stream, nullptr, type))
    return "the code generator for " + machine.getTargetTriple().str() + " writes no such files";
  emission.run(*translated);
  return "";
}
