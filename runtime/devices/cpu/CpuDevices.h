//===- CpuDevices.h - virtual devices in the host's memory ------*- C++ -*-===//
//
// CPU devices: memory is pages of the process; a program is an Executor, all of
// whose devices share the workers; runs wait for each other in a RunQueue.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_CPUDEVICES_H
#define WEFT_RUNTIME_DEVICES_CPU_CPUDEVICES_H

#include "weft/runtime/devices/DeviceSets.h"
#include "weft/runtime/devices/MemoryMeter.h"
#include "weft/runtime/devices/RunQueue.h"
#include "weft/runtime/devices/cpu/Executor.h"
#include "weft/runtime/devices/cpu/Workers.h"
#include "weft/runtime/program/Memory.h"

namespace weft::runtime {

class CpuDevices final : public DeviceSet {
public:
  CpuDevices(int64_t count, int workers, const DeviceSettings &settings);

  std::string describe() const override;
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
  void attend(const Ticket &ticket) override { queue.attend(ticket); }
  Status canIsolate() const override;
  bool sharesMemory() const override { return true; }
  Status setCollectives(CollectiveMode mode) override;

private:
  Status perform(Run &run);
  Status growArenas(const Executor &executor);
  void bind(Executor &executor, Run &run);
  void poison(const Plan &plan, const Run &run);
  Status runIsolated(Executor &executor, const Run &run);

  const int64_t count;
  Workers workers;
  std::unique_ptr<CollectiveProvider> provider;
  const std::shared_ptr<const lapack::Library> *library;
  /// Grows the memory of a device; `counts` whether it is an arena that the
  /// meter counts.
  Status grow(Memory &memory, int64_t device, uint64_t bytes, bool counts);
  /// Memory for the buffers of a sharing that the device is the first to have.
  Memory &sharedMemory(size_t sharing, int64_t device) {
    return sharedArenas[sharing * size_t(count) + size_t(device)];
  }

  std::vector<Memory> arenas;       ///< indexed by device; shared by programs
  std::vector<Memory> sharedArenas; ///< see sharedMemory()
  uint64_t arenaVersion = 0;        ///< counts arenas that have moved
  std::shared_ptr<MemoryMeter> meter;
  RunQueue queue; ///< last, as remaining tasks use the other members
};

/// See openDevices().
Status openCpuDevices(int64_t count, const DeviceSettings &settings,
                      std::unique_ptr<DeviceSet> &out);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_CPUDEVICES_H
