//===- Gpus.h - the GPUs of this machine, for flags -------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMS_GPUS_H
#define WEFT_TOOLS_WEFT_PROGRAMS_GPUS_H

#include "weft/base/DeviceList.h"
#include "weft/runtime/abi/gpus.h"

#include <set>
#include <string>
#include <vector>

namespace weft::tool {

/// The GPUs; an error if there are none.
Result<weft_gpu_list> findGpus();
/// NVIDIA's libraries; an error if there are no GPUs.
Result<std::vector<weft_gpu_library>> findGpuLibraries();
/// Warns once for each reason why programs run their own code where a library
/// could compute.
class OwnCodeWarnings {
public:
  /// Prints the reasons that are new. Called after a run.
  void print(weft_runtime *runtime);

private:
  std::set<std::string> printed;
};
/// The version of the driver: "12.4".
std::string driverVersion(const weft_gpu_list &gpus);
/// Parses --devices: a list, or "cuda" for all GPUs, one device each.
Result<DeviceList> readDevices(const std::string &text);
/// The target of cuda:native on this machine: that of the GPUs' chip if all
/// have the same and it has a target, else the one that all run. An error if
/// there are none.
Result<std::string> nativeGpuTarget();
/// The target of a GPU's chip: "cuda:sm_90a", or "cuda:sm_80" for a chip
/// without one.
std::string targetOfChip(int capability);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PROGRAMS_GPUS_H
