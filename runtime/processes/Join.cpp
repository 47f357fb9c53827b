// Loads MPI, if it is there, and joins the other processes.

#include "weft/runtime/processes/Processes.h"
#include "weft/runtime/processes/StartWatch.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace weft::runtime;

namespace {
/// Finds libWeftMpi.so beside the library with this function; it exists only if
/// Weft was built with MPI. The library is never closed.
Result<WeftOpenTransport *> findTransport() {
  Dl_info self;
  std::string path;
  if (dladdr(reinterpret_cast<void *>(&findTransport), &self) && self.dli_fname)
    path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + "libWeftMpi.so";
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *open = library ? dlsym(library, "weftOpenMpi") : nullptr;
  if (!open)
    return makeError(StatusCode::InvalidArgument,
                     "MPI cannot be loaded: ", dlerror(),
                     "; install libopenmpi-dev and openmpi-bin, and build Weft "
                     "again");
  return reinterpret_cast<WeftOpenTransport *>(open);
}
} // namespace

Status Processes::join(uint64_t command, int messages,
                       std::unique_ptr<Processes> &out) {
  StartWatch watch(messages);
  Result<WeftOpenTransport *> open = findTransport();
  if (!open)
    return open.error();
  const char *reason = "";
  const weft_transport *transport = (*open)(&reason);
  if (!transport)
    return makeError(StatusCode::InvalidArgument,
                     "MPI does not start: ", reason);
  watch.stop();
  out.reset(new Processes(transport, messages));
  return out->meet(command);
}

extern "C" {

WEFT_EXPORT const char *weft_processes_missing(void) {
  static std::string why;
  Result<WeftOpenTransport *> found = findTransport();
  why = found ? "" : found.message();
  return found ? nullptr : why.c_str();
}

WEFT_EXPORT weft_error *weft_processes_join(uint64_t command, int messages,
                                            weft_processes **out) {
  return guarded([&]() -> Status {
    if (!out)
      return makeError(StatusCode::InvalidArgument, "null argument");
    *out = nullptr;
    auto joined = std::make_unique<weft_processes>();
    Status ok = Processes::join(command, messages, joined->processes);
    if (joined->processes)
      *out = joined.release(); // the caller leaves it after an error, too
    return ok;
  });
}

WEFT_EXPORT int weft_processes_rank(const weft_processes *all) {
  return all ? all->processes->rank() : 0;
}

WEFT_EXPORT int weft_processes_size(const weft_processes *all) {
  return all ? all->processes->size() : 1;
}

WEFT_EXPORT weft_error *weft_processes_agree(weft_processes *all,
                                             const char *what, uint64_t value) {
  return guarded([&]() -> Status {
    return all ? all->processes->agree(what, value) : Status();
  });
}

WEFT_EXPORT weft_error *weft_processes_share(weft_processes *all, void **data,
                                             size_t *bytes) {
  return guarded([&]() -> Status {
    return all ? all->processes->share(data, bytes) : Status();
  });
}

WEFT_EXPORT weft_error *weft_processes_vote(weft_processes *all, int mine,
                                            int *any) {
  return guarded([&]() -> Status {
    bool stop = mine != 0;
    Status ok = all ? all->processes->vote(stop, stop) : Status();
    *any = stop;
    return ok;
  });
}

WEFT_EXPORT weft_error *weft_processes_any(weft_processes *all, int mine,
                                           int *any) {
  return guarded([&]() -> Status {
    bool found = mine != 0;
    Status ok = all ? all->processes->any(found, found) : Status();
    *any = found;
    return ok;
  });
}

WEFT_EXPORT void weft_processes_terminate(weft_processes *all, int graceful) {
  if (all)
    all->processes->terminate(graceful != 0);
}

WEFT_EXPORT int weft_processes_leave(weft_processes *all, int status,
                                     const char *message, int *reports,
                                     char **other, int *orderly) {
  *reports = *orderly = 1;
  *other = nullptr;
  if (!all)
    return status;
  Processes::Farewell end =
      all->processes->leave(status, message ? message : "");
  *reports = end.reports;
  *orderly = end.orderly;
  *other = end.other.empty() ? nullptr : strdup(end.other.c_str());
  return end.status;
}

WEFT_EXPORT void weft_processes_free(weft_processes *all) {
  if (!all)
    return;
  all->processes->close();
  delete all;
}
}
