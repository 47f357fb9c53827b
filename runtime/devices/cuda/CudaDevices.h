//===- CudaDevices.h - devices on NVIDIA GPUs -------------------*- C++ -*-===//
//
// A set of CUDA devices. Device i of N is on GPU i * G / N of G: several
// devices may share one. Each has a stream for its programs, one for copies from
// the host, and one for copies to it.
// A run on one GPU, or on several of which no two devices share one, is enqueued
// at once, after the earlier ones in the stream of each GPU's first device, and
// a task of a RunQueue waits for its end; at most two are in flight. Copies, and
// other runs, are tasks as a whole, which begin when those before them are over.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_CUDADEVICES_H
#define WEFT_RUNTIME_DEVICES_CUDA_CUDADEVICES_H

#include "weft/runtime/devices/DeviceSets.h"
#include "weft/runtime/devices/RunQueue.h"
#include "weft/runtime/devices/cuda/ResultCopies.h"
#include "weft/runtime/devices/cuda/RunSchedule.h"
#include "weft/runtime/devices/cuda/Staging.h"

#include <atomic>

namespace weft::runtime {

/// The address of a device in the form of the driver.
inline cuda::Address addressOf(const void *place) {
  return reinterpret_cast<cuda::Address>(place);
}

class CudaDevices final : public DeviceSet {
public:
  /// `processes`: null for a process that has all devices.
  static Status open(int64_t count, Processes *processes,
                     std::unique_ptr<DeviceSet> &out);

  std::string describe() const override;
  Status fits(const Plan &plan) const override;
  Status allocate(int64_t device, uint64_t bytes, const std::string &what,
                  std::unique_ptr<DeviceMemory> &out) override;
  Status allocateResult(int64_t device, uint64_t bytes, const std::string &what,
                        std::unique_ptr<DeviceMemory> &out) override;
  Status write(DeviceMemory &memory, const BoxCopy &box,
               const void *host) override;
  Status read(const DeviceMemory &memory, const BoxCopy &box,
              void *host) override;
  Status fill(DeviceMemory &memory, uint8_t byte) override;
  bool writesBehindRuns(const DeviceMemory &memory,
                        const BoxCopy &box) const override;
  uint64_t peakMemory() const override { return uint64_t(meter->peak()); }
  Status prepare(std::shared_ptr<const Program> program,
                 const Ownership &ownership,
                 std::shared_ptr<PreparedProgram> &out) override;
  Ticket enqueue(Run run) override;
  Ticket enqueue(const MemoryCopy &copy) override;
  void attend(const Ticket &ticket) override;
  Status canIsolate() const override;
  std::vector<std::string> notes() const override {
    return libraryNotes->texts();
  }
  Status setCollectives(CollectiveMode mode) override {
    return links->setMode(mode);
  }

private:
  /// A device of another process has nothing but its GPU's number.
  struct Device {
    int rank = 0; ///< the GPU's number among those of all processes
    std::shared_ptr<Gpu> gpu;
    std::shared_ptr<BuiltinKernels> builtin; ///< shared by devices of the GPU
    std::shared_ptr<GpuLibraries> libraries; ///< shared likewise
    std::unique_ptr<GpuStream> work, copies;
    std::unique_ptr<GpuEvent> event;
    /// The GPU's staging memory, and the stream of copies to the host. Only the
    /// GPU's first device has them, for all of its devices.
    std::unique_ptr<Staging> staging;
    std::shared_ptr<Uploads> uploads; ///< likewise
    std::unique_ptr<GpuStream> reads;
    std::unique_ptr<GpuMemory> arena;
    /// Memory of small results, of which the first bytes are in use.
    std::shared_ptr<GpuMemory> small;
    uint64_t smallBytes = 0;
    /// Memory that libraries use, on the stream `work` only.
    std::unique_ptr<GpuMemory> workspace;
  };

  /// The first device of this process, which has one or more.
  const Device &front() const { return devices[firstOwn]; }
  const Driver &driver() const { return front().gpu->driver(); }
  Status openDevice(std::shared_ptr<Gpu> gpu, Device &device);
  /// The positions of a mesh whose devices are of this process.
  std::vector<size_t> ownPositions(const Mesh &mesh) const;
  struct End;
  struct Started;
  /// Adds a task that begins when those before it are over.
  Ticket defer(RunQueue::Task task, bool isAwaited);
  bool beginsAtOnce(const Run &run, const ResultCopies &results) const;
  /// Enqueues a run, once no more than one is in flight.
  Status start(Started &its);
  /// Waits for it.
  Status finish(Started &its);
  Status awaitEnd(const Started &its) const;
  Status takeEnd(const std::vector<const GpuStream *> &leads,
                 std::shared_ptr<End> &out);
  Status waitForAll(const Plan &plan,
                    const std::vector<std::string> &last) const;
  /// Enqueues a run and waits for it.
  Status perform(Run &run);
  /// Enqueues all launches of a run, which may be running even after an error,
  /// and gets what they did. `number`: that of the run whose first launches wait
  /// for uploads; 0 for none.
  struct Done;
  Status enqueueAll(GpuProgram &program, const Run &run, RunClock *clock,
                    uint64_t number, Done &out);
  template <typename Point> Status await(const Point &point) const;
  Status drop(const Device &device, std::unique_ptr<GpuMemory> &memory);
  std::vector<const GpuStream *> leadsOf(const Mesh &mesh) const;
  std::vector<RunSchedule::Lane> lanesOf(const Mesh &mesh) const;
  RunSchedule::Graphs graphsOf(const Run &run, const Mesh &mesh) const;
  Status growArenas(const Plan &plan);
  Status growWorkspaces(const GpuProgram &program);
  Status poison(const Plan &plan, const Run &run);
  Status copy(const MemoryCopy &copy);
  /// Finds the first device of the GPU that has the memory; makes the GPU
  /// current.
  Status copierOf(const DeviceMemory &memory, const Device *&out) const;
  const Device *firstOn(const Gpu &gpu) const;
  /// Makes `stream` wait for writes to its GPU.
  Status awaitWrites(const GpuStream &stream) const;
  bool leavesToRun(const DeviceMemory &memory, const BoxCopy &box) const;
  Status stage(GpuMemory &memory, const Device &copier, const BoxCopy &box,
               const void *host);

  std::vector<Device> devices; ///< devices of all processes
  size_t firstOwn = 0;
  std::mutex smallMutex; ///< guards `small` and `smallBytes` of devices
  std::shared_ptr<MemoryMeter> meter;
  std::shared_ptr<LibraryNotes> libraryNotes = std::make_shared<LibraryNotes>();
  std::shared_ptr<GpuLinks> links;
  static constexpr size_t kMostInFlight = 2;
  /// The most bytes of results for which no run waits.
  static constexpr uint64_t kMostResultBytes = 1 << 20;
  /// Runs that were enqueued at once, the earliest first; null once they are
  /// over.
  std::deque<std::weak_ptr<Started>> inFlight;
  /// Used in turn, each when its last run is over.
  std::map<std::vector<const GpuStream *>, std::deque<std::shared_ptr<End>>>
      ends;
  uint64_t begun = 0; ///< the number of runs that were enqueued at once
  std::atomic<int> deferred = 0; ///< tasks of defer() that are not over
  RunQueue queue;                ///< last, as its tasks use the other members
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_CUDADEVICES_H
