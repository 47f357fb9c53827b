//===- MemoryCalls.cpp - memory of devices in the C ABI -------------------===//

#include "weft/runtime/devices/Runtime.h"

using namespace weft::runtime;

constexpr int64_t host = -1;

/// Fails unless this process runs the device.
static Status checkDevice(const weft_runtime &runtime, int64_t device) {
  if (device < 0 || device >= runtime.deviceCount)
    return makeError(StatusCode::InvalidArgument, "there is no device ", device,
                     " of ", runtime.devices->describe(),
                     "; give one from 0 to ", runtime.deviceCount - 1);
  if (!runtime.processes)
    return {};
  int rank =
      rankOfDevice(device, runtime.deviceCount, runtime.processes->size());
  if (rank == runtime.processes->rank())
    return {};
  return makeError(StatusCode::InvalidArgument, "device ", device,
                   " is in the process of rank ", rank, ", this is rank ",
                   runtime.processes->rank());
}

static Status checkPlace(const weft_runtime &runtime, int64_t device,
                         const void *memory, uint64_t bytes) {
  if (!memory && bytes)
    return makeError(StatusCode::InvalidArgument, "null argument");
  return device == host ? Status() : checkDevice(runtime, device);
}

static Status freeMemory(weft_runtime &runtime, void *memory) {
  std::lock_guard<std::mutex> guard(runtime.mutex);
  auto found = runtime.memory.find(memory);
  if (found == runtime.memory.end())
    return makeError(StatusCode::InvalidArgument, "no memory of ",
                     runtime.devices->describe(), " begins at ", memory,
                     "; free each address of weft_device_allocate once");
  // The ticket's callback owns the memory until enqueued work is over.
  runtime.tickets->last().onReady(
      [memory = std::move(found->second)](const Status &) {});
  runtime.memory.erase(found);
  return {};
}

extern "C" {

WEFT_EXPORT weft_error *weft_device_allocate(weft_runtime *runtime,
                                             int64_t device, uint64_t bytes,
                                             void **out) {
  return guarded([&]() -> Status {
    if (!runtime || !out)
      return makeError(StatusCode::InvalidArgument, "null argument");
    *out = nullptr;
    if (Status ok = checkDevice(*runtime, device); !ok)
      return ok;
    std::unique_ptr<DeviceMemory> memory;
    if (Status ok =
            runtime->devices->allocate(device, bytes, "an array", memory);
        !ok)
      return ok;
    void *address = memory->address();
    std::lock_guard<std::mutex> guard(runtime->mutex);
    runtime->memory.emplace(address, std::move(memory));
    *out = address;
    return {};
  });
}

WEFT_EXPORT weft_error *weft_device_free(weft_runtime *runtime, void *memory) {
  return guarded([&]() -> Status {
    if (!runtime)
      return makeError(StatusCode::InvalidArgument, "null argument");
    return memory ? freeMemory(*runtime, memory) : Status();
  });
}

WEFT_EXPORT weft_error *weft_device_copy(weft_runtime *runtime,
                                         int64_t to_device, void *to,
                                         int64_t from_device, const void *from,
                                         uint64_t bytes, weft_ticket **out) {
  return guarded([&]() -> Status {
    if (!runtime || !out)
      return makeError(StatusCode::InvalidArgument, "null argument");
    *out = nullptr;
    if (Status ok = checkPlace(*runtime, to_device, to, bytes); !ok)
      return ok;
    if (Status ok = checkPlace(*runtime, from_device, from, bytes); !ok)
      return ok;
    if (Status ok = runtime->checkProcess(); !ok)
      return ok;
    auto handle = std::make_unique<weft_ticket>();
    std::lock_guard<std::mutex> guard(runtime->mutex);
    handle->ticket = runtime->devices->enqueue({.toDevice = to_device,
                                                .fromDevice = from_device,
                                                .to = to,
                                                .from = from,
                                                .bytes = bytes});
    runtime->tickets->add(handle->ticket);
    *out = handle.release();
    return {};
  });
}
}
