#include "weft/runtime/devices/DeviceSets.h"

#include "weft/runtime/abi/gpus.h"
#include "weft/runtime/devices/cpu/CpuDevices.h"

#include <dlfcn.h>

namespace weft::runtime {

using Open = Status(int64_t count, const DeviceSettings &settings,
                    std::unique_ptr<DeviceSet> &out);

/// Loads the library of a device kind from this library's folder; it is never
/// closed.
static Status loadLibrary(const std::string &name, void *&library) {
  Dl_info self;
  std::string path;
  if (dladdr(reinterpret_cast<void *>(&loadLibrary), &self) && self.dli_fname)
    path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + name;
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library)
    return {};
  return makeError(StatusCode::Incompatible,
                   "the runtime for GPUs cannot be loaded: ", dlerror(),
                   "; install Weft with it, or use cpu:N");
}

/// The result of a function of libWeftCuda.so.
static Status takeError(weft_error *error) {
  std::unique_ptr<weft_error> owner(error);
  return error ? Status(error->error) : Status();
}

/// Finds a function of libWeftCuda.so.
template <typename Function>
static Status findInCuda(const char *name, Function &out) {
  void *library = nullptr;
  if (Status ok = loadLibrary("libWeftCuda.so", library); !ok)
    return ok;
  out = reinterpret_cast<Function>(dlsym(library, name));
  if (out)
    return {};
  return makeError(StatusCode::Incompatible,
                   "libWeftCuda.so is of another release; install both "
                   "libraries of one");
}

static Status openCudaDevices(int64_t count, const DeviceSettings &settings,
                              std::unique_ptr<DeviceSet> &out) {
  weft_error *(*open)(int64_t, Processes *, std::unique_ptr<DeviceSet> *) =
      nullptr;
  if (Status ok = findInCuda("weftOpenCuda", open); !ok)
    return ok;
  return takeError(open(count, settings.processes, &out));
}

/// The functions by DeviceKind; DeviceList refuses other kinds.
static constexpr Open *opens[] = {openCpuDevices, openCudaDevices};
static_assert(std::size(opens) == std::size(kDeviceKinds),
              "every kind of devices that has a name can be opened");

Result<const GpuList *> listGpus() {
  struct Asked {
    GpuList list;
    Status result = ask(list);
    static Status ask(GpuList &list) {
      weft_error *(*ask)(GpuList *) = nullptr;
      if (Status ok = findInCuda("weftListGpus", ask); !ok)
        return ok;
      return takeError(ask(&list));
    }
  };
  static const Asked asked;
  if (!asked.result)
    return asked.result.error();
  return &asked.list;
}

Result<DeviceList> parseDevices(const std::string &text) {
  if (text == kDeviceKinds[size_t(DeviceKind::Cuda)]) {
    Result<const GpuList *> gpus = listGpus();
    if (!gpus)
      return gpus.error();
    return DeviceList{DeviceKind::Cuda, int64_t((*gpus)->gpus.size())};
  }
  return DeviceList::parse(text);
}

Status openDevices(const DeviceList &list, const DeviceSettings &settings,
                   std::unique_ptr<DeviceSet> &out) {
  return opens[size_t(list.kind)](list.count, settings, out);
}

} // namespace weft::runtime

using namespace weft::runtime;

extern "C" WEFT_EXPORT weft_error *weft_gpus(weft_gpu_list *out) {
  return guarded([&]() -> Status {
    if (!out)
      return makeError(StatusCode::InvalidArgument, "null argument");
    *out = {};
    Result<const GpuList *> found = listGpus();
    if (!found)
      return found.error();
    const GpuList *list = *found;
    static const std::vector<weft_gpu> gpus = [&] {
      std::vector<weft_gpu> all;
      for (const GpuList::One &one : list->gpus)
        all.push_back({one.name.c_str(), one.memory, one.capability,
                       one.whyNot.empty() ? nullptr : one.whyNot.c_str(),
                       one.number});
      return all;
    }();
    *out = {gpus.data(), gpus.size(), list->driverVersion,
            list->driverPath.c_str()};
    return {};
  });
}

extern "C" WEFT_EXPORT weft_error *
weft_gpu_libraries(const weft_gpu_library **out, size_t *count) {
  return guarded([&]() -> Status {
    if (!out || !count)
      return makeError(StatusCode::InvalidArgument, "null argument");
    using Libraries = std::vector<GpuLibrary>;
    static Libraries found;
    static const Status asked = []() -> Status {
      weft_error *(*ask)(Libraries *) = nullptr;
      if (Status ok = findInCuda("weftListGpuLibraries", ask); !ok)
        return ok;
      return takeError(ask(&found));
    }();
    if (!asked)
      return asked;
    auto orNull = [](const std::string &text) {
      return text.empty() ? nullptr : text.c_str();
    };
    static const std::vector<weft_gpu_library> libraries = [&] {
      std::vector<weft_gpu_library> all;
      for (const GpuLibrary &one : found)
        all.push_back({one.name.c_str(), one.version.c_str(), one.path.c_str(),
                       orNull(one.whyNot), orNull(one.limit)});
      return all;
    }();
    *out = libraries.data();
    *count = libraries.size();
    return {};
  });
}
