//===- MemoryCalls.cpp - memory of devices in the C ABI -------------------===//

#include "weft/runtime/devices/Runtime.h"

using namespace weft::runtime;

constexpr int64_t host = -1;

/// Fails unless this process runs the device.
static Error checkDevice(const weft_runtime &runtime, int64_t device) {
  if (device < 0 || device >= runtime.deviceCount)
    return makeError(WEFT_INVALID_ARGUMENT, "there is no device ", device,
                     " of ", runtime.devices->describe(),
                     "; give one from 0 to ", runtime.deviceCount - 1);
  if (!runtime.processes)
    return nullptr;
  int rank =
      rankOfDevice(device, runtime.deviceCount, runtime.processes->size());
  if (rank == runtime.processes->rank())
    return nullptr;
  return makeError(WEFT_INVALID_ARGUMENT, "device ", device,
                   " is in the process of rank ", rank, ", this is rank ",
                   runtime.processes->rank());
}

static Error checkPlace(const weft_runtime &runtime, int64_t device,
                        const void *memory, uint64_t bytes) {
  if (!memory && bytes)
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  return device == host ? nullptr : checkDevice(runtime, device);
}

static Error freeMemory(weft_runtime &runtime, void *memory) {
  std::lock_guard<std::mutex> guard(runtime.mutex);
  auto found = runtime.memory.find(memory);
  if (found == runtime.memory.end())
    return makeError(WEFT_INVALID_ARGUMENT, "no memory of ",
                     runtime.devices->describe(), " begins at ", memory,
                     "; free each address of weft_device_allocate once");
  // The ticket's callback owns the memory until enqueued work is over.
  runtime.tickets->last().onReady(
      [memory = std::move(found->second)](const weft_error *) {});
  runtime.memory.erase(found);
  return nullptr;
}

extern "C" {

WEFT_EXPORT weft_error *weft_device_allocate(weft_runtime *runtime,
                                             int64_t device, uint64_t bytes,
                                             void **out) {
  return guarded([&]() -> Error {
    if (!runtime || !out)
      return makeError(WEFT_INVALID_ARGUMENT, "null argument");
    *out = nullptr;
    if (Error e = checkDevice(*runtime, device))
      return e;
    std::unique_ptr<DeviceMemory> memory;
    if (Error e = runtime->devices->allocate(device, bytes, "an array", memory))
      return e;
    void *address = memory->address();
    std::lock_guard<std::mutex> guard(runtime->mutex);
    runtime->memory.emplace(address, std::move(memory));
    *out = address;
    return nullptr;
  });
}

WEFT_EXPORT weft_error *weft_device_free(weft_runtime *runtime, void *memory) {
  return guarded([&]() -> Error {
    if (!runtime)
      return makeError(WEFT_INVALID_ARGUMENT, "null argument");
    return memory ? freeMemory(*runtime, memory) : nullptr;
  });
}

WEFT_EXPORT weft_error *weft_device_copy(weft_runtime *runtime,
                                         int64_t to_device, void *to,
                                         int64_t from_device, const void *from,
                                         uint64_t bytes, weft_ticket **out) {
  return guarded([&]() -> Error {
    if (!runtime || !out)
      return makeError(WEFT_INVALID_ARGUMENT, "null argument");
    *out = nullptr;
    if (Error e = checkPlace(*runtime, to_device, to, bytes))
      return e;
    if (Error e = checkPlace(*runtime, from_device, from, bytes))
      return e;
    if (Error e = runtime->checkProcess())
      return e;
    auto handle = std::make_unique<weft_ticket>();
    std::lock_guard<std::mutex> guard(runtime->mutex);
    handle->ticket = runtime->devices->enqueue({.toDevice = to_device,
                                                .fromDevice = from_device,
                                                .to = to,
                                                .from = from,
                                                .bytes = bytes});
    runtime->tickets->add(handle->ticket);
    *out = handle.release();
    return nullptr;
  });
}
}
