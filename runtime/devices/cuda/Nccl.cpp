#include "weft/runtime/devices/cuda/Nccl.h"

#include "weft/runtime/devices/cuda/LibraryFolders.h"

#include <dlfcn.h>

namespace weft::runtime {

Status Nccl::openAs(const std::string &name) {
  void *library = nullptr;
  if (Status ok = openLibrary(name, library); !ok)
    return ok;
  // The version comes first, as older libraries lack functions.
  ncclGetVersion = reinterpret_cast<decltype(ncclGetVersion)>(
      dlsym(library, "ncclGetVersion"));
  if (!ncclGetVersion ||
      ncclGetVersion(&versionNumber) != nccl::Status::Success)
    return makeError(StatusCode::Incompatible, name,
                     " has no function ncclGetVersion that succeeds");
  if (versionNumber < nccl::kOldestVersion)
    return makeError(StatusCode::Incompatible, name, " is NCCL ", version(),
                     ", programs need ", libraryVersion(nccl::kOldestVersion),
                     " or later");
#define WEFT_NCCL_FUNCTION(function, result, parameters)                       \
  function = reinterpret_cast<decltype(function)>(dlsym(library, #function));  \
  if (!function)                                                               \
    return makeError(StatusCode::Incompatible, name,                           \
                     " has no function " #function);
  WEFT_NCCL_FUNCTIONS(WEFT_NCCL_FUNCTION)
#undef WEFT_NCCL_FUNCTION
  return {};
}

Status Nccl::open() {
  return openFirst({"libnccl.so.2"},
                   [&](const LibraryFile &file) { return openAs(file.path); });
}

Result<const Nccl *> Nccl::find() {
  struct Loaded {
    Nccl library;
    Status opened = library.open();
  };
  static const Loaded loaded;
  if (!loaded.opened)
    return loaded.opened.error();
  return &loaded.library;
}

std::string Nccl::version() const {
  return libraryVersion(size_t(versionNumber));
}

std::string Nccl::path() const {
  return libraryPath(reinterpret_cast<void *>(ncclAllReduce), "libnccl.so.2");
}

Status Nccl::check(nccl::Status status, const std::string &call) const {
  if (status == nccl::Status::Success)
    return {};
  const char *text = ncclGetErrorString(status);
  const char *last = ncclGetLastError(nullptr);
  std::string detail = last && *last ? std::string(", ") + last : "";
  return makeError(StatusCode::Internal, call, " failed with ",
                   text ? text : "an unknown status", " (", int(status), detail,
                   ") in NCCL ", version(), ", ", path(),
                   "; NCCL_DEBUG=WARN prints more, and in one process ",
                   Option{"collectives", "peer"}, " runs without NCCL");
}

} // namespace weft::runtime
