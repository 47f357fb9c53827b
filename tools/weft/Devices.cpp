//===- Devices.cpp - weft devices, weft reshard ----------------------------===//

#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/Reshard.h"

#include "weft/compiler/codegen/cpu/CpuTarget.h"

#include <cstdio>
#include <thread>

using namespace weft;

int weft::tool::runDevices(const DevicesFlags &flags) {
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::string target = CpuTarget::host().name;
  const char *noGpu = "not there yet: this release runs on CPUs";
  if (flags.json)
    std::printf("{\"devices\": [{\"kind\": \"cpu\", \"cores\": %u, \"target\": "
                "\"%s\"}], \"unavailable\": [{\"kind\": \"cuda\", \"why\": "
                "\"%s\"}]}\n",
                cores, target.c_str(), noGpu);
  else
    std::printf("cpu   any number of virtual devices (--devices cpu:N) on %u "
                "cores, %s\ncuda  %s\n",
                cores, target.c_str(), noGpu);
  return 0;
}

int weft::tool::runReshardCommand(const ReshardFlags &flags) {
  ReshardRequest request{flags.mesh, flags.shape, flags.from,       flags.to,
                         flags.dtype, flags.json, !flags.noExchange};
  std::string out, error = reshardReport(request, out);
  if (!error.empty())
    return fail(error);
  std::fputs(out.c_str(), stdout);
  return 0;
}
