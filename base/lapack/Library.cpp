#include "weft/base/lapack/Library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sstream>

namespace weft::lapack {

static constexpr const char *kVariable = "WEFT_LAPACK_LIBRARIES";

/// The files to try, in order.
static std::vector<std::string> filesToTry() {
  const char *asked = std::getenv(kVariable);
  if (!asked || !*asked)
    return {"libopenblas.so.0", "liblapack.so.3"};
  std::vector<std::string> all;
  std::istringstream text(asked);
  for (std::string file; std::getline(text, file, ':');)
    if (!file.empty() && file != "none")
      all.push_back(file);
  return all;
}

std::string wayToLibrary() {
  return std::string("install libopenblas0, or set ") + kVariable +
         " to the file of a LAPACK";
}

/// The file that has the code at an address.
static std::string fileOf(void *address, const std::string &otherwise) {
  Dl_info found;
  bool isKnown = dladdr(address, &found);
  return isKnown && found.dli_fname ? found.dli_fname : otherwise;
}

Result<std::shared_ptr<const Library>> Library::open() {
  std::vector<std::string> files = filesToTry();
  if (files.empty())
    return Error{std::string(kVariable) + " names no library",
                 StatusCode::Incompatible};
  std::string why;
  for (const std::string &name : files) {
    std::shared_ptr<Library> made(new Library);
    // The library is never closed, as others of the process may use it, too.
    made->file = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    void *known = made->file ? made->find("dgetrf") : nullptr;
    if (known) {
      made->origin = fileOf(known, name);
      return std::shared_ptr<const Library>(std::move(made));
    }
    const char *fault = made->file ? nullptr : dlerror();
    why += (why.empty() ? "" : "; ") +
           (fault ? std::string(fault) : name + " has no routine dgetrf_");
  }
  return Error{why, StatusCode::Incompatible};
}

void *Library::find(const std::string &name) const {
  if (auto given = routines.find(name); given != routines.end())
    return given->second;
  if (!file)
    return nullptr;
  for (const char *prefix : {"", "scipy_"})
    if (void *address = dlsym(file, (prefix + name + "_").c_str()))
      return address;
  return nullptr;
}

} // namespace weft::lapack
