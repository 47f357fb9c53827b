//===- Runtime.h - ports, checks and counters of a set of devices ---------===//
//
// The common part of all kinds of devices; memory and execution are in
// DeviceSet.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_RUNTIME_H
#define WEFT_RUNTIME_DEVICES_RUNTIME_H

#include "weft/base/lapack/Library.h"
#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/DeviceSet.h"
#include "weft/runtime/devices/TicketLog.h"
#include "weft/runtime/processes/Processes.h"
#include "weft/runtime/program/Program.h"

#include <atomic>
#include <map>
#include <mutex>
#include <unistd.h>

/// One logical array: a local buffer for each position of the mesh.
struct weft_buffer {
  std::shared_ptr<const weft::runtime::Program> program;
  const weft::Port *port; ///< lives in `program`
  weft_runtime *runtime;
  std::shared_ptr<weft::runtime::TicketLog> tickets; ///< the runtime's
  /// The memory at each position; null for a device of another process.
  std::vector<std::unique_ptr<weft::runtime::DeviceMemory>> locals = {};
  std::vector<void *> addresses = {}; ///< addresses of `locals`
  /// The position that has the memory of each; itself if this is empty. Other
  /// positions have no `locals`, but an address.
  std::vector<int64_t> holders = {};
  uint64_t check = 0;   ///< the last check that found it bound to a port
  uint64_t lastUse = 0; ///< the last run that uses it: see TicketLog
  /// Whether the memory is the host's. It then has one copy of each shard of
  /// this process, at the first own position that holds the shard.
  bool isOnHost = false;
  /// The output for which `holders` was last found right, and for shared memory
  /// or not; guarded by the runtime's mutex.
  std::pair<const weft::Port *, bool> adaptedTo = {};
  bool isResult = false; ///< whether the host reads it after each run

  /// The memory of a position; null for a device of another process.
  const weft::runtime::DeviceMemory *memoryOf(size_t position) const {
    return locals[holders.empty() ? position : size_t(holders[position])].get();
  }
  /// Gives positions the memory of these holders, or memory of their own if
  /// there are none. Waits for runs that use the buffer.
  weft::Status hold(std::vector<int64_t> wanted);
  /// Allocates the memory of a position.
  weft::Status allocate(size_t position);
  /// The last run after which the buffer may be read and written.
  weft::runtime::Ticket lastUser() const;
  /// Waits until the buffer may be read and written.
  weft::Status awaitUse() const;
  /// Copies between the memory at a position and the host, by `box`.
  weft::Status write(size_t position, const weft::runtime::BoxCopy &box,
                     const void *host);
  weft::Status read(size_t position, const weft::runtime::BoxCopy &box,
                    void *host) const;
};

struct weft_ticket {
  weft::runtime::Ticket ticket;
};

struct weft_runtime {
  weft_runtime(int64_t devices, weft_processes *others)
      : deviceCount(devices),
        processes(others ? others->processes.get() : nullptr) {}

  /// Prepares a program for the devices at its first run. Requires the mutex
  /// and, with other processes, idle devices.
  weft::Status
  prepared(const std::shared_ptr<const weft::runtime::Program> &program,
           std::shared_ptr<weft::runtime::PreparedProgram> &out);
  bool hasPrepared(
      const std::shared_ptr<const weft::runtime::Program> &program) const;

  /// Fails for a program that needs more devices than there are. Counters and
  /// memory of devices may be indexed after this check.
  weft::Status checkDevices(const weft::runtime::Plan &plan) const;

  /// Fails in a process that was forked from the runtime's: it has none of the
  /// threads that work for the runtime.
  weft::Status checkProcess() const;

  /// For each position the one whose memory of a port it has, where devices of
  /// this process share it; empty if each has its own.
  std::vector<int64_t> holders(const weft::runtime::Plan &plan,
                               const weft::Port &port) const;
  /// For each sharing of the plan the positions that this process' devices share
  /// with; they are not used unless isSharing().
  std::vector<std::vector<int64_t>>
  firsts(const weft::runtime::Plan &plan) const;
  bool isSharing() const { return share && devices->sharesMemory(); }
  /// The process that runs each device of a mesh.
  weft::runtime::Ownership ownership(const weft::Mesh &mesh) const;

  /// Locks the mutex while no enqueued work runs.
  std::unique_lock<std::mutex> lockIdle();

  const int64_t deviceCount;
  const pid_t process = ::getpid(); ///< the one that created the runtime
  weft::runtime::Processes *const
      processes; ///< null: this process runs all devices
  weft::runtime::HostFunction host;
  std::shared_ptr<const weft::lapack::Library> lapack; ///< null: the system's
  /// Held by a caller that enqueues; runs do not hold it.
  std::mutex mutex;
  std::atomic<bool> poison = false;
  std::atomic<bool> graphs = true;
  std::atomic<bool> share = true;
  bool isolate = false; ///< guarded by the mutex
  std::shared_ptr<weft::runtime::TicketLog> tickets =
      std::make_shared<weft::runtime::TicketLog>();
  std::vector<std::shared_ptr<weft::runtime::PreparedProgram>> programs;
  uint64_t checks = 0;
  /// The texts of the last weft_gpu_notes().
  std::vector<std::string> notes;
  std::vector<const char *> noteTexts;
  /// What devices share in the last run, of this plan.
  weft::runtime::SharedCounts shared;
  const weft::runtime::Plan *sharedOf = nullptr;
  /// Counters of the last run: written before its ticket is settled.
  std::vector<weft_counter> counters;
  /// Memory of weft_device_allocate; guarded by the mutex.
  std::map<void *, std::shared_ptr<weft::runtime::DeviceMemory>> memory;
  /// The devices; the last member, as enqueued work uses all of the above.
  std::unique_ptr<weft::runtime::DeviceSet> devices;
};

namespace weft::runtime {

/// A program writes a port once for the devices that share it, or on each
/// device; arrays that another program has created are adapted to it. Wrong
/// arguments are left to the run's checks.
Status adaptSharing(weft_runtime *runtime, const weft_program *program,
                    weft_buffer *const *outputs);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_RUNTIME_H
