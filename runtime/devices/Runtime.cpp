#include "weft/runtime/devices/Runtime.h"

#include "weft/base/DeviceList.h"
#include "weft/runtime/abi/gpus.h"
#include "weft/runtime/abi/lapack.h"
#include "weft/runtime/devices/DeviceSets.h"

#include <algorithm>

using namespace weft::runtime;

bool weft_runtime::hasPrepared(
    const std::shared_ptr<const Program> &program) const {
  return std::ranges::any_of(
      programs, [&](const auto &one) { return one->program() == program; });
}

Status weft_runtime::prepared(const std::shared_ptr<const Program> &program,
                              std::shared_ptr<PreparedProgram> &out) {
  // Programs that are no longer used elsewhere are dropped.
  std::erase_if(programs, [](const std::shared_ptr<PreparedProgram> &one) {
    return one->program().use_count() == 1;
  });
  for (const std::shared_ptr<PreparedProgram> &one : programs)
    if (one->program() == program) {
      out = one;
      return {};
    }
  if (Status ok = program->prepare(); !ok)
    return ok;
  if (processes)
    if (Status ok = processes->agree("program", program->hash()); !ok)
      return ok;
  if (Status ok =
          devices->prepare(program, ownership(program->plan().mesh), out);
      !ok)
    return ok;
  programs.push_back(out);
  return {};
}

std::unique_lock<std::mutex> weft_runtime::lockIdle() {
  for (;;) {
    devices->attend(tickets->last());
    std::unique_lock<std::mutex> guard(mutex);
    if (tickets->last().isDone())
      return guard;
  }
}

Status weft_runtime::checkDevices(const Plan &plan) const {
  for (int64_t device : plan.mesh.devices)
    if (device >= deviceCount)
      return makeError(StatusCode::InvalidArgument, "program \"", plan.name,
                       "\" needs device ", device, ", the runtime has ",
                       deviceCount, "; create it with more devices");
  return {};
}

Status weft_runtime::checkProcess() const {
  if (process == ::getpid())
    return {};
  return makeError(StatusCode::InvalidArgument,
                   "the runtime was created in process ", process,
                   ", from which this one (", ::getpid(),
                   ") was forked without its threads; create a runtime after "
                   "the fork, or start processes with spawn");
}

Ownership weft_runtime::ownership(const Mesh &mesh) const {
  Ownership out;
  if (!processes)
    return out;
  out.rank = processes->rank();
  for (int64_t device : mesh.devices)
    out.ranks.push_back(rankOfDevice(device, deviceCount, processes->size()));
  return out;
}

