//===- Devices.cpp - weft devices, weft reshard ---------------------------===//

#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/Reshard.h"

#include "weft/compiler/codegen/cpu/CpuTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace weft;

namespace {
struct Unavailable {
  std::string kind, why;
};
} // namespace

/// "Intel(R) Xeon(R) Processor", or the architecture's name.
static std::string processorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      return llvm::StringRef(line).split(':').second.trim().str();
  return CpuTarget::host().triple;
}

static int64_t memoryBytes() {
  return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

/// Graphics processors that the driver shows.
static std::string whyNoCuda() {
  std::error_code noDriver;
  std::filesystem::directory_iterator gpus("/proc/driver/nvidia/gpus",
                                           noDriver);
  int64_t count = std::distance(begin(gpus), end(gpus));
  if (count == 0)
    return "no NVIDIA driver shows a GPU (/proc/driver/nvidia/gpus)";
  return std::to_string(count) + (count == 1 ? " GPU is" : " GPUs are") +
         " there, but this release runs on CPUs only";
}

/// The compiler's targets, split into what this processor runs and the rest.
static std::vector<std::string> cpuTargets(std::vector<Unavailable> &rest) {
  std::vector<std::string> usable;
  uint64_t host = CpuTarget::host().runtimeFeatures;
  for (const char *name : {"cpu:avx512", "cpu:avx2", "cpu:generic"}) {
    std::optional<CpuTarget> target = CpuTarget::fromName(name);
    if (target && (target->runtimeFeatures & ~host) == 0)
      usable.push_back(name);
    else
      rest.push_back({name, "this processor lacks its instructions; --target "
                            "only compiles for it"});
  }
  return usable;
}

static void printDevicesJson(unsigned cores,
                             const std::vector<std::string> &targets,
                             const std::vector<Unavailable> &rest,
                             bool hasMpi) {
  llvm::json::Array unavailable;
  for (const Unavailable &entry : rest)
    unavailable.push_back(
        llvm::json::Object{{"kind", entry.kind}, {"why", entry.why}});
  llvm::json::Object cpu{{"kind", "cpu"},
                         {"processor", processorName()},
                         {"cores", int64_t(cores)},
                         {"memory_bytes", memoryBytes()},
                         {"target", targets.front()},
                         {"targets", llvm::json::Array(targets)},
                         {"most", kMostDevices}};
  llvm::outs() << llvm::formatv(
      "{0:2}\n", llvm::json::Value(llvm::json::Object{
                     {"devices", llvm::json::Array{std::move(cpu)}},
                     {"mpi", hasMpi},
                     {"unavailable", std::move(unavailable)}}));
}

int weft::tool::runDevices(const DevicesFlags &flags) {
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Unavailable> rest;
  std::vector<std::string> targets = cpuTargets(rest);
  rest.push_back({"cuda", whyNoCuda()});
  const char *noMpi = weft_processes_missing();
  if (noMpi)
    rest.push_back({"mpi", noMpi});
  rest.push_back({"nccl", "this release runs on CPUs only"});
  if (flags.json) {
    printDevicesJson(cores, targets, rest, !noMpi);
    return 0;
  }
  llvm::outs()
      << "Can be used:\n"
      << "  cpu          --devices cpu:N gives N devices named cpu:0 "
         "to cpu:N-1 (at most "
      << llvm::formatv("{0:N}", kMostDevices) << ");\n"
      << "               they share " << cores
      << (cores == 1 ? " core" : " cores") << " of " << processorName()
      << " and " << llvm::formatv("{0:f1}", double(memoryBytes()) / (1 << 30))
      << " GiB\n"
      << "               kernels for " << targets.front()
      << " (--target: " << llvm::join(targets, ", ") << ")\n"
      << (noMpi
              ? ""
              : "  mpi          mpirun -n P weft run|fit|evaluate|predict ... "
                "gives each of P processes a part\n"
                "               of the devices\n")
      << "Cannot be used:\n";
  for (const Unavailable &entry : rest)
    llvm::outs() << "  " << llvm::left_justify(entry.kind, 12) << " "
                 << entry.why << "\n";
  return 0;
}

int weft::tool::runReshardCommand(const ReshardFlags &flags) {
  ReshardRequest request{flags.mesh,  flags.shape, flags.from,       flags.to,
                         flags.dtype, flags.json,  !flags.noExchange};
  std::string out, error = reshardReport(request, out);
  if (!error.empty())
    return failUsage(
        "reshard: " + error +
        "; write it as in weft reshard --mesh x=4,y=2 --shape 16x16 "
        "--from [x,-] --to [-,y]");
  std::fputs(out.c_str(), stdout);
  return 0;
}
