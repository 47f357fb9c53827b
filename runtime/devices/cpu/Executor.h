//===- Executor.h - one program on N virtual devices ------------*- C++ -*-===//
//
// Each device has a program counter; a worker runs one device until it must
// wait for others, then takes the next. Two devices, one worker:
//
//   device 0: launch, start all_reduce, launch, wait -> waits (1 of 2 arrived)
//   device 1: launch, start all_reduce -> the group is complete
//   device 1: launch, wait -> waits
//   chunks of the all-reduce, then device 0 goes on, then device 1
//
// With two or more workers for each device a launch of much work is shared in
// the same way: its shares are chunks, and its device waits for them.
//
// A group with members in other processes sends them their slices when its own
// members have arrived, and idle workers poll for received messages.
//
// A group is complete when its own members have arrived at the same
// instruction; other devices may be in another iteration or branch. When no
// device can run and some wait, the run ends with StatusCode::Deadlock.
//
// A device with collectives under way polls for messages between its launches,
// and takes chunks that are open, as there may be no idle worker.
//
// Instructions that write buffers which devices share (plan::Sharing) are done
// once, as a JointWork: a device that comes to the first of them waits; when all
// devices of the group here have come, workers take the launches, and the
// devices go on after the last. So no device reads what is being written.
//
// Workers share data under the lock (states and queues of devices, `open`,
// `travelling`, `isReceiving`, `arrived`, `exchanged`, `running`, `done`, both
// `ended`) and two counters of each SharedWork. The life of a collective
// instruction, with the reason for each memory order:
//
//  1. A worker takes a device from a queue, under the lock, and runs its
//     instructions without it. The device is in no queue now, so no other
//     worker touches its pc, its buffers or its counts. The lock's acquire
//     makes the writes of the device's last worker visible.
//  2. At the start it writes the addresses of its buffers to places of the
//     rendezvous that no other member writes. Then, under the lock, `arrived`
//     grows. If the wait follows at once, the device becomes Waiting in the
//     same hold of the lock, else when it comes to a wait whose occurrence has
//     not ended. From then on the worker leaves the device alone: another may
//     run it as soon as the lock is free.
//  3. The last to arrive offers the rendezvous in the same hold of the lock,
//     which orders the writes of all members (2) before the offer. `unfinished`
//     is stored relaxed: workers read it after seeing `untaken`, whose store
//     is a release and follows. Then the rendezvous is added to `open`.
//  4. Workers find it in `open`, under the lock. Their load of `untaken` is
//     relaxed, because it only chooses where to try: under the lock no
//     worker misses an offer, and an outdated count costs one useless step 5.
//  5. They take chunks by fetch_sub of `untaken`, without the lock. Each value
//     above 0 is read once in an occurrence and is a chunk; at 0 or below,
//     nothing is left. Acquire: a late worker, which is here since the last
//     occurrence, has not held the lock since this one was offered. It sees
//     addresses, `chunks` and the members' data by reading the store of 3, or
//     one of the fetch_subs that follow it. The release half is not needed:
//     6 publishes the writes of chunks.
//  6. A worker that finds nothing left subtracts the chunks it ran from
//     `unfinished`. Until it does, the occurrence cannot end, so its chunks
//     are all of one occurrence. A worker that ran none leaves the counter
//     alone, which may already count for the next. Release: its chunks are
//     written before it counts them. Acquire: the worker that reaches 0 sees
//     the chunks of all others.
//  7. The worker that reached 0 removes the rendezvous from `open`, counts the
//     occurrence as ended and makes its members that wait for it Ready at the
//     next instruction, in one hold of the lock. No member can arrive again
//     earlier, as its wait comes first: a rendezvous is in `open` at most
//     once, and nobody writes its places while chunks read them. Back to 1.
//
// A launch that is shared begins at 3, with its device alone. Joint work takes
// the same way as a rendezvous, from 3 to 7 for each of its stages. A group with
// members elsewhere is in `travelling` between 2 and 3, and once more between 6
// and 7 where results are exchanged. Without chunks, 7 follows 2.
//
// `running` counts the workers with a device or chunks. When a worker that
// holds the lock sees no open work, no ready device, no travelling group and
// `running` 0, no worker is left to make a device ready: the run is over.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_EXECUTOR_H
#define WEFT_RUNTIME_DEVICES_CPU_EXECUTOR_H

#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/DeviceSet.h"
#include "weft/runtime/devices/cpu/DeviceBorders.h"
#include "weft/runtime/devices/cpu/LapackKernels.h"
#include "weft/runtime/devices/cpu/Workers.h"
#include "weft/runtime/program/Program.h"

#include <chrono>

namespace weft::runtime {

class Executor final : public PreparedProgram {
public:
  Executor(std::shared_ptr<const Program> program, Ownership ownership,
           LapackKernels calls = {})
      : owner(std::move(program)), ownership(std::move(ownership)),
        calls(std::move(calls)) {}

