#include "weft/runtime/devices/DeviceSets.h"

#include "weft/runtime/devices/cpu/CpuDevices.h"

namespace weft::runtime {

using Open = Error(int64_t count, const DeviceSettings &settings,
                   std::unique_ptr<DeviceSet> &out);

/// By DeviceKind. DeviceList reads no other kinds, and says which there are.
static constexpr Open *opens[] = {openCpuDevices};
static_assert(std::size(opens) == std::size(kDeviceKinds),
              "every kind of devices that has a name can be opened");

Error openDevices(const DeviceList &list, const DeviceSettings &settings,
                  std::unique_ptr<DeviceSet> &out) {
  return opens[size_t(list.kind)](list.count, settings, out);
}

} // namespace weft::runtime
