#include "weft/runtime/devices/cpu/Runtime.h"
#include "weft/runtime/abi/DeviceList.h"

#include <algorithm>
#include <sched.h>

using namespace weft::runtime;

Error weft_runtime::executorFor(const std::shared_ptr<const Program> &program,
                                Executor *&out) {
  // Programs that nobody else holds any more are forgotten.
  std::erase_if(executors, [](const std::unique_ptr<Executor> &executor) {
    return executor->owner().use_count() == 1;
  });
  for (std::unique_ptr<Executor> &executor : executors)
    if (executor->owner() == program) {
      out = executor.get();
      return nullptr;
    }
  if (Error e = program->prepare())
    return e;
  if (processes)
    if (Error e = processes->agree("program", program->hash()))
      return e;
  auto executor = std::make_unique<Executor>(
      program, Elsewhere{processes, &staging, ownership(program->plan().mesh)});
  if (Error e = executor->prepare(*provider, workers.count()))
    return e;
  out = executor.get();
  executors.push_back(std::move(executor));
  return nullptr;
}

Error weft_runtime::checkDevices(const Plan &plan) const {
  for (int64_t device : plan.mesh.devices)
    if (device >= deviceCount)
      return makeError(WEFT_INVALID_ARGUMENT, "program \"", plan.name,
                       "\" needs device ", device, ", the runtime has ",
                       deviceCount, "; create it with more devices");
  return nullptr;
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

Error weft_runtime::growArenas(const Plan &plan) {
  Ownership owners = ownership(plan.mesh);
  for (int64_t p = 0; p < plan.mesh.size(); ++p) {
    int64_t device = plan.mesh.devices[p];
    if (!owners.isOwn(p))
      continue;
    if (arenas[device].data() && arenas[device].size() >= plan.arenaBytes)
      continue;
    int64_t before = int64_t(arenas[device].size());
    if (!arenas[device].allocate(plan.arenaBytes, device))
      return makeError(WEFT_OUT_OF_MEMORY, "no memory for the arena of device ",
                       device, ": ", plan.arenaBytes,
                       " bytes; take a smaller batch, or more devices");
    meter->add(device, int64_t(plan.arenaBytes) - before);
    ++arenaVersion;
  }
  return nullptr;
}

/// Cores for this process's workers. Processes that mpirun has not bound to
/// cores of their own share the machine's.
static int coreCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return int(std::max(1u, std::thread::hardware_concurrency()));
  return CPU_COUNT(&set);
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
  return guarded([&]() -> Error {
    if (!devices || !out)
      return makeError(WEFT_INVALID_ARGUMENT, "null argument");
    *out = nullptr;
    std::string why;
    std::optional<weft::DeviceList> list =
        weft::DeviceList::parse(devices, why);
    if (!list)
      return makeError(WEFT_INVALID_ARGUMENT, why);
    if (workers < 0 || workers > 1024)
      return makeError(WEFT_INVALID_ARGUMENT, workers,
                       " workers; write 0 for one a core, or 1 to 1024");
    if (int others = weft_processes_size(processes); others > list->count)
      return makeError(WEFT_INVALID_ARGUMENT, others, " processes for ",
                       list->count, " devices; start at most ", list->count);
    if (workers == 0)
      workers = int(coreCount());
    if (processes)
      workers = processes->processes->shareOfCores(workers);
    *out = new weft_runtime(list->count, workers, processes);
    return nullptr;
  });
}

WEFT_EXPORT int64_t weft_runtime_device_count(const weft_runtime *runtime) {
  return runtime ? runtime->deviceCount : 0;
}

WEFT_EXPORT void weft_runtime_set_host(weft_runtime *runtime, weft_host_fn call,
                                       void *user) {
  if (!runtime)
    return;
  std::lock_guard<std::mutex> guard(runtime->mutex);
  runtime->host = {call, user};
}

WEFT_EXPORT void weft_runtime_poison(weft_runtime *runtime, int on) {
  if (runtime)
    runtime->poison = on != 0;
}

WEFT_EXPORT weft_error *weft_runtime_isolate(weft_runtime *runtime, int on) {
  return guarded([&]() -> Error {
    if (!runtime)
      return makeError(WEFT_INVALID_ARGUMENT, "null argument");
    if (on && runtime->workers.count() != 1)
      return makeError(WEFT_INVALID_ARGUMENT,
                       "devices are kept apart by one "
                       "worker, the runtime has ",
                       runtime->workers.count(), "; create it with 1");
    runtime->isolate = on != 0;
    return nullptr;
  });
}

WEFT_EXPORT void weft_runtime_free(weft_runtime *runtime) { delete runtime; }

WEFT_EXPORT uint64_t weft_runtime_peak_memory(const weft_runtime *runtime) {
  return runtime ? uint64_t(runtime->meter->peak()) : 0;
}

WEFT_EXPORT size_t weft_runtime_counters(const weft_runtime *runtime,
                                         const weft_counter **out) {
  if (!runtime || !out)
    return 0;
  *out = runtime->counters.data();
  return runtime->counters.size();
}
}