  /// Prepares the collectives, and the devices for this many workers. `provider`
  /// outlives the executor.
  Status prepare(const CollectiveProvider &provider, int workers);
  const std::shared_ptr<const Program> &program() const override {
    return owner;
  }
  /// The positions of the devices that this process runs.
  const std::vector<int64_t> &positions() const { return own; }

  /// The memory to which buffers are bound: the version of the arenas, and the
  /// ports of a Run.
  struct Bound {
    uint64_t arenas = 0;
    bool isShared = false; ///< whether devices share memory
    std::vector<void *> inputs, outputs;
    bool operator==(const Bound &) const = default;
  };
  /// For each sharing of the plan, the first position here of each position's
  /// group.
  const std::vector<std::vector<int64_t>> &firsts() const { return firstOf; }
  /// Binds buffer b of position p to locate(to, p, b), for all buffers if `to`
  /// has changed since the last run.
  template <typename Locate> void bind(Bound to, Locate &&locate) {
    if (to == bound)
      return;
    bound = std::move(to);
    const Plan &plan = owner->plan();
    for (int64_t position : own) {
      Device &device = devices[size_t(position)];
      for (size_t b = 0; b < plan.buffers.size(); ++b)
        device.buffers[b] = locate(bound, device.position, b);
      for (size_t a = 0; a < plan.arguments.size(); ++a)
        device.arguments[a] = device.buffers[plan.arguments[a]];
    }
  }

  /// Runs the program. `borders`, if any, are enforced between devices; then
  /// the pool has one worker. `times`, if any, gets those of all launches,
  /// copies and collectives.
  Status run(Workers &pool, DeviceBorders *borders = nullptr,
             RunTimes *times = nullptr);

  /// Counts of the last run.
  CollectiveCounts counts() const;

private:
  enum class State : uint8_t { Ready, Waiting, Done };
  struct alignas(64) Device {
    int64_t position = 0;
    int home = 0; ///< the worker that takes it first, for its caches
    uint32_t pc = 0;
    State state = State::Ready;
    std::vector<void *> buffers, arguments;
    std::vector<int64_t> coordinates;
    CollectiveCounts counts; ///< `bytes` are those sent
    /// The starts of each collective so far, and the time of the last one.
    struct Started {
      uint64_t times = 0, began = 0;
      bool isUnderWay = false; ///< whether the device has not awaited it
    };
    std::vector<Started> started;
    uint32_t underWay = 0; ///< collectives that it has started and not awaited
    uint64_t began = 0;    ///< the instruction's start, if the run is measured
    RunTimes times;        ///< times of this run
  };
  /// Chunks of work that any worker may take.
  struct alignas(64) SharedWork {
    virtual ~SharedWork() = default;
    virtual void runChunk(int64_t chunk) = 0;
    /// Called when all chunks have run; returns whether the work is complete.
    virtual bool finish() { return true; }
    virtual void release(Executor &executor) = 0; ///< requires the lock
    int64_t chunks = 0;
    /// Positions of the devices that wait for it.
    std::span<const int64_t> positions;
    /// The number of chunks not taken; below 0 after more requests. It counts
    /// down, so that a late worker needs only this number to see that nothing
    /// is left: `chunks` may by then be that of the next occurrence.
    alignas(64) std::atomic<int64_t> untaken{0};
    std::atomic<int64_t> unfinished{0};
  };
  /// One group of one collective instruction.
  struct Rendezvous final : SharedWork {
    void runChunk(int64_t chunk) override;
    bool finish() override;
    void release(Executor &executor) override;
    const PreparedCollective *work = nullptr;
    const std::vector<int64_t> *members = nullptr;
    int64_t group = 0;
    uint32_t collective = 0;
    size_t arrived = 0, expected = 0;  ///< numbers of this process's devices
    uint64_t ended = 0;                ///< its occurrences that have ended
    GroupMessages *messages = nullptr; ///< null: all members are here
    bool awaitsResults = false; ///< whether it travels for the second time
    std::vector<void *> sources, targets; ///< arrays of all members
    /// Whether the member's target is written: of members that share a buffer,
    /// the first of this process. Empty if all are.
    std::vector<bool> isWritten;
  };
  /// One launch of one device.
  struct SharedLaunch final : SharedWork {
    void runChunk(int64_t chunk) override;
    void release(Executor &executor) override;
    Device *device = nullptr;
    weft_kernel_share_fn kernel = nullptr;
    const lapack::Kernel *call = nullptr; ///< in place of a kernel
    Executor *executor = nullptr;
    void *const *arguments = nullptr;
  };

  /// Consecutive instructions that are done once for devices of a group.
  struct JointRun {
    uint32_t first = 0, end = 0;
    int32_t sharing = -1;
    /// A share of an instruction: all of it if `shares` is 1.
    struct Part {
      uint32_t instruction;
      int64_t share = 0, shares = 1;
    };
    /// The parts of a stage are independent of each other.
    std::vector<std::vector<Part>> stages;
  };
  /// One group of one joint run.
  struct JointWork final : SharedWork {
    void runChunk(int64_t chunk) override;
    void release(Executor &executor) override;
    void noteStage();
    const JointRun *run = nullptr;
    std::vector<int64_t> members; ///< positions of this process's devices
    Executor *executor = nullptr;
    size_t arrived = 0, stage = 0;
    /// Begin and end of each part of the stage, if the run is measured.
    std::vector<std::pair<uint64_t, uint64_t>> times;
  };

