//===- CompileKernels.cpp - kernels to machine code -----------------------===//

#include "weft/compiler/codegen/cpu/CompileKernels.h"

#include "weft/compiler/codegen/CodeCache.h"
#include "weft/compiler/codegen/cpu/LinkPlainObject.h"
#include "weft/compiler/codegen/cpu/LowerKernel.h"
#include "weft/compiler/codegen/cpu/RoutineEmitter.h"
#include "weft/compiler/codegen/elements/ForeignCode.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/nest/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <thread>

using namespace mlir;
using namespace weft;

/// Part of every cache key: raise it when the emitted code changes.
static constexpr llvm::StringLiteral kCodegenVersion =
    "weft-cpu-19 llvm-" LLVM_VERSION_STRING;

/// The number of kernels up to which one thread compiles plain code faster than
/// two threads.
static constexpr size_t kFewKernels = 4;

namespace {
/// A kernel, or a routine with its kernels.
struct KernelJob {
  Operation *kernel;
  bool isOfWeft; ///< whether no op of another project is in it
  std::string text, error;
  llvm::SmallVector<char> object;
};
} // namespace

static Optimization optimizationOf(Operation *kernel,
                                   const CodegenOptions &options) {
  if (options.isBrief)
    return Optimization::Little;
  // The kernels of a routine become scalar code, whose loops none has chosen.
  return isa<plan::RoutineOp>(kernel) ? Optimization::Full
                                      : Optimization::Nests;
}

static unsigned threadsOf(const CodegenOptions &options) {
  return options.threads ? options.threads
                         : std::max(1u, std::thread::hardware_concurrency());
}

static std::string cacheKey(llvm::StringRef text, const CpuTarget &target,
                            const CodegenOptions &options) {
  return keyOfCode({kCodegenVersion, options.isBrief ? "brief" : "",
                    target.triple, target.cpu, target.features,
                    target.hasByteProducts ? "vnni" : "", text});
}

/// Compiles a kernel. Takes a lowering for the first kernel that is not in the
/// cache.
static void compile(KernelJob &job, cpu::KeptLowerings &kept,
                    const CodegenOptions &options,
                    std::unique_ptr<cpu::KernelLowering> &lowering) {
  // kCodegenVersion covers the code of Weft's ops only.
  std::string cache = job.isOfWeft ? options.cacheDir : "";
  std::string key = cacheKey(job.text, kept.target, options);
  if (readCachedCode(cache, key, job.object))
    return;
  if (!lowering)
    lowering = kept.take(job.kernel->getContext()->getDialectRegistry());
  job.error = lowering->lower(job.text, optimizationOf(job.kernel, options),
                              llvm::CodeGenFileType::ObjectFile, job.object);
  if (job.error.empty())
    writeCachedCode(cache, key, job.object);
}

static void print(func::FuncOp kernel, std::string &text) {
  llvm::raw_string_ostream stream(text);
  kernel.print(
      stream,
      OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(INT64_MAX));
}

static void report(Operation *kernel, const CpuTarget &target,
                   llvm::StringRef error) {
  kernel->emitError() << "kernel '"
                      << SymbolTable::getSymbolName(kernel).strref()
                      << "' cannot be compiled for " << target.name << ": "
                      << error;
}

/// The kernels that only routines launch: their code is part of the routines'.
static llvm::StringSet<> kernelsOfRoutines(ModuleOp module) {
  llvm::StringSet<> names;
  for (auto routine : module.getOps<plan::RoutineOp>())
    for (auto launch : routine.getOps<plan::LaunchOp>())
      names.insert(launch.getKernel());
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto launch : program.getOps<plan::LaunchOp>())
      names.erase(launch.getKernel());
  return names;
}

static std::vector<KernelJob> collectKernels(ModuleOp module) {
  std::vector<KernelJob> jobs;
  llvm::StringSet<> ofRoutines = kernelsOfRoutines(module);
  for (auto kernel : module.getOps<func::FuncOp>()) {
    if (!isKernel(kernel) || ofRoutines.contains(kernel.getName()))
      continue;
    KernelJob &job = jobs.emplace_back();
    job.kernel = kernel;
    job.isOfWeft = elements::foreignOps(kernel).empty();
    print(kernel, job.text);
  }
  for (auto routine : module.getOps<plan::RoutineOp>()) {
    auto isOfWeft = [&](plan::LaunchOp launch) {
      return elements::foreignOps(
                 module.lookupSymbol<func::FuncOp>(launch.getKernel()))
          .empty();
    };
    KernelJob &job = jobs.emplace_back();
    job.kernel = routine;
    job.isOfWeft = llvm::all_of(routine.getOps<plan::LaunchOp>(), isOfWeft);
    job.text = cpu::textOf(routine);
  }
  return jobs;
}

