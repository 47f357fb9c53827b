//===- ScriptLapack.cpp - the LAPACK of the script's process --------------===//

#include "weft/tools/pjrt/programs/ScriptLapack.h"

#include "weft/runtime/abi/lapack.h"

#include <atomic>
#include <string>
#include <vector>

namespace {
struct Routines {
  std::string source;
  std::vector<std::string> names;
  std::vector<void *> addresses;
};
} // namespace

/// What the script has given, or null; kept as long as the process lives.
static std::atomic<const Routines *> routines = nullptr;

void weft::pjrt::giveLapack(weft_runtime *runtime, bool &given) {
  const Routines *its = given ? nullptr : routines.load();
  if (!its)
    return;
  std::vector<const char *> names;
  for (const std::string &name : its->names)
    names.push_back(name.c_str());
  // A runtime of another process keeps the system's.
  weft_error_free(weft_runtime_set_lapack(runtime, its->source.c_str(),
                                          names.data(), its->addresses.data(),
                                          names.size()));
  given = true;
}

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_set_lapack(const char *source, const char *const *names,
                     void *const *addresses, size_t count) {
  auto *its = new Routines{source, {}, {}};
  its->names.assign(names, names + count);
  its->addresses.assign(addresses, addresses + count);
  routines = its;
}
