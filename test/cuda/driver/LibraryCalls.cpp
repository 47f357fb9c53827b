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

/// Runs the body with the bytes of all touches, if they exist.
static void
runWith(Operation &self, const std::vector<Touch> &touches,
        const std::function<void(const std::vector<uint8_t *> &)> &body) {
  std::vector<uint8_t *> bytes;
  for (const Touch &touch : touches) {
    bytes.push_back(bytesOf(self.name, touch));
    if (!bytes.back())
      return;
    Driver::get().noteAccess(self, touch);
  }
  body(bytes);
  for (const Touch &touch : touches)
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
  driver.enqueue(stream, given.name, given.touches, [given](Operation &self) {
    runWith(self, given.touches, given.run);
  });
  return Result::Success;
}

/// The stream of a part; null, with a report, if the part cannot be enqueued.
static Stream streamOf(const LibraryPart &part) {
  Driver &driver = Driver::get();
  Driver::current() = part.context;
  Stream stream = driver.find(part.stream);
  if (!stream)
    driver.report(part.name + " is given a stream of another GPU");
  for (const auto *touches : {&part.reads, &part.writes})
    for (const Touch &touch : *touches)
      if (!bytesOf(part.name, touch))
        return nullptr;
  return stream;
}

WEFT_FAKE_EXPORT Result
fakeCudaEnqueueParts(const std::vector<LibraryPart> &parts) {
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  Context before = Driver::current();
  std::vector<Stream> streams;
  for (const LibraryPart &part : parts)
    streams.push_back(streamOf(part));
  Driver::current() = before;
  if (std::ranges::find(streams, nullptr) != streams.end())
    return Result::InvalidValue;
  std::vector<OperationRef> begun;
  for (size_t i = 0; i < parts.size(); ++i) {
    LibraryPart part = parts[i];
    std::vector<Touch> all = part.reads; // the memory is in use already
    all.insert(all.end(), part.writes.begin(), part.writes.end());
    begun.push_back(driver.enqueue(
        streams[i], "the begin of " + part.name, all,
        [part](Operation &self) { runWith(self, part.reads, part.begin); }));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    LibraryPart part = parts[i];
    std::vector<OperationRef> waits;
    for (size_t other : part.waits)
      waits.push_back(begun[other]);
    std::vector<Touch> all = part.writes;
    all.insert(all.end(), part.reads.begin(), part.reads.end());
    OperationRef end = driver.enqueue(
        streams[i], part.name, all,
        [part](Operation &self) {
          for (const Touch &read : part.reads) // others read them until now
            Driver::get().noteAccess(self, read);
          runWith(self, part.writes, part.end);
        },
        std::move(waits));
    end->isBlocked = part.isBlocked;
    end->waitsForProcess = part.waitsForProcess;
  }
  return Result::Success;
}

WEFT_FAKE_EXPORT Context fakeCudaContextOf(int device) {
  Driver &driver = Driver::get();
  for (const auto &context : driver.contexts)
    if (context->device == device && context->retained)
      return context.get();
  return nullptr;
}

WEFT_FAKE_EXPORT std::chrono::seconds fakeCudaPatience() {
  return Driver::get().settings.patience;
}

WEFT_FAKE_EXPORT uint64_t fakeCudaSeed() { return Driver::get().settings.seed; }

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
