//===- Uploads.h - small arrays that wait for the next run ------*- C++ -*-===//
//
// An array that the host writes again and again, such as a batch, waits in
// pinned memory until the next run copies it, as a node of its graph. A write
// needs no call of the driver then, and takes place after the runs that are
// enqueued already:
//
//   uploads->put(array, box, host);                  // on any thread
//   for (const Upload &its : uploads->take(7))       // run 7 copies them
//     cuMemcpyHtoDAsync(its.to, its.from, its.bytes, stream);
//   uploads->enqueued(7, event);                     // recorded after run 7
//   uploads->ended(7);
//
// Each array has two places in pinned memory: a run copies from one while the
// next batch is written to the other.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_UPLOADS_H
#define WEFT_RUNTIME_DEVICES_CUDA_UPLOADS_H

#include "weft/runtime/devices/cuda/PinnedMemory.h"
#include "weft/runtime/program/Movement.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace weft::runtime {

struct Upload {
  cuda::Address to;
  const void *from; ///< pinned
  uint64_t bytes;
};

class Uploads {
public:
  /// The largest array that waits; copies of larger ones take longer than it
  /// takes to let streams wait for them.
  static constexpr uint64_t kMostBytes = 512 << 10;

  explicit Uploads(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}

  /// The places of one array. The destructor drops bytes that wait, and waits
  /// for a copy from here.
  class Array {
  public:
    Array(std::shared_ptr<Uploads> owner, cuda::Address to, uint64_t bytes)
        : owner(std::move(owner)), to(to), bytes(bytes) {}
    ~Array() { (void)owner->forget(*this); }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

  private:
    friend class Uploads;
    std::shared_ptr<Uploads> owner;
    cuda::Address to;
    uint64_t bytes;
    std::array<PinnedMemory, 2> places;
    std::array<uint64_t, 2> takenBy = {}; ///< the last run that copies; 0: none
    size_t current = 0;                   ///< the place that was written last
    bool isWaiting = false;
  };

  /// Takes the bytes of a whole array, which `box` copies.
  Status put(Array &array, const BoxCopy &box, const void *host);
  /// Reads an array if its bytes are here and not yet on the GPU; else waits for
  /// a copy that may be running.
  Status read(const Array &array, const BoxCopy &box, void *host, bool &isRead);
  /// Copies all arrays that wait, in the stream of other copies of the host, and
  /// waits for the copies.
  Status copyNow(const GpuStream &stream);
  /// Drops the array's bytes if they wait, and waits for a copy that may be
  /// running: others write to the array next.
  Status forget(Array &array);

  /// Gets the arrays that wait, which a run copies: each run has a number, above
  /// those of the runs before.
  std::vector<Upload> take(uint64_t run);
  /// Tells an event after the run.
  void enqueued(uint64_t run, std::shared_ptr<const GpuEvent> event);
  /// Lets the arrays of a run wait again, which failed to be enqueued; none of
  /// its copies is running.
  void failed(uint64_t run);
  void ended(uint64_t run);

private:
  using Lock = std::unique_lock<std::mutex>;
  /// Waits for a run; other threads may use the uploads meanwhile.
  Status await(uint64_t run, Lock &lock);

  std::shared_ptr<const Gpu> gpu;
  std::mutex mutex;
  std::condition_variable change;
  std::deque<Array *> waiting;
  std::vector<Array *> taken; ///< taken by the last run
  std::deque<std::pair<uint64_t, std::shared_ptr<const GpuEvent>>> running;
  uint64_t lastEnded = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_UPLOADS_H
