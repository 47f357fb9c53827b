//===- DeviceSets.h - which kinds of devices there are ----------*- C++ -*-===//
//
//   std::unique_ptr<DeviceSet> devices;
//   openDevices({DeviceKind::Cpu, 8}, {.workers = 4}, devices);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_DEVICESETS_H
#define WEFT_RUNTIME_DEVICES_DEVICESETS_H

#include "weft/base/DeviceList.h"
#include "weft/base/lapack/Library.h"
#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/DeviceSet.h"

namespace weft::runtime {

class Processes;

/// The settings with which a set of devices is opened.
struct DeviceSettings {
  int workers = 0;                    ///< threads of the host; 0: one a core
  Processes *processes = nullptr;     ///< null: this process has all devices
  const HostFunction *host = nullptr; ///< outlives devices, like `processes`
  /// The LAPACK that the process gives; null inside: the system's. It outlives
  /// devices, too.
  const std::shared_ptr<const lapack::Library> *lapack = nullptr;
};

/// The GPUs of this process (see OwnGpus.h), and CUDA's driver.
struct GpuList {
  struct One {
    std::string name, whyNot; ///< whyNot is empty if programs run there
    uint64_t memory = 0;
    int capability = 0;
    int number = 0; ///< the driver's number
  };
  std::vector<One> gpus;
  int driverVersion = 0;
  std::string driverPath;
};
/// A library of NVIDIA that programs use if it is there. The texts whyNot and
/// limit are empty if programs use it, and all of it.
struct GpuLibrary {
  std::string name, version, path, whyNot, limit;
};
/// Lists the GPUs, once in a process; the error has the reason if there are
/// none.
Result<const GpuList *> listGpus();

/// Parses "cpu:8", "cuda:8", or "cuda": all GPUs.
Result<DeviceList> parseDevices(const std::string &text);

/// Opens the devices of a list, by a table with an entry for each kind. GPUs
/// are in libWeftCuda.so, which is beside the runtime and is loaded when it is
/// needed.
Status openDevices(const DeviceList &list, const DeviceSettings &settings,
                   std::unique_ptr<DeviceSet> &out);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_DEVICESETS_H
