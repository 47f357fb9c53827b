#include "weft/runtime/devices/cuda/Driver.h"

#include "weft/runtime/devices/cuda/LibraryFolders.h"
#include "weft/runtime/devices/cuda/TranslationCache.h"

#include <dlfcn.h>

namespace weft::runtime {

/// The oldest supported driver: R525, whose cuGetProcAddress all later ones
/// have.
static constexpr int kOldestDriver = 12000;

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// Whether an error ends a context: all later calls return the same.
static bool isForGood(cuda::Result result) {
  using R = cuda::Result;
  switch (result) {
  case R::EccUncorrectable:
  case R::NvlinkUncorrectable:
  case R::Contained:
  case R::IllegalAddress:
  case R::LaunchTimeout:
  case R::ContextIsDestroyed:
  case R::Assert:
  case R::HardwareStackError:
  case R::IllegalInstruction:
  case R::MisalignedAddress:
  case R::InvalidAddressSpace:
  case R::InvalidProgramCounter:
  case R::LaunchFailed:
  case R::TensorMemoryLeak:
    return true;
  default:
    return false;
  }
}

Status Driver::check(cuda::Result result, const std::string &call) const {
  if (result == cuda::Result::Success)
    return {};
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  bool isMemory = result == cuda::Result::OutOfMemory;
  Error error =
      makeError(isMemory ? StatusCode::OutOfMemory : StatusCode::Internal, call,
                " failed with ", name ? name : "an unknown error", " (",
                int(result), "): ", text ? text : "the driver says no more");
  if (!isForGood(result))
    return error;
  std::lock_guard<std::mutex> guard(mutex);
  if (first.empty())
    first = error.message.text();
  else
    error.message = "the GPU runs nothing more in this process, which must be "
                    "started again, since " +
                    first;
  return error;
}

std::string Driver::path() const {
  return libraryPath(reinterpret_cast<void *>(cuInit), "libcuda.so.1");
}

Status Driver::open() {
  placeTranslationCache();
  // The library is never closed, as others of the process may use it, too.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(
        StatusCode::Incompatible, "CUDA's driver cannot be loaded: ", dlerror(),
        "; install NVIDIA's driver, or use ", Option{"devices", "cpu:N"});
  auto find = [&](const char *symbol) { return dlsym(library, symbol); };
  using Version = cuda::Result (*)(int *);
  auto ask = reinterpret_cast<Version>(find("cuDriverGetVersion"));
  if (!ask || ask(&version) != cuda::Result::Success || version < kOldestDriver)
    return makeError(StatusCode::Incompatible, "CUDA's driver is for CUDA ",
                     versionText(version), ", programs need ",
                     versionText(kOldestDriver),
                     " or later; install a newer driver of NVIDIA");
#define WEFT_CUDA_FUNCTION(name, symbol, first, parameters)                    \
  name = reinterpret_cast<decltype(name)>(find(#symbol));                      \
  if (!name)                                                                   \
    return makeError(StatusCode::Incompatible, "CUDA's driver for CUDA ",      \
                     versionText(version),                                     \
                     " has no function " #symbol                               \
                     "; install a newer driver of NVIDIA");
  WEFT_CUDA_CALLS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
#define WEFT_CUDA_FUNCTION(name, symbol, first, parameters)                    \
  name = reinterpret_cast<decltype(name)>(find(#symbol));                      \
  hasGraphs = hasGraphs && name;
  WEFT_CUDA_GRAPH_CALLS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
  Status ok = check(cuInit(0), "cuInit");
  if (!ok)
    ok.error().message += "; nvidia-smi shows which GPUs the driver finds";
  return ok;
}

Status Driver::load(const Driver *&out) {
  struct Loaded {
    Driver driver;
    Status opened = driver.open();
  };
  static const Loaded loaded;
  out = &loaded.driver;
  return loaded.opened;
}

} // namespace weft::runtime
