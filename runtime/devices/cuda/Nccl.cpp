#include "weft/runtime/devices/cuda/Nccl.h"

#include "weft/runtime/devices/cuda/LibraryFolders.h"

#include <dlfcn.h>

namespace weft::runtime {

static std::string ncclVersionText(int number) {
  return std::to_string(number / 10000) + "." +
         std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

Status Nccl::openAs(const std::string &name) {
  // The library is never closed, as others of the process may use it, too.
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(StatusCode::Incompatible, dlerror());
  // The version comes first, as older libraries lack functions.
  ncclGetVersion = reinterpret_cast<decltype(ncclGetVersion)>(
      dlsym(library, "ncclGetVersion"));
  if (!ncclGetVersion || ncclGetVersion(&number) != nccl::Status::Success)
    return makeError(StatusCode::Incompatible, name,
                     " has no function ncclGetVersion that succeeds");
  if (number < nccl::kOldestVersion)
    return makeError(StatusCode::Incompatible, name, " is NCCL ",
                     ncclVersionText(number), ", programs need ",
                     ncclVersionText(nccl::kOldestVersion), " or later");
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
  Message why;
  for (const LibraryFile &file : libraryFiles({"libnccl.so.2"})) {
    Status opened = openAs(file.path);
    if (opened)
      return opened;
    why += (why.empty() ? "" : "; ") + opened.error().message;
  }
  return makeError(StatusCode::Incompatible,
                   why.empty() ? Message("WEFT_CUDA_LIBRARIES names no folder")
                               : why);
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

std::string Nccl::version() const { return ncclVersionText(number); }

std::string Nccl::path() const {
  Dl_info found;
  bool isKnown = dladdr(reinterpret_cast<void *>(ncclAllReduce), &found);
  return isKnown && found.dli_fname ? found.dli_fname : "libnccl.so.2";
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
                   "; NCCL_DEBUG=WARN prints more, and ",
                   Option{"collectives", "peer"}, " runs without NCCL");
}

} // namespace weft::runtime
