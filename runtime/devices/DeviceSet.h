//===- DeviceSet.h - memory and execution of devices ------------*- C++ -*-===//
//
// One interface for all kinds of devices: a runtime knows no other. The first
// of eight adds 1 to an array of 1024 floats:
//
//   std::unique_ptr<DeviceSet> devices;
//   openDevices({DeviceKind::Cpu, 8}, settings, devices);    // DeviceSets.h
//   std::unique_ptr<DeviceMemory> x;
//   devices->allocate(0, 4096, x);
//   devices->write(*x, BoxCopy::whole(4096), host);
//   std::shared_ptr<PreparedProgram> increment;
//   devices->prepare(program, ownership, increment);
//   Run run = {.program = increment, .inputs = {x->address()}, ...};
//   Ticket ticket = devices->enqueue(std::move(run));
//   Error e = ticket.wait();
//   devices->read(*x, BoxCopy::whole(4096), host);
//
// Runs and copies take place one after the other, in the order in which they
// were enqueued; allocate, read and fill take place at once. A write has taken
// the host's bytes when it returns, and is over for all that is asked for later.
// Who writes to memory waits for the tickets of what uses it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_DEVICESET_H
#define WEFT_RUNTIME_DEVICES_DEVICESET_H

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
  /// The address in programs of the device; the host may not be able to use it.
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

/// The bytes that the collectives of one kind have moved in a run.
struct CollectiveCount {
  uint64_t occurrences = 0; ///< in the program of the first own device
  uint64_t bytes = 0;       ///< sent by one device: the largest over devices
};
/// By CollectiveKind, of the devices of this process.
using CollectiveCounts =
    std::array<CollectiveCount, size_t(CollectiveKind::MAX) + 1>;

/// When a device ran an instruction, in nanoseconds since the run began. Of a
/// collective from its arrival to its end, so with all waiting for others.
struct InstructionTime {
  uint32_t instruction;
  int64_t position; ///< of the device in the mesh
  uint64_t begin, end;
};
/// In the order of each device's instructions.
using RunTimes = std::vector<InstructionTime>;

/// One run, as it is enqueued. Its memory lives until its ticket is done.
struct Run {
  std::shared_ptr<PreparedProgram> program;
  /// inputs[i * positions + p]: where port i lies on the device at position p of
  /// the mesh, null for a device of another process; outputs likewise.
  std::vector<void *> inputs, outputs;
  /// For tests: fills arenas, and outputs that reuse no input, with 0xFF
  /// bytes in front of the run.
  bool poison = false;
  /// For tests, see canIsolate(): keeps devices apart, of which `memory` says what
  /// each has of the ports, by its position.
  bool isolate = false;
  std::vector<std::pair<int64_t, const DeviceMemory *>> memory;
  /// Where the times of its instructions are added, of launches, collectives and
  /// copies; null: nothing is measured.
  RunTimes *times = nullptr;
  /// The caller calls attend() next.
  bool isAwaited = false;
  /// Called with the run's error and counts before its ticket is settled, which
  /// gets the error that it returns. May wait for other processes.
  std::function<Error(Error, const CollectiveCounts &)> ended;
};

/// A copy of some bytes, as it is enqueued. Devices: -1 is the host.
struct MemoryCopy {
  int64_t toDevice, fromDevice;
  void *to;
  const void *from;
  uint64_t bytes;
};

/// Devices 0 to count - 1 of one kind: those that this process runs of them.
class DeviceSet {
public:
  /// Waits for what is enqueued.
  virtual ~DeviceSet() = default;
  /// "cpu:8, 4 workers".
  virtual std::string describe() const = 0;

  /// WEFT_OUT_OF_MEMORY where less is free than the ports and intermediate values
  /// of a program take: asked before anything is allocated.
  virtual Error fits(const Plan &) const { return nullptr; }
  /// Zeroed memory; WEFT_OUT_OF_MEMORY if there is none. Messages say what it is
  /// for: "an array".
  virtual Error allocate(int64_t device, uint64_t bytes,
                         const std::string &what,
                         std::unique_ptr<DeviceMemory> &out) = 0;
  /// `box` copies from the host into the memory, or from it to the host.
  virtual Error write(DeviceMemory &memory, const BoxCopy &box,
                      const void *host) = 0;
  virtual Error read(const DeviceMemory &memory, const BoxCopy &box,
                     void *host) = 0;
  virtual Error fill(DeviceMemory &memory, uint8_t byte) = 0;
  /// Bytes on the fullest device at its fullest moment: what allocate() gave, and
  /// what the devices took for programs.
  virtual uint64_t peakMemory() const = 0;

  /// Loads the code and prepares collectives. `ownership`: of the mesh.
  virtual Error prepare(std::shared_ptr<const Program> program,
                        const Ownership &ownership,
                        std::shared_ptr<PreparedProgram> &out) = 0;
  virtual Ticket enqueue(Run run) = 0;
  virtual Ticket enqueue(const MemoryCopy &copy) = 0;
  /// Waits for a ticket of these devices, which may meanwhile work on the calling
  /// thread.
  virtual void attend(const Ticket &ticket) = 0;
  /// Whether runs may keep devices apart; an error says why not.
  virtual Error canIsolate() const = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_DEVICESET_H