extern "C" {

WEFT_EXPORT weft_error *weft_runtime_create(const char *devices, int workers,
                                            weft_runtime **out) {
  return weft_runtime_create_among(nullptr, devices, workers, out);
}

WEFT_EXPORT weft_error *weft_runtime_create_among(weft_processes *processes,
                                                  const char *devices,
                                                  int workers,
                                                  weft_runtime **out) {
  return guarded([&]() -> Status {
    if (!devices || !out)
      return makeError(StatusCode::InvalidArgument, "null argument");
    *out = nullptr;
    Result<weft::DeviceList> list = parseDevices(devices);
    if (!list)
      return list.error();
    if (workers < 0 || workers > 1024)
      return makeError(StatusCode::InvalidArgument, workers,
                       " workers; write 0 for one a core, or 1 to 1024");
    if (int others = weft_processes_size(processes); others > list->count)
      return makeError(StatusCode::InvalidArgument, others, " processes for ",
                       list->count, " devices; start at most ", list->count);
    auto runtime = std::make_unique<weft_runtime>(list->count, processes);
    if (Status ok = openDevices(*list,
                                {.workers = workers,
                                 .processes = runtime->processes,
                                 .host = &runtime->host,
                                 .lapack = &runtime->lapack},
                                runtime->devices);
        !ok)
      return ok;
    *out = runtime.release();
    return {};
  });
}

WEFT_EXPORT int64_t weft_runtime_device_count(const weft_runtime *runtime) {
  return runtime ? runtime->deviceCount : 0;
}

WEFT_EXPORT void weft_runtime_set_host(weft_runtime *runtime, weft_host_fn call,
                                       void *user) {
  if (!runtime || runtime->process != ::getpid())
    return;
  std::unique_lock<std::mutex> guard = runtime->lockIdle();
  runtime->host = {call, user};
}

WEFT_EXPORT weft_error *weft_runtime_set_lapack(weft_runtime *runtime,
                                                const char *source,
                                                const char *const *names,
                                                void *const *addresses,
                                                size_t count) {
  return guarded([&]() -> Status {
    if (!runtime || !source || (count && (!names || !addresses)))
      return makeError(StatusCode::InvalidArgument, "null argument");
    std::map<std::string, void *> routines;
    for (size_t i = 0; i < count; ++i)
      if (names[i] && addresses[i])
        routines[names[i]] = addresses[i];
    if (Status ok = runtime->checkProcess(); !ok)
      return ok;
    std::lock_guard<std::mutex> guard(runtime->mutex);
    runtime->lapack = std::make_shared<const weft::lapack::Library>(
        source, std::move(routines));
    return {};
  });
}

WEFT_EXPORT void weft_runtime_poison(weft_runtime *runtime, int on) {
  if (!runtime)
    return;
  std::lock_guard<std::mutex> guard(runtime->mutex);
  runtime->poison = on != 0;
}

WEFT_EXPORT void weft_runtime_graphs(weft_runtime *runtime, int on) {
  if (runtime)
    runtime->graphs = on != 0;
}

WEFT_EXPORT void weft_runtime_share(weft_runtime *runtime, int on) {
  if (!runtime || runtime->process != ::getpid())
    return;
  std::unique_lock<std::mutex> guard = runtime->lockIdle();
  runtime->share = on != 0;
  runtime->sharedOf = nullptr;
}

WEFT_EXPORT weft_sharing weft_runtime_sharing(const weft_runtime *runtime) {
  if (!runtime)
    return {};
  const SharedCounts &its = runtime->shared;
  return {its.instructions, its.waits, its.bytes};
}

WEFT_EXPORT weft_error *weft_runtime_isolate(weft_runtime *runtime, int on) {
  return guarded([&]() -> Status {
    if (!runtime)
      return makeError(StatusCode::InvalidArgument, "null argument");
    if (on)
      if (Status ok = runtime->devices->canIsolate(); !ok)
        return ok;
    std::lock_guard<std::mutex> guard(runtime->mutex);
    runtime->isolate = on != 0;
    return {};
  });
}

WEFT_EXPORT weft_error *weft_runtime_set_collectives(weft_runtime *runtime,
                                                     const char *mode) {
  return guarded([&]() -> Status {
    if (!runtime || !mode)
      return makeError(StatusCode::InvalidArgument, "null argument");
    std::optional<weft::CollectiveMode> known = weft::parseCollectiveMode(mode);
    if (!known)
      return makeError(StatusCode::InvalidArgument, "collectives \"", mode,
                       "\" are unknown; write nccl, peer or exact");
    std::unique_lock<std::mutex> guard = runtime->lockIdle();
    return runtime->devices->setCollectives(*known);
  });
}

WEFT_EXPORT void weft_runtime_free(weft_runtime *runtime) {
  // In a forked process the threads that the destructor awaits do not exist.
  if (runtime && runtime->process == ::getpid())
    delete runtime;
}

WEFT_EXPORT uint64_t weft_runtime_peak_memory(const weft_runtime *runtime) {
  return runtime ? runtime->devices->peakMemory() : 0;
}

WEFT_EXPORT size_t weft_runtime_counters(const weft_runtime *runtime,
                                         const weft_counter **out) {
  if (!runtime || !out)
    return 0;
  *out = runtime->counters.data();
  return runtime->counters.size();
}

WEFT_EXPORT size_t weft_gpu_notes(weft_runtime *runtime,
                                  const char *const **out) {
  if (!runtime || !out)
    return 0;
  runtime->notes = runtime->devices->notes();
  runtime->noteTexts.clear();
  for (const std::string &note : runtime->notes)
    runtime->noteTexts.push_back(note.c_str());
  *out = runtime->noteTexts.data();
  return runtime->noteTexts.size();
}
}
