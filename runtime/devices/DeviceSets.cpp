#include "weft/runtime/devices/DeviceSets.h"

#include "weft/runtime/devices/cpu/CpuDevices.h"

#include <dlfcn.h>

namespace weft::runtime {

using Open = Error(int64_t count, const DeviceSettings &settings,
                   std::unique_ptr<DeviceSet> &out);

/// The library of a device kind, of this library's folder. Never closed.
static Error loadLibrary(const std::string &name, void *&library) {
  Dl_info self;
  std::string path;
  if (dladdr(reinterpret_cast<void *>(&loadLibrary), &self) && self.dli_fname)
    path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + name;
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library)
    return nullptr;
  return makeError(WEFT_INCOMPATIBLE,
                   "the runtime for GPUs cannot be loaded: ", dlerror(),
                   "; install Weft with it, or use cpu:N");
}

static Error openCudaDevices(int64_t count, const DeviceSettings &settings,
                             std::unique_ptr<DeviceSet> &out) {
  if (settings.processes)
    return makeError(WEFT_INCOMPATIBLE,
                     "several processes have no GPUs yet; run one process, or "
                     "use cpu:N");
  void *library = nullptr;
  if (Error e = loadLibrary("libWeftCuda.so", library))
    return e;
  using OpenCuda = weft_error *(int64_t, std::unique_ptr<DeviceSet> *);
  auto *open = reinterpret_cast<OpenCuda *>(dlsym(library, "weftOpenCuda"));
  if (!open)
    return makeError(WEFT_INCOMPATIBLE,
                     "libWeftCuda.so is of another release; install both "
                     "libraries of one");
  return Error(open(count, &out));
}

/// By DeviceKind. DeviceList reads no other kinds, and says which there are.
static constexpr Open *opens[] = {openCpuDevices, openCudaDevices};
static_assert(std::size(opens) == std::size(kDeviceKinds),
              "every kind of devices that has a name can be opened");

Error openDevices(const DeviceList &list, const DeviceSettings &settings,
                  std::unique_ptr<DeviceSet> &out) {
  return opens[size_t(list.kind)](list.count, settings, out);
}

} // namespace weft::runtime
