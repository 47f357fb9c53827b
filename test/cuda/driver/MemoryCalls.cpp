//===- MemoryCalls.cpp - allocations, copies, fills -----------------------===//

#include "weft/test/cuda/driver/Entry.h"

#include <cstring>

using namespace weft::fake;

static uint64_t addressOf(const void *memory) {
  return reinterpret_cast<uint64_t>(memory);
}

Result cuMemGetInfo_v2(size_t *free, size_t *total) {
  return call(__func__, Needs::Context, [&] {
    *total = Driver::get().settings.memory;
    *free = *total - Driver::current()->used;
    return Result::Success;
  });
}

static Result allocate(Address *address, size_t bytes) {
  Driver &driver = Driver::get();
  Context context = Driver::current();
  if (!address || !bytes)
    return Result::InvalidValue;
  if (bytes > driver.settings.memory - context->used)
    return Result::OutOfMemory;
  *address = driver.memory.allocate(context, bytes, false,
                                    driver.settings.checksWritten);
  return *address ? Result::Success : Result::OutOfMemory;
}

Result cuMemAlloc_v2(Address *address, size_t bytes) {
  return call(__func__, Needs::Context,
              [&] { return allocate(address, bytes); });
}

/// The block that begins at the address, or null with a report.
static DeviceMemory::Block *toFree(Address address, const char *symbol) {
  Driver &driver = Driver::get();
  auto found = driver.memory.blocks.find(address);
  if (found == driver.memory.blocks.end() || found->second.isData) {
    driver.report(std::string(symbol) + " of an address that no allocation "
                                        "begins at");
    return nullptr;
  }
  if (!found->second.freedBy.empty()) {
    driver.report(std::string(symbol) + " of memory that " +
                  found->second.freedBy + " has freed");
    return nullptr;
  }
  return &found->second;
}

static std::vector<OperationRef> usersOf(uint64_t address, uint64_t bytes) {
  return Driver::get().pending([&](const Operation &operation) {
    for (const Touch &touch : operation.touches)
      if (touch.address < address + bytes &&
          address < touch.address + std::max<uint64_t>(1, touch.bytes))
        return true;
    return false;
  });
}

/// Waits for all work, so that nothing breaks, but reports if that was
/// necessary: the program lacks an order.
Result cuMemFree_v2(Address address) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    if (!address)
      return Result::Success;
    DeviceMemory::Block *block = toFree(address, "cuMemFree");
    if (!block)
      return Result::InvalidValue;
    if (auto users = usersOf(address, block->bytes); !users.empty())
      driver.report("cuMemFree of memory that " + users.front()->name +
                    " still needs; wait for it first");
    Result result = driver.waitForContext(block->context);
    if (!toFree(address, "cuMemFree")) // a cuMemFreeAsync was enqueued
      return Result::InvalidValue;
    driver.memory.free(address, "cuMemFree");
    driver.accesses.forget(address);
    return result;
  });
}

Result cuMemAllocAsync(Address *address, size_t bytes, Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream)
      return Result::InvalidHandle;
    Result result = allocate(address, bytes);
    if (result == Result::OutOfMemory) { // the stream may free enough
      driver.runUntil([&] { return stream->queue.empty(); });
      result = allocate(address, bytes);
    }
    if (result != Result::Success)
      return result;
    Touch all{*address, bytes, true};
    driver.enqueue(
        stream, "cuMemAllocAsync", {all},
        [&driver, all](Operation &self) { driver.noteAccess(self, all); });
    return Result::Success;
  });
}

Result cuMemFreeAsync(Address address, Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream)
      return Result::InvalidHandle;
    if (!address)
      return Result::Success;
    DeviceMemory::Block *block = toFree(address, "cuMemFreeAsync");
    if (!block)
      return Result::InvalidValue;
    Touch all{address, block->bytes, true};
    driver.enqueue(stream, "cuMemFreeAsync", {all},
                   [&driver, all](Operation &self) {
                     if (!toFree(all.address, "cuMemFreeAsync"))
                       return;
                     driver.noteAccess(self, all);
                     driver.memory.free(all.address, self.name);
                   });
    return Result::Success;
  });
}

Result cuMemAllocHost_v2(void **memory, size_t bytes) {
  return call(__func__, Needs::Context, [&] {
    if (!memory || !bytes)
      return Result::InvalidValue;
    *memory = Driver::get().memory.pin(bytes);
    return *memory ? Result::Success : Result::OutOfMemory;
  });
}

Result cuMemFreeHost(void *memory) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    auto found = driver.memory.pinned.find(addressOf(memory));
    if (found == driver.memory.pinned.end()) {
      driver.report("cuMemFreeHost of memory that is not pinned");
      return Result::InvalidValue;
    }
    if (auto users = usersOf(found->first, found->second); !users.empty())
      driver.report("cuMemFreeHost of memory that " + users.front()->name +
                    " still needs; wait for it first");
    Result result = driver.waitForContext(Driver::current());
    driver.accesses.forget(found->first);
    driver.memory.unpin(memory);
    return result;
  });
}

/// Whether the device has these bytes when a call names them.
static bool hasBytes(Address address, size_t bytes, const char *symbol) {
  Driver &driver = Driver::get();
  uint64_t first = 0;
  DeviceMemory::Block *block = driver.memory.find(address, bytes, first);
  if (block && block->freedBy.empty())
    return true;
  driver.report(std::string(symbol) + " of " + std::to_string(bytes) +
                " bytes" +
                (block ? " of memory that " + block->freedBy + " has freed"
                       : " beyond an allocation, or of none"));
  return false;
}

