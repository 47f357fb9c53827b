#include "weft/runtime/devices/DeviceSets.h"

#include "weft/runtime/abi/gpus.h"
#include "weft/runtime/devices/cpu/CpuDevices.h"

#include <dlfcn.h>

namespace weft::runtime {

using Open = Error(int64_t count, const DeviceSettings &settings,
                   std::unique_ptr<DeviceSet> &out);

/// Loads the library of a device kind from this library's folder; it is never
/// closed.
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

/// Finds a function of libWeftCuda.so.
template <typename Function>
static Error findInCuda(const char *name, Function &out) {
  void *library = nullptr;
  if (Error e = loadLibrary("libWeftCuda.so", library))
    return e;
  out = reinterpret_cast<Function>(dlsym(library, name));
  if (out)
    return nullptr;
  return makeError(WEFT_INCOMPATIBLE,
                   "libWeftCuda.so is of another release; install both "
                   "libraries of one");
}

static Error openCudaDevices(int64_t count, const DeviceSettings &settings,
                             std::unique_ptr<DeviceSet> &out) {
  if (settings.processes)
    return makeError(WEFT_INCOMPATIBLE,
                     "several processes have no GPUs yet; run one process, or "
                     "use cpu:N");
  weft_error *(*open)(int64_t, std::unique_ptr<DeviceSet> *) = nullptr;
  if (Error e = findInCuda("weftOpenCuda", open))
    return e;
  return Error(open(count, &out));
}

/// The functions by DeviceKind; DeviceList refuses other kinds.
static constexpr Open *opens[] = {openCpuDevices, openCudaDevices};
static_assert(std::size(opens) == std::size(kDeviceKinds),
              "every kind of devices that has a name can be opened");

Error listGpus(const GpuList *&out) {
  struct Asked {
    GpuList list;
    Error failure = ask(list);
    static Error ask(GpuList &list) {
      weft_error *(*ask)(GpuList *) = nullptr;
      if (Error e = findInCuda("weftListGpus", ask))
        return e;
      return Error(ask(&list));
    }
  };
  static const Asked asked;
  out = &asked.list;
  return asked.failure
             ? makeError(asked.failure->status, asked.failure->message)
             : nullptr;
}

Error parseDevices(const std::string &text, DeviceList &out) {
  if (text == kDeviceKinds[size_t(DeviceKind::Cuda)]) {
    const GpuList *gpus = nullptr;
    if (Error e = listGpus(gpus))
      return e;
    out = {DeviceKind::Cuda, int64_t(gpus->gpus.size())};
    return nullptr;
  }
  std::string why;
  std::optional<DeviceList> list = DeviceList::parse(text, why);
  if (!list)
    return makeError(WEFT_INVALID_ARGUMENT, why);
  out = *list;
  return nullptr;
}

Error openDevices(const DeviceList &list, const DeviceSettings &settings,
                  std::unique_ptr<DeviceSet> &out) {
  return opens[size_t(list.kind)](list.count, settings, out);
}

} // namespace weft::runtime

using namespace weft::runtime;

extern "C" WEFT_EXPORT weft_error *weft_gpus(weft_gpu_list *out) {
  return guarded([&]() -> Error {
    if (!out)
      return makeError(WEFT_INVALID_ARGUMENT, "null argument");
    *out = {};
    const GpuList *list = nullptr;
    if (Error e = listGpus(list))
      return e;
    static const std::vector<weft_gpu> gpus = [&] {
      std::vector<weft_gpu> all;
      for (const GpuList::One &one : list->gpus)
        all.push_back({one.name.c_str(), one.memory, one.capability,
                       one.whyNot.empty() ? nullptr : one.whyNot.c_str(),
                       one.number});
      return all;
    }();
    static const std::vector<weft_gpu_library> libraries = [&] {
      std::vector<weft_gpu_library> all;
      for (const GpuList::Library &one : list->libraries)
        all.push_back({one.name.c_str(), one.version.c_str(), one.path.c_str(),
                       one.whyNot.empty() ? nullptr : one.whyNot.c_str()});
      return all;
    }();
    *out = {gpus.data(),         gpus.size(),
            list->driverVersion, list->driverPath.c_str(),
            libraries.data(),    libraries.size()};
    return nullptr;
  });
}
