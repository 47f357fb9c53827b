#include "weft/tools/weft/programs/Gpus.h"

#include <algorithm>

namespace weft::tool {

std::optional<weft_gpu_list> findGpus(std::string &why) {
  weft_gpu_list list = {};
  weft_error *error = weft_gpus(&list);
  if (!error)
    return list;
  why = weft_error_message(error);
  weft_error_free(error);
  return std::nullopt;
}

std::string driverVersion(const weft_gpu_list &gpus) {
  return std::to_string(gpus.driver_version / 1000) + "." +
         std::to_string(gpus.driver_version % 1000 / 10);
}

std::optional<DeviceList> readDevices(const std::string &text,
                                      std::string &why) {
  if (text != kDeviceKinds[size_t(DeviceKind::Cuda)])
    return DeviceList::parse(text, why);
  std::optional<weft_gpu_list> gpus = findGpus(why);
  if (!gpus)
    return std::nullopt;
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

std::optional<std::string> nativeGpuTarget(std::string &why) {
  std::optional<weft_gpu_list> gpus = findGpus(why);
  if (!gpus)
    return std::nullopt;
  int capability = gpus->gpus[0].capability;
  bool isOne = std::all_of(
      gpus->gpus, gpus->gpus + gpus->count,
      [&](const weft_gpu &gpu) { return gpu.capability == capability; });
  return isOne ? targetOfChip(capability) : "cuda:sm_80";
}

} // namespace weft::tool