/// The bytes when the operation runs; null if they were freed.
static uint8_t *bytesAt(Operation &self, const Touch &touch) {
  Driver &driver = Driver::get();
  uint64_t first = 0;
  DeviceMemory::Block *block =
      driver.memory.find(touch.address, touch.bytes, first);
  driver.noteAccess(self, touch);
  if (block && block->freedBy.empty()) {
    if (touch.isWrite)
      driver.memory.markWritten(touch.address, touch.bytes);
    return block->host + (touch.address - first);
  }
  driver.report(self.name + " uses memory that " +
                (block ? block->freedBy : "nobody") + " has freed");
  return nullptr;
}

/// A copy of pageable memory waits, which a capture does not allow.
static Result refusePageable(StreamObject &stream) {
  stream.capture->isValid = false;
  return Result::StreamCaptureUnsupported;
}

/// Copies from pageable memory at once, from pinned memory when the copy runs.
Result cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes,
                            Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream)
      return Result::InvalidHandle;
    if (!bytes)
      return Result::Success;
    if (!hasBytes(to, bytes, "cuMemcpyHtoDAsync"))
      return Result::InvalidValue;
    Touch target{to, bytes, true}, source{addressOf(from), bytes, false};
    bool isPinned = driver.memory.findPinned(from, bytes) != 0;
    if (!isPinned && stream->capture)
      return refusePageable(*stream);
    std::vector<uint8_t> staged;
    if (!isPinned)
      staged.assign(static_cast<const uint8_t *>(from),
                    static_cast<const uint8_t *>(from) + bytes);
    std::vector<Touch> touches{target};
    if (isPinned)
      touches.push_back(source);
    driver.enqueue(
        stream, "cuMemcpyHtoDAsync", touches, [=, &driver](Operation &self) {
          uint8_t *there = bytesAt(self, target);
          if (isPinned)
            driver.noteAccess(self, source);
          if (there)
            std::memcpy(there, isPinned ? from : staged.data(), bytes);
        });
    return Result::Success;
  });
}

/// Copies to pageable memory before the call returns.
Result cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes,
                            Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream)
      return Result::InvalidHandle;
    if (!bytes)
      return Result::Success;
    if (!hasBytes(from, bytes, "cuMemcpyDtoHAsync"))
      return Result::InvalidValue;
    Touch source{from, bytes, false}, target{addressOf(to), bytes, true};
    bool isPinned = driver.memory.findPinned(to, bytes) != 0;
    if (!isPinned && stream->capture)
      return refusePageable(*stream);
    std::vector<Touch> touches{source};
    if (isPinned)
      touches.push_back(target);
    OperationRef operation = driver.enqueue(
        stream, "cuMemcpyDtoHAsync", touches, [=, &driver](Operation &self) {
          const uint8_t *there = bytesAt(self, source);
          if (isPinned)
            driver.noteAccess(self, target);
          if (there)
            std::memcpy(to, there, bytes);
        });
    return isPinned ? Result::Success : driver.waitFor(operation);
  });
}

/// Copies the flags of written bytes.
static void copyWritten(const Touch &to, const Touch &from) {
  DeviceMemory &memory = Driver::get().memory;
  weft::ptx::Allocation *source = memory.allocation(from.address),
                        *target = memory.allocation(to.address);
  if (source->written.empty() || target->written.empty())
    return;
  auto first =
      source->written.begin() + int64_t(from.address - source->address);
  std::vector<bool> written(first, first + int64_t(from.bytes));
  std::copy(written.begin(), written.end(),
            target->written.begin() + int64_t(to.address - target->address));
}

Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes,
                            Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream)
      return Result::InvalidHandle;
    if (!bytes)
      return Result::Success;
    if (!hasBytes(to, bytes, "cuMemcpyDtoDAsync") ||
        !hasBytes(from, bytes, "cuMemcpyDtoDAsync"))
      return Result::InvalidValue;
    Touch target{to, bytes, true}, source{from, bytes, false};
    driver.enqueue(stream, "cuMemcpyDtoDAsync", {target, source},
                   [=](Operation &self) {
                     const uint8_t *here = bytesAt(self, source);
                     uint8_t *there = bytesAt(self, target);
                     if (!here || !there)
                       return;
                     std::memmove(there, here, bytes);
                     copyWritten(target, source);
                   });
    return Result::Success;
  });
}

template <class T>
static Result fill(const char *symbol, Address to, T value, size_t count,
                   Stream handle) {
  return call(symbol, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    size_t bytes = count * sizeof(T);
    if (!stream)
      return Result::InvalidHandle;
    if (!bytes)
      return Result::Success;
    if (to % sizeof(T) || !hasBytes(to, bytes, symbol))
      return Result::InvalidValue;
    Touch target{to, bytes, true};
    driver.enqueue(stream, symbol, {target}, [=](Operation &self) {
      if (uint8_t *there = bytesAt(self, target))
        for (size_t i = 0; i < count; ++i)
          std::memcpy(there + i * sizeof value, &value, sizeof value);
    });
    return Result::Success;
  });
}
Result cuMemsetD8Async(Address to, unsigned char value, size_t count,
                       Stream stream) {
  return fill(__func__, to, value, count, stream);
}
Result cuMemsetD32Async(Address to, unsigned value, size_t count,
                        Stream stream) {
  return fill(__func__, to, value, count, stream);
}
