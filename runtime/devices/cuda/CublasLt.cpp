#include "weft/runtime/devices/cuda/CublasLt.h"

#include "weft/runtime/devices/cuda/LibraryFolders.h"

#include <dlfcn.h>

namespace weft::runtime {

/// Supported major versions, newest first; a library of CUDA 13 needs a driver
/// for CUDA 13.
static constexpr int kMajors[] = {13, 12};

Status CublasLt::openAs(const std::string &name, int major, int driverVersion) {
  if (driverVersion / 1000 < major)
    return makeError(StatusCode::Incompatible, name,
                     " needs a driver for CUDA ", major);
  void *library = nullptr;
  if (Status ok = openLibrary(name, library); !ok)
    return ok;
#define WEFT_CUBLASLT_FUNCTION(function, result, parameters)                   \
  function = reinterpret_cast<decltype(function)>(dlsym(library, #function));  \
  if (!function)                                                               \
    return makeError(StatusCode::Incompatible, name,                           \
                     " has no function " #function);
  WEFT_CUBLASLT_FUNCTIONS(WEFT_CUBLASLT_FUNCTION)
#undef WEFT_CUBLASLT_FUNCTION
  return {};
}

Status CublasLt::open(int driverVersion) {
  std::vector<std::string> names;
  for (int major : kMajors)
    names.push_back("libcublasLt.so." + std::to_string(major));
  return openFirst(names, [&](const LibraryFile &file) {
    return openAs(file.path, kMajors[file.name], driverVersion);
  });
}

Result<const CublasLt *> CublasLt::find(const Driver &driver) {
  struct Loaded {
    CublasLt library;
    Status opened;
    explicit Loaded(int version) : opened(library.open(version)) {}
  };
  static const Loaded loaded(driver.version);
  if (!loaded.opened)
    return loaded.opened.error();
  return &loaded.library;
}

std::string CublasLt::version() const {
  return libraryVersion(cublasLtGetVersion());
}

std::string CublasLt::title() const {
  return "cuBLASLt " + version() + " (" + path() + ")";
}

std::string CublasLt::path() const {
  return libraryPath(reinterpret_cast<void *>(cublasLtCreate),
                     "libcublasLt.so");
}

Status CublasLt::check(cublaslt::Status status, const std::string &call) const {
  if (status == cublaslt::Status::Success)
    return {};
  const char *name = cublasLtGetStatusName(status);
  bool isMemory = status == cublaslt::Status::AllocFailed;
  return makeError(isMemory ? StatusCode::OutOfMemory : StatusCode::Internal,
                   title(), ": ", call, " failed with ",
                   name ? name : "an unknown status", " (", int(status), ")");
}

Status CublasLtHandle::create(const CublasLt &library,
                              std::shared_ptr<const Gpu> gpu,
                              std::shared_ptr<CublasLtHandle> &out) {
  if (Status ok = gpu->makeCurrent(); !ok)
    return ok;
  std::shared_ptr<CublasLtHandle> made(new CublasLtHandle(library, gpu));
  if (Status ok = library.check(library.cublasLtCreate(&made->handle),
                                "cublasLtCreate");
      !ok)
    return ok;
  out = std::move(made);
  return {};
}

CublasLtHandle::~CublasLtHandle() {
  CallerContext caller(gpu->driver());
  if (handle && gpu->makeCurrent())
    api.cublasLtDestroy(handle);
}

} // namespace weft::runtime