  void prepareJointRuns(int workers);
  void addJointRun(uint32_t first, uint32_t end, int workers);
  std::vector<JointRun::Part> partsOf(uint32_t instruction, int workers) const;
  /// Whether devices wait for each other at the instruction.
  bool isJoint(const Device &device, const Instruction &instruction) const {
    return bound.isShared && instruction.shared >= 0 &&
           joints[size_t(device.position)][jointAt[device.pc]];
  }
  void arriveJointly(Device &device);
  /// Lets a device go on at the next instruction. Requires the lock.
  void resume(Device &device);
  void copy(const Device &device, const Instruction &instruction);

  void reset();
  /// Nanoseconds since the run began. note() records with it the end of the
  /// instruction at `pc`.
  uint64_t now() const;
  void note(Device &device, uint32_t pc);
  void work(int worker);
  /// Runs a device until it returns or waits.
  void runDevice(Device &device);
  /// Whether the device follows a jump that not all devices follow.
  bool jumps(const Device &device, const Instruction &jump) const;
  /// Starts a collective. Returns whether the wait follows at once: then
  /// another worker may run the device.
  bool startsAndWaits(Device &device, const Instruction &start);
  /// Hands in the device's buffers for a collective; the device then waits for
  /// its end, or goes on.
  void arrive(Device &device, const Instruction &start, bool waits);
  /// Whether the collective that the device has started has ended. Else the
  /// device waits for it.
  bool hasEnded(Device &device, const Instruction &wait);
  Rendezvous &rendezvousOf(const Device &device, uint32_t collective) const;
  void markWritten(Rendezvous &rendezvous, const Collective &collective) const;
  void addRendezvous(uint32_t collective, const PreparedCollective &work);
  void complete(Rendezvous &rendezvous); ///< requires the lock
  void depart(Rendezvous &rendezvous);
  void receive();
  /// Sends and receives for collectives that are under way, or runs a chunk of
  /// theirs, between two instructions of a device.
  void progress(Device &device);
  void launch(Device &device, const Instruction &instruction);
  void share(Device &device, const Instruction &instruction);
  /// The call of LAPACK that a launch is, or null.
  const lapack::Kernel *callOf(const Instruction &launch) const {
    return calls.empty() ? nullptr : calls[launch.index].get();
  }
  /// Whether workers share a launch.
  bool isShared(const Instruction &launch) const;
  /// Calls LAPACK for a part of a batch; without memory, the run fails.
  void runCall(const lapack::Kernel &call, void *const *arguments,
               int64_t begin, int64_t end);
  void runChunks(SharedWork &work);
  void offer(SharedWork &work);   ///< requires the lock
  void makeReady(Device &device); ///< requires the lock
  SharedWork *openWork();         ///< requires the lock
  Device *nextDevice(int worker); ///< requires the lock
  std::string deadlock() const;

  std::shared_ptr<const Program> owner;
  Ownership ownership;
  const LapackKernels calls; ///< empty or indexed by kernel
  const CollectiveProvider *provider = nullptr;
  std::vector<int64_t> own; ///< positions whose devices this process runs
  std::vector<std::unique_ptr<PreparedCollective>> prepared;
  /// For each prepared collective, the bytes that a device sends in one
  /// execution, the largest over devices.
  std::vector<uint64_t> sentOnce;
  std::vector<Device> devices; ///< indexed by position
  std::vector<std::unique_ptr<Rendezvous>> rendezvousList;
  std::vector<size_t> firstRendezvous; ///< indexed by collective
  std::vector<std::unique_ptr<SharedLaunch>> launches; ///< indexed by position
  std::vector<std::vector<int64_t>> firstOf;           ///< see firsts()
  std::vector<std::unique_ptr<JointRun>> jointRuns;
  std::vector<uint32_t> jointAt; ///< the joint run of each instruction
  std::vector<std::unique_ptr<JointWork>> jointWorks;
  /// By position and joint run; null where a device is alone.
  std::vector<std::vector<JointWork *>> joints;
  int64_t workersPerDevice = 1;
  Bound bound;

  SpinLock lock;
  Workers *workers = nullptr;                  ///< workers of this run
  DeviceBorders *borders = nullptr;            ///< borders of this run, or null
  bool isTimed = false;                        ///< whether this run is measured
  std::chrono::steady_clock::time_point start; ///< start of a measured run
  std::vector<std::vector<int64_t>> ready;     ///< positions, by home worker
  std::vector<SharedWork *> open;       ///< work whose chunks have not all run
  std::vector<Rendezvous *> travelling; ///< groups with messages under way
  bool isReceiving = false;             ///< whether a worker polls for messages
  Status exchanged; ///< an error ended the run, which is one of messages or of
                    ///< a call's memory
  int running = 0;  ///< workers with a device or chunks
  size_t done = 0;  ///< devices that have returned
  bool ended = false;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_EXECUTOR_H
