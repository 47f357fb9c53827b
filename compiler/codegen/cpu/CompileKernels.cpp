//===- CompileKernels.cpp - kernels to machine code ------------------------===//

#include "weft/compiler/codegen/cpu/CompileKernels.h"

#include "weft/compiler/codegen/CodeCache.h"
#include "weft/compiler/codegen/cpu/LowerKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <thread>

using namespace mlir;
using namespace weft;

/// Part of every cache key: raise it when the emitted code changes.
static constexpr llvm::StringLiteral kCodegenVersion = "weft-cpu-6 llvm-" LLVM_VERSION_STRING;

/// Plain code of so few kernels is made sooner than files are written.
static constexpr size_t kFewKernels = 4;

namespace {
struct KernelJob {
  func::FuncOp kernel;
  std::string text, error;
  llvm::SmallVector<char> object;
};
} // namespace

static llvm::CodeGenOptLevel levelOf(const CodegenOptions &options) {
  return options.isBrief ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive;
}

static std::string cacheKey(llvm::StringRef text, const CpuTarget &target, const CodegenOptions &options) {
  return keyOfCode({kCodegenVersion, options.isBrief ? "brief" : "", target.triple, target.cpu, target.features, text});
}

/// `lowering` is taken for the first kernel that is not in the cache.
static void compile(KernelJob &job, cpu::KeptLowerings &kept, const CodegenOptions &options, std::unique_ptr<cpu::KernelLowering> &lowering) {
  std::string key = cacheKey(job.text, kept.target, options);
  if (readCachedCode(options.cacheDir, key, job.object))
    return;
  if (!lowering)
    lowering = kept.take();
  job.error = lowering->lower(job.text, levelOf(options), llvm::CodeGenFileType::ObjectFile, job.object);
  if (job.error.empty())
    writeCachedCode(options.cacheDir, key, job.object);
}

static void print(func::FuncOp kernel, std::string &text) {
  llvm::raw_string_ostream stream(text);
  kernel.print(stream, OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(INT64_MAX));
}

static LogicalResult fail(func::FuncOp kernel, const CpuTarget &target, llvm::StringRef error) {
  return kernel.emitError() << "kernel '" << kernel.getName() << "' cannot be compiled for " << target.name << ": " << error;
}

static std::vector<KernelJob> collectKernels(ModuleOp module) {
  std::vector<KernelJob> jobs;
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!kernel->hasAttr("weft.kernel"))
      continue;
    KernelJob &job = jobs.emplace_back();
    job.kernel = kernel;
    print(kernel, job.text);
  }
  return jobs;
}

/// What a program that only returns its arguments is made of.
static constexpr char kNoKernel[] =
    "func.func private @none() attributes {weft.kernel = \"general\"} { return }";

LogicalResult weft::compileKernels(ModuleOp module, cpu::KeptLowerings &kept,
                                   const CodegenOptions &options,
                                   SmallVectorImpl<char> &sharedObject) {
  std::vector<KernelJob> jobs = collectKernels(module);
  CodegenOptions kernelOptions = options;
  if (options.isBrief && jobs.size() <= kFewKernels)
    kernelOptions.cacheDir.clear();
  std::atomic<size_t> next = 0;
  auto work = [&] {
    std::unique_ptr<cpu::KernelLowering> lowering;
    for (size_t i = next++; i < jobs.size(); i = next++)
      compile(jobs[i], kept, kernelOptions, lowering);
    kept.giveBack(std::move(lowering));
  };
  unsigned count = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min<size_t>(count, jobs.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();

  bool failed = false;
  std::vector<llvm::SmallVector<char>> objects;
  for (KernelJob &job : jobs) {
    if (!job.error.empty()) {
      (void)fail(job.kernel, kept.target, job.error);
      failed = true;
    }
    objects.push_back(std::move(job.object));
  }
  if (failed)
    return failure();
  std::string error;
  if (objects.empty()) { // the linker wants an object to link
    std::unique_ptr<cpu::KernelLowering> lowering = kept.take();
    error = lowering->lower(kNoKernel, llvm::CodeGenOptLevel::None, llvm::CodeGenFileType::ObjectFile, objects.emplace_back());
    kept.giveBack(std::move(lowering));
  }
  if (error.empty())
    error = cpu::linkObjects(objects, sharedObject);
  if (!error.empty())
    return module.emitError() << error;
  return success();
}

LogicalResult weft::compileKernels(ModuleOp module, const CpuTarget &target,
                                   const CodegenOptions &options,
                                   SmallVectorImpl<char> &sharedObject) {
  cpu::KeptLowerings kept(target);
  return compileKernels(module, kept, options, sharedObject);
}

LogicalResult weft::printKernels(ArrayRef<func::FuncOp> kernels, const CpuTarget &target, llvm::raw_ostream &out) {
  cpu::KernelLowering lowering(target);
  for (func::FuncOp kernel : kernels) {
    std::string text;
    print(kernel, text);
    llvm::SmallVector<char> assembly;
    std::string error = lowering.lower(text, llvm::CodeGenOptLevel::Aggressive, llvm::CodeGenFileType::AssemblyFile, assembly);
    if (!error.empty())
      return fail(kernel, target, error);
    out << llvm::StringRef(assembly.data(), assembly.size());
  }
  return success();
}
