//===- DeviceSet.h - memory and execution of devices ------------*- C++ -*-===//
//
// The only interface by which a runtime uses devices of any kind. The first of
// eight devices adds 1 to an array of 1024 floats:
//
//   std::unique_ptr<DeviceSet> devices;
//   openDevices({DeviceKind::Cpu, 8}, settings, devices);    // DeviceSets.h
//   std::unique_ptr<DeviceMemory> x;
//   devices->allocate(0, 4096, "an array", x);
//   devices->write(*x, BoxCopy::full(4096), host);
//   std::shared_ptr<PreparedProgram> increment;
//   devices->prepare(program, ownership, increment);
//   Run run = {.program = increment, .inputs = {x->address()}, ...};
//   Ticket ticket = devices->enqueue(std::move(run));
//   Status done = ticket.wait();
//   devices->read(*x, BoxCopy::full(4096), host);
//
// Runs and copies take place one after the other, in the order in which they
// were enqueued; allocate, read and fill take place at once. A write has copied
// the host's bytes when it returns, and is over before all later requests.
// Before a caller writes to memory, it waits for the tickets of work that uses
// it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_DEVICESET_H
#define WEFT_RUNTIME_DEVICES_DEVICESET_H

#include "weft/layout/CollectiveMethods.h"
#include "weft/runtime/devices/Ticket.h"
#include "weft/runtime/processes/Ownership.h"
#include "weft/runtime/program/Movement.h"
#include "weft/runtime/program/Program.h"

#include <array>

namespace weft::runtime {

/// Memory of one device, aligned to 64 bytes or more. It may outlive its
/// devices.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;
  /// The address in programs of the device; the host may be unable to use it.
  void *address() const { return start; }
  uint64_t bytes() const { return size; }

protected:
  void *start = nullptr;
  uint64_t size = 0;
};

/// A program that these devices can run any number of times.
class PreparedProgram {
public:
  virtual ~PreparedProgram() = default;
  virtual const std::shared_ptr<const Program> &program() const = 0;
};

/// The bytes that the collectives of one name have moved in a run.
struct CollectiveCount {
  uint64_t occurrences = 0; ///< collectives that the first own device executed
  uint64_t bytes = 0;       ///< sent by one device: the largest over devices
};
/// Counts by Plan::counterNames, of the devices of this process.
using CollectiveCounts = std::vector<CollectiveCount>;

/// The time of an instruction on a device, in nanoseconds since the run began.
/// The time of a collective is from the device's arrival to the end, including
/// all waiting for others.
struct InstructionTime {
  uint32_t instruction;
  int64_t position; ///< position of the device in the mesh
  uint64_t begin, end;
};
/// Times in the order of each device's instructions.
using RunTimes = std::vector<InstructionTime>;

/// One enqueued run. Its memory must last until its ticket is done.
struct Run {
  std::shared_ptr<PreparedProgram> program;
  /// Addresses of ports: inputs[i * positions + p] is port i on the device at
  /// position p of the mesh, null for a device of another process; outputs
  /// likewise.
  std::vector<void *> inputs, outputs;
  /// Whether to fill arenas, and outputs that reuse no input, with 0xFF bytes
  /// before the run; for tests.
  bool poison = false;
  /// Whether a GPU may launch instructions together, as a CUDA graph.
  bool graphs = true;
  /// Whether devices of this process may share memory: buffers that they have
  /// equal bits in. It takes ports with one memory for all that share them.
  bool share = false;
  /// Whether to keep devices apart, for tests (see canIsolate()); `memory` is
  /// the ports' memory of each device, by its position; several devices may
  /// have the same.
  bool isolate = false;
  std::vector<std::pair<int64_t, const DeviceMemory *>> memory;
  /// The list to which times of launches, collectives and copies are added;
  /// null: nothing is measured.
  RunTimes *times = nullptr;
  /// Whether the caller calls attend() next.
  bool isAwaited = false;
  /// Copies of outputs to the host, after the run and before later runs.
  struct ResultCopy {
    const DeviceMemory *from;
    BoxCopy box;
    void *to;
  };
  std::vector<ResultCopy> results;
  /// Whether `ended` waits for other processes.
  bool exchangesAtEnd = false;
  /// Called with the run's result and counts before its ticket is settled with
  /// the returned result.
  std::function<Status(Status, const CollectiveCounts &)> ended;
};

/// An enqueued copy of some bytes. Device -1 is the host.
struct MemoryCopy {
  int64_t toDevice, fromDevice;
  void *to;
  const void *from;
  uint64_t bytes;
};

/// The devices of this process among devices 0 to count - 1 of one kind.
class DeviceSet {
public:
  /// Waits for enqueued work.
  virtual ~DeviceSet() = default;
  /// A description: "cpu:8, 4 workers".
  virtual std::string describe() const = 0;

  /// Returns StatusCode::OutOfMemory if less memory is free than the ports and
  /// intermediate values of a program need; called before anything is
  /// allocated.
  virtual Status fits(const Plan &) const { return {}; }
  /// Allocates zeroed memory; StatusCode::OutOfMemory if there is none. `what` names
  /// the purpose in messages: "an array".
  virtual Status allocate(int64_t device, uint64_t bytes,
                          const std::string &what,
                          std::unique_ptr<DeviceMemory> &out) = 0;
  /// Allocates memory for an output that the host may read after each run.
  virtual Status allocateResult(int64_t device, uint64_t bytes,
                                const std::string &what,
                                std::unique_ptr<DeviceMemory> &out) {
    return allocate(device, bytes, what, out);
  }
  /// Copies from the host into the memory, or from it to the host, by `box`.
  virtual Status write(DeviceMemory &memory, const BoxCopy &box,
                       const void *host) = 0;
  virtual Status read(const DeviceMemory &memory, const BoxCopy &box,
                      void *host) = 0;
  virtual Status fill(DeviceMemory &memory, uint8_t byte) = 0;
  /// Whether such a write takes place after the runs that are enqueued, so that
  /// the caller need not wait for them.
  virtual bool writesBehindRuns(const DeviceMemory &, const BoxCopy &) const {
    return false;
  }
  /// The peak, over time and devices, of the bytes of allocate() and of those
  /// that programs use.
  virtual uint64_t peakMemory() const = 0;

  /// Loads the code and prepares collectives. `ownership` is that of the mesh.
  virtual Status prepare(std::shared_ptr<const Program> program,
                         const Ownership &ownership,
                         std::shared_ptr<PreparedProgram> &out) = 0;
  virtual Ticket enqueue(Run run) = 0;
  virtual Ticket enqueue(const MemoryCopy &copy) = 0;
  /// Waits for a ticket of these devices. Their work may run on the calling
  /// thread.
  virtual void attend(const Ticket &ticket) = 0;
  /// Why programs run their own code where a library could, one text a reason.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Sets how collectives of programs that are prepared from now on exchange
  /// data; refused by devices that know one way only.
  virtual Status setCollectives(CollectiveMode mode) = 0;
  /// Whether devices of one process can share memory.
  virtual bool sharesMemory() const { return false; }
  /// Whether runs can keep devices apart; the error has the reason if not.
  virtual Status canIsolate() const = 0;

protected:
  /// Reads the results of a run that is over.
  Status readResults(const Run &run) {
    for (const Run::ResultCopy &result : run.results)
      if (Status ok = read(*result.from, result.box, result.to); !ok)
        return ok;
    return {};
  }
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_DEVICESET_H
