//===- LibraryCalls.cpp - calls of fake libraries to the driver -----------===//

#include "weft/test/cuda/driver/LibraryCalls.h"

#include "weft/test/cuda/driver/Entry.h"

#include <algorithm>

#define WEFT_FAKE_EXPORT __attribute__((visibility("default")))

using namespace weft::fake;

WEFT_FAKE_EXPORT Result fakeCudaBegin(const char *function) {
  return call(function, Needs::Context, [] { return Result::Success; });
}

/// The bytes of a touch; null, with a report, if there are none.
static uint8_t *bytesOf(const std::string &who, const Touch &touch) {
  Driver &driver = Driver::get();
  uint64_t first = 0;
  DeviceMemory::Block *block =
      driver.memory.find(touch.address, touch.bytes, first);
  if (block && block->freedBy.empty())
    return block->host + (touch.address - first);
  driver.report(who + " touches " + std::to_string(touch.bytes) + " bytes " +
                (block ? "of memory that " + block->freedBy + " has freed"
                       : "beyond an allocation, or of none"));
  return nullptr;
}

static void runCall(Operation &self, const LibraryCall &call) {
  std::vector<uint8_t *> bytes;
  for (const Touch &touch : call.touches) {
    bytes.push_back(bytesOf(self.name, touch));
    if (!bytes.back())
      return;
    Driver::get().noteAccess(self, touch);
  }
  call.run(bytes);
  for (const Touch &touch : call.touches)
    if (touch.isWrite)
      Driver::get().memory.markWritten(touch.address, touch.bytes);
}

WEFT_FAKE_EXPORT Result fakeCudaEnqueue(Stream handle,
                                        const LibraryCall &given) {
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  Stream stream = driver.find(handle);
  if (!stream)
    return Result::InvalidHandle;
  for (const Touch &touch : given.touches)
    if (!bytesOf(given.name, touch))
      return Result::InvalidValue;
  driver.enqueue(stream, given.name, given.touches,
                 [given](Operation &self) { runCall(self, given); });
  return Result::Success;
}

WEFT_FAKE_EXPORT Context fakeCudaContext() { return Driver::current(); }

WEFT_FAKE_EXPORT bool fakeCudaIsWritten(Address address, uint64_t bytes) {
  const weft::ptx::Allocation *its = Driver::get().memory.allocation(address);
  if (!its || its->written.empty())
    return true;
  auto first = its->written.begin() + int64_t(address - its->address);
  return std::all_of(first, first + int64_t(bytes), [](bool is) { return is; });
}

WEFT_FAKE_EXPORT uint64_t fakeCudaTakeFindings() {
  return Driver::get().takeFindings();
}

WEFT_FAKE_EXPORT void fakeCudaReport(const std::string &what) {
  Driver::get().report(what);
}
