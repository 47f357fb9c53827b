//===- Devices.cpp - weft devices, weft reshard ---------------------------===//

#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/programs/Gpus.h"
#include "weft/tools/weft/reshard/Reshard.h"

#include "weft/base/lapack/Library.h"
#include "weft/compiler/codegen/cpu/CpuTarget.h"
#include "weft/dialects/nest/TargetLimits.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

namespace {
struct Unavailable {
  std::string kind, why;
};
} // namespace

/// The processor's name, "Intel(R) Xeon(R) Processor", or the target triple.
static std::string processorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      return llvm::StringRef(line).split(':').second.trim().str();
  return CpuTarget::host().triple;
}

/// "9.0"
static std::string capabilityText(const weft_gpu &gpu) {
  return std::to_string(gpu.capability / 10) + "." +
         std::to_string(gpu.capability % 10);
}

static int64_t memoryBytes() {
  return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

/// The compiler's targets of this architecture, split into those of this
/// processor and the rest.
static std::vector<std::string> cpuTargets(std::vector<Unavailable> &rest) {
  std::vector<std::string> usable;
  uint64_t host = CpuTarget::host().runtimeFeatures;
  for (const nest::TargetLimits &limits : nest::allTargetLimits()) {
    std::optional<CpuTarget> target = CpuTarget::fromName(limits.name);
    if (target && (target->runtimeFeatures & ~host) == 0)
      usable.push_back(limits.name.str());
    else if (target)
      rest.push_back({limits.name.str(),
                      "this processor lacks its instructions; --target "
                      "only compiles for it"});
  }
  return usable;
}

static llvm::json::Object
cudaJson(const weft_gpu_list &list,
         const std::vector<weft_gpu_library> &available) {
  llvm::json::Array gpus;
  for (size_t i = 0; i < list.count; ++i) {
    const weft_gpu &gpu = list.gpus[i];
    llvm::json::Object one{{"name", gpu.name},
                           {"number", gpu.number},
                           {"memory_bytes", int64_t(gpu.memory_bytes)},
                           {"compute_capability", capabilityText(gpu)}};
    if (gpu.why_not)
      one["why_not"] = gpu.why_not;
    else
      one["target"] = targetOfChip(gpu.capability);
    gpus.push_back(std::move(one));
  }
  llvm::json::Array libraries;
  for (const weft_gpu_library &library : available) {
    llvm::json::Object one{{"name", library.name}};
    for (auto [key, text] : {std::pair("version", library.version),
                             {"path", library.path},
                             {"why_not", library.why_not},
                             {"limit", library.limit}})
      if (text && *text)
        one[key] = text;
    libraries.push_back(std::move(one));
  }
  return llvm::json::Object{{"kind", "cuda"},
                            {"driver_version", driverVersion(list)},
                            {"libraries", std::move(libraries)},
                            {"driver", list.driver},
                            {"gpus", std::move(gpus)},
                            {"most", kMostDevices}};
}

namespace {
/// The targets, GPUs and MPI that this machine has.
struct Found {
  unsigned cores = 1;
  std::vector<std::string> targets;
  std::optional<weft_gpu_list> gpus;
  std::vector<weft_gpu_library> libraries;
  bool hasMpi = false;
  std::string lapack; ///< the library's file, or empty
  std::vector<Unavailable> rest;
};
} // namespace

static Found findDevices() {
  Found found;
  found.cores = std::max(1u, std::thread::hardware_concurrency());
  found.targets = cpuTargets(found.rest);
  if (Result<weft_gpu_list> gpus = findGpus())
    found.gpus = *gpus;
  else
    found.rest.push_back({"cuda", inFlags(gpus.error().message)});
  if (found.gpus) {
    if (auto libraries = findGpuLibraries())
      found.libraries = *libraries;
    else
      found.rest.push_back({"libraries", inFlags(libraries.error().message)});
  }
  const char *noMpi = weft_processes_missing();
  found.hasMpi = !noMpi;
  if (auto library = lapack::Library::open())
    found.lapack = (*library)->source();
  else
    found.rest.push_back(
        {"lapack",
         inFlags("programs that call it do not run: " +
                 library.error().message + "; " + lapack::wayToLibrary())});
  if (noMpi)
    found.rest.push_back({"mpi", noMpi});
  return found;
}

static void printDevicesJson(const Found &found) {
  llvm::json::Array unavailable;
  for (const Unavailable &entry : found.rest)
    unavailable.push_back(
        llvm::json::Object{{"kind", entry.kind}, {"reason", entry.why}});
  llvm::json::Array devices;
  llvm::json::Object cpu{{"kind", "cpu"},
                         {"processor", processorName()},
                         {"cores", int64_t(found.cores)},
                         {"memory_bytes", memoryBytes()},
                         {"target", found.targets.front()},
                         {"targets", llvm::json::Array(found.targets)},
                         {"most", kMostDevices}};
  if (!found.lapack.empty())
    cpu["lapack"] = found.lapack;
  devices.push_back(std::move(cpu));
  if (found.gpus)
    devices.push_back(cudaJson(*found.gpus, found.libraries));
  llvm::outs() << llvm::formatv("{0:2}\n",
                                llvm::json::Value(llvm::json::Object{
                                    {"devices", std::move(devices)},
                                    {"mpi", found.hasMpi},
                                    {"unavailable", std::move(unavailable)}}));
}

static void printGpus(const weft_gpu_list &list,
                      const std::vector<weft_gpu_library> &libraries) {
  llvm::outs()
      << "  cuda         --devices cuda:N gives N devices, spread over "
      << list.count << (list.count == 1 ? " GPU" : " GPUs")
      << "; --devices cuda one for each GPU\n";
  for (size_t i = 0; i < list.count; ++i) {
    const weft_gpu &gpu = list.gpus[i];
    llvm::outs() << "               GPU " << gpu.number << ": " << gpu.name
                 << ", "
                 << llvm::formatv("{0:f1}",
                                  double(gpu.memory_bytes) / (1 << 30))
                 << " GiB, compute capability " << capabilityText(gpu) << ", "
                 << (gpu.why_not ? "cannot be used: programs need 8.0 or more"
                                 : "--target " + targetOfChip(gpu.capability))
                 << "\n";
  }
  llvm::outs() << "               driver for CUDA " << driverVersion(list)
               << ", " << list.driver << "\n";
  for (const weft_gpu_library &library : libraries) {
    llvm::outs() << "               " << library.name << " ";
    if (library.why_not)
      llvm::outs() << "is not used, programs run their own code: "
                   << library.why_not << "\n";
    else
      llvm::outs() << library.version << ", " << library.path << "\n";
    if (library.limit)
      llvm::outs() << "               " << library.limit << "\n";
  }
}

int weft::tool::runDevices(const DevicesFlags &flags) {
  Found found = findDevices();
  if (flags.json) {
    printDevicesJson(found);
    return 0;
  }
  llvm::outs() << "Can be used:\n"
               << "  cpu          --devices cpu:N gives N devices named cpu:0 "
                  "to cpu:N-1 (at most "
               << llvm::formatv("{0:N}", kMostDevices) << ");\n"
               << "               they share " << found.cores
               << (found.cores == 1 ? " core" : " cores") << " of "
               << processorName() << " and "
               << llvm::formatv("{0:f1}", double(memoryBytes()) / (1 << 30))
               << " GiB\n"
               << "               kernels for " << found.targets.front()
               << " (--target: " << llvm::join(found.targets, ", ") << ")\n";
  if (!found.lapack.empty())
    llvm::outs() << "               LAPACK of " << found.lapack << "\n";
  if (found.gpus)
    printGpus(*found.gpus, found.libraries);
  if (found.hasMpi)
    llvm::outs()
        << "  mpi          mpirun -n P weft run|fit|evaluate|predict ... "
           "gives each of P processes a part\n"
           "               of the devices\n";
  llvm::outs() << "Cannot be used:\n";
  for (const Unavailable &entry : found.rest)
    llvm::outs() << "  " << llvm::left_justify(entry.kind, 12) << " "
                 << entry.why << "\n";
  return 0;
}

int weft::tool::runReshardCommand(const ReshardFlags &flags) {
  ReshardRequest request{flags.mesh,  flags.shape, flags.from,       flags.to,
                         flags.dtype, flags.json,  !flags.noExchange};
  Result<std::string> report = reshardReport(request);
  if (!report)
    return failUsage(
        "reshard: " + report.error().message +
        "; write it as in weft reshard --mesh x=4,y=2 --shape 16x16 "
        "--from [x,-] --to [-,y]");
  std::fputs(report->c_str(), stdout);
  return 0;
}
