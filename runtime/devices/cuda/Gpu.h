//===- Gpu.h - one GPU, and streams on it -----------------------*- C++ -*-===//
//
// A GPU and its primary context, which all users of the driver in a process
// share, so it is never reset. Calls of the driver use the context that is
// current on the calling thread, hence
//
//   if (Status ok = gpu->makeCurrent(); !ok) return ok;
//
// before them. Functions that a caller's thread runs begin with a CallerContext.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPU_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPU_H

#include "weft/runtime/devices/cuda/Driver.h"
#include "weft/runtime/devices/cuda/OwnGpus.h"

#include <memory>
#include <set>

namespace weft::runtime {

/// The place of a GPU in its machine, whichever number a process gives it.
struct GpuAddress {
  int domain = 0, bus = 0, device = 0;
  bool operator==(const GpuAddress &) const = default;
};

class Gpu {
public:
  /// The GPUs that this process uses, of all that the driver shows: at least
  /// one.
  static Status own(const Driver &driver, OwnGpus &out);
  /// Finds the GPU with this number, for queries; no context is created.
  static Status find(const Driver &driver, int number,
                     std::shared_ptr<Gpu> &out);
  /// Opens the GPU with this number; refuses one that is too old.
  static Status open(const Driver &driver, int number,
                     std::shared_ptr<Gpu> &out);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  Status makeCurrent() const;
  /// Lets kernels of this GPU address the memory of another, if the machine
  /// allows it.
  Status connect(const Gpu &other);
  /// Whether this GPU may address the other's memory; always true for its own.
  bool reaches(const Gpu &other) const {
    return this == &other || peers.contains(&other);
  }
  const Driver &driver() const { return api; }
  const std::string &name() const { return model; }
  /// The compute capability: 90 for 9.0.
  int capability() const { return major * 10 + minor; }
  int multiprocessors() const { return processors; }
  /// The GPU's number among those that CUDA_VISIBLE_DEVICES leaves.
  int ordinal() const { return number; }
  Status address(GpuAddress &out) const;
  /// Gets the bytes of its memory.
  Status memory(uint64_t &bytes) const;
  /// Fails for a GPU that is too old for programs.
  Status canRunPrograms() const;
  /// Returns null if code for a chip (sm_80, sm_90a) runs here, else the
  /// reason.
  Status canRun(const std::string &chip) const;

private:
  Gpu(const Driver &api [[clang::lifetimebound]], int number)
      : api(api), number(number) {}
  Status read(cuda::DeviceAttribute attribute, int &value) const;

  const Driver &api;
  int number;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  std::string model;
  std::set<const Gpu *> peers;
  int major = 0, minor = 0, processors = 0;
};

/// Makes the context current again, at the end of a scope, that was current on
/// the thread at its beginning: the one of the caller, which may use other GPUs
/// and another library.
class CallerContext {
public:
  explicit CallerContext(const Driver &driver [[clang::lifetimebound]])
      : api(driver) {
    isKnown = api.cuCtxGetCurrent(&context) == cuda::Result::Success;
  }
  ~CallerContext() {
    if (isKnown)
      api.cuCtxSetCurrent(context);
  }
  CallerContext(const CallerContext &) = delete;
  CallerContext &operator=(const CallerContext &) = delete;

private:
  const Driver &api;
  cuda::Context context = nullptr;
  bool isKnown = false;
};

class GpuStream;

/// An event: a point in the order of a stream's operations.
class GpuEvent {
public:
  /// Creates an event. `isTimed`: whether since() may be called.
  static Status create(std::shared_ptr<const Gpu> gpu,
                       std::unique_ptr<GpuEvent> &out, bool isTimed = false);
  static Status createShared(std::shared_ptr<const Gpu> gpu,
                             std::shared_ptr<GpuEvent> &out);
  ~GpuEvent();
  GpuEvent(const GpuEvent &) = delete;
  GpuEvent &operator=(const GpuEvent &) = delete;

  cuda::Event handle() const { return event; }
  /// Records the stream's present point. Streams that wait already wait for the
  /// earlier one.
  Status record(const GpuStream &stream) const;
  /// Waits until the event has happened.
  Status wait() const;
  /// Success if it has happened, NotReady if it has not, or the error of what is
  /// before it.
  cuda::Result query() const;
  /// Gets the nanoseconds since another event of the GPU; both have happened.
  Status since(const GpuEvent &earlier, uint64_t &nanoseconds) const;

private:
  GpuEvent(std::shared_ptr<const Gpu> gpu, cuda::Event event)
      : owner(std::move(gpu)), event(event) {}
  std::shared_ptr<const Gpu> owner;
  cuda::Event event;
};

/// A stream of a GPU: operations enqueued here run in order.
class GpuStream {
public:
  static Status create(std::shared_ptr<const Gpu> gpu,
                       std::unique_ptr<GpuStream> &out);
  ~GpuStream();
  GpuStream(const GpuStream &) = delete;
  GpuStream &operator=(const GpuStream &) = delete;

  const Gpu &gpu() const { return *owner; }
  const std::shared_ptr<const Gpu> &owned() const { return owner; }
  cuda::Stream handle() const { return stream; }
  /// Waits for all enqueued operations; returns their error.
  Status wait() const;
  /// Success if all enqueued operations are over, NotReady if some are not, or
  /// their error.
  cuda::Result query() const;
  /// Makes later operations of the stream wait for the event.
  Status waitFor(const GpuEvent &event) const;

private:
  GpuStream(std::shared_ptr<const Gpu> gpu, cuda::Stream stream)
      : owner(std::move(gpu)), stream(stream) {}
  std::shared_ptr<const Gpu> owner;
  cuda::Stream stream;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPU_H
