#include "weft/tools/weft/programs/Gpus.h"

#include "weft/base/EnvironmentNumber.h"
#include "weft/tools/weft/Commands.h"
#include "weft/training/Ports.h"

#include <algorithm>

namespace weft::tool {

Result<weft_gpu_list> findGpus() {
  weft_gpu_list list = {};
  if (Status found = takeError(weft_gpus(&list)); !found)
    return found.error();
  return list;
}

Result<std::vector<weft_gpu_library>> findGpuLibraries() {
  const weft_gpu_library *libraries = nullptr;
  size_t count = 0;
  if (Status found = takeError(weft_gpu_libraries(&libraries, &count)); !found)
    return found.error();
  return std::vector<weft_gpu_library>(libraries, libraries + count);
}

void OwnCodeWarnings::print(weft_runtime *runtime) {
  const char *const *notes = nullptr;
  size_t count = weft_gpu_notes(runtime, &notes);
  for (size_t i = 0; i < count; ++i)
    if (printed.insert(notes[i]).second)
      warn(std::string(notes[i]));
}

std::string driverVersion(const weft_gpu_list &gpus) {
  return std::to_string(gpus.driver_version / 1000) + "." +
         std::to_string(gpus.driver_version % 1000 / 10);
}

Result<DeviceList> readDevices(const std::string &text) {
  if (text != kDeviceKinds[size_t(DeviceKind::Cuda)])
    return DeviceList::parse(text);
  if (environmentNumber("OMPI_COMM_WORLD_SIZE", 1) > 1)
    return Error{"cuda is all GPUs of one process; for several, write the "
                 "number of all their devices, such as cuda:8"};
  Result<weft_gpu_list> gpus = findGpus();
  if (!gpus)
    return gpus.error();
  return DeviceList{DeviceKind::Cuda, int64_t(gpus->count)};
}

std::string targetOfChip(int capability) {
  // These chips have targets of their own, whose code uses instructions of the
  // chip and runs on no other.
  for (int chip : {90, 100})
    if (capability == chip)
      return "cuda:sm_" + std::to_string(chip) + "a";
  return "cuda:sm_80";
}

Result<std::string> nativeGpuTarget() {
  Result<weft_gpu_list> gpus = findGpus();
  if (!gpus)
    return gpus.error();
  int capability = gpus->gpus[0].capability;
  bool isOne = std::all_of(
      gpus->gpus, gpus->gpus + gpus->count,
      [&](const weft_gpu &gpu) { return gpu.capability == capability; });
  return isOne ? targetOfChip(capability) : "cuda:sm_80";
}

} // namespace weft::tool