/// The text of an empty kernel, from which a program without kernels is
/// compiled.
static std::string noKernel(const CpuTarget &target) {
  return "func.func private @none() attributes {nest.kernel = "
         "#nest.kernel<target = \"" +
         target.name + "\">, weft.kernel = #weft.kernel<general>} { return }";
}

/// Calls `work` for each number below `count` on several threads, each with a
/// lowering, which `work` takes on demand.
static void
share(size_t count, cpu::KeptLowerings &kept, const CodegenOptions &options,
      llvm::function_ref<void(size_t, std::unique_ptr<cpu::KernelLowering> &)>
          work) {
  std::atomic<size_t> next = 0;
  auto take = [&] {
    std::unique_ptr<cpu::KernelLowering> lowering;
    for (size_t i = next++; i < count; i = next++)
      work(i, lowering);
    kept.giveBack(std::move(lowering));
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min<size_t>(threadsOf(options), count); ++i)
    threads.emplace_back(take);
  take();
  for (std::thread &thread : threads)
    thread.join();
}

/// Divides the texts into groups of similar size.
static std::vector<std::string> inGroups(ArrayRef<KernelJob> jobs,
                                         size_t count) {
  size_t bytes = 0, seen = 0;
  for (const KernelJob &job : jobs)
    bytes += job.text.size();
  std::vector<std::string> groups(count);
  for (const KernelJob &job : jobs) {
    groups[seen * count / bytes] += job.text + "\n";
    seen += job.text.size();
  }
  return groups;
}

/// Compiles plain code, several kernels at once. False on failure: kernels are
/// then compiled one by one, which reports the error.
static bool compileTogether(ArrayRef<KernelJob> jobs,
                            const DialectRegistry &dialects,
                            cpu::KeptLowerings &kept,
                            const CodegenOptions &options,
                            SmallVectorImpl<char> &sharedObject) {
  std::vector<std::string> groups = {noKernel(kept.target)};
  if (!jobs.empty())
    groups = inGroups(
        jobs, std::min<size_t>(threadsOf(options),
                               llvm::divideCeil(jobs.size(), kFewKernels)));
  std::vector<llvm::SmallVector<char>> objects(groups.size());
  std::vector<std::string> errors(groups.size());
  share(groups.size(), kept, options,
        [&](size_t i, std::unique_ptr<cpu::KernelLowering> &lowering) {
          if (!lowering)
            lowering = kept.take(dialects);
          errors[i] =
              lowering->lower(groups[i], Optimization::Little,
                              llvm::CodeGenFileType::ObjectFile, objects[i]);
        });
  if (!llvm::all_of(errors,
                    [](const std::string &error) { return error.empty(); }))
    return false;
  bool isPlain = objects.size() == 1 &&
                 cpu::linkPlainObject(objects.front(), sharedObject);
  return isPlain || cpu::linkObjects(objects, sharedObject).empty();
}

LogicalResult weft::compileKernels(ModuleOp module, cpu::KeptLowerings &kept,
                                   const CodegenOptions &options,
                                   SmallVectorImpl<char> &sharedObject) {
  std::vector<KernelJob> jobs = collectKernels(module);
  if ((jobs.empty() || options.isBrief) &&
      compileTogether(jobs, module.getContext()->getDialectRegistry(), kept,
                      options, sharedObject))
    return success();
  share(jobs.size(), kept, options,
        [&](size_t i, std::unique_ptr<cpu::KernelLowering> &lowering) {
          compile(jobs[i], kept, options, lowering);
        });
  bool failed = false;
  std::vector<llvm::SmallVector<char>> objects;
  for (KernelJob &job : jobs) {
    if (!job.error.empty()) {
      report(job.kernel, kept.target, job.error);
      failed = true;
    }
    objects.push_back(std::move(job.object));
  }
  if (failed)
    return failure();
  std::string error = cpu::linkObjects(objects, sharedObject);
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

LogicalResult weft::printKernels(ArrayRef<func::FuncOp> kernels,
                                 const CpuTarget &target,
                                 llvm::raw_ostream &out) {
  if (kernels.empty())
    return success();
  cpu::KernelLowering lowering(
      target, kernels.front()->getContext()->getDialectRegistry());
  for (func::FuncOp kernel : kernels) {
    std::string text;
    print(kernel, text);
    llvm::SmallVector<char> assembly;
    std::string error =
        lowering.lower(text, optimizationOf(kernel, {}),
                       llvm::CodeGenFileType::AssemblyFile, assembly);
    if (!error.empty()) {
      report(kernel, target, error);
      return failure();
    }
    out << llvm::StringRef(assembly.data(), assembly.size());
  }
  return success();
}
