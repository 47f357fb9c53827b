//===- CudaDevices.h - devices on NVIDIA GPUs -------------------*- C++ -*-===//
//
// A set of CUDA devices. Device i of N is on GPU i * G / N of G: several
// devices may share one. Each has a stream for its programs and one for copies.
// Runs wait for each other in a RunQueue; a run enqueues all its launches, then
// waits for its streams.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_CUDADEVICES_H
#define WEFT_RUNTIME_DEVICES_CUDA_CUDADEVICES_H

#include "weft/runtime/devices/DeviceSets.h"
#include "weft/runtime/devices/RunQueue.h"
#include "weft/runtime/devices/cuda/RunSchedule.h"
#include "weft/runtime/devices/cuda/Staging.h"

namespace weft::runtime {

class CudaDevices final : public DeviceSet {
public:
  static Status open(int64_t count, std::unique_ptr<DeviceSet> &out);

  std::string describe() const override;
  Status fits(const Plan &plan) const override;
  Status allocate(int64_t device, uint64_t bytes, const std::string &what,
                  std::unique_ptr<DeviceMemory> &out) override;
  Status write(DeviceMemory &memory, const BoxCopy &box,
               const void *host) override;
  Status read(const DeviceMemory &memory, const BoxCopy &box,
              void *host) override;
  Status fill(DeviceMemory &memory, uint8_t byte) override;
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

private:
  struct Device {
    std::shared_ptr<Gpu> gpu;
    std::shared_ptr<BuiltinKernels> builtin; ///< shared by devices of the GPU
    std::shared_ptr<GpuLibraries> libraries; ///< shared likewise
    std::unique_ptr<GpuStream> work, copies;
    std::unique_ptr<GpuEvent> event;
    /// The GPU's staging memory, and the event of the last copy from it. Only
    /// the GPU's first device has them, for all of its devices.
    std::unique_ptr<Staging> staging;
    std::unique_ptr<GpuEvent> written;
    std::unique_ptr<GpuMemory> arena;
    /// Memory that libraries use, on the stream `work` only.
    std::unique_ptr<GpuMemory> workspace;
  };

  const Driver &driver() const { return devices.front().gpu->driver(); }
  Status openDevice(std::shared_ptr<Gpu> gpu);
  Status perform(Run &run);
  /// Enqueues all launches of a run, which may be running even after an error.
  /// `last` gets the kernel that the device at each position enqueued last.
  Status enqueueAll(GpuProgram &program, const Run &run, RunClock *clock,
                    CollectiveCounts &counts, std::vector<std::string> &last);
  bool isOneGpu(const Mesh &mesh) const;
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
  Status stage(GpuMemory &memory, const Device &copier, const BoxCopy &box,
               const void *host);

  std::vector<Device> devices;
  std::shared_ptr<MemoryMeter> meter;
  std::shared_ptr<LibraryNotes> libraryNotes = std::make_shared<LibraryNotes>();
  RunQueue queue; ///< last, as its tasks use the other members
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_CUDADEVICES_H
