//===- Executor.h - one program on N virtual devices ------------*- C++ -*-===//
//
// Each device has a program counter; a worker runs one device until it must
// wait for others, then takes the next. Two devices, one worker:
//
//   device 0: launch, launch, all_reduce -> waits (1 of 2 arrived)
//   device 1: launch, launch, all_reduce -> the group is complete
//   chunks of the all-reduce, then device 0 goes on, then device 1
//
// Where there are more workers than devices, a launch of much work is shared in
// the same way: its parts are chunks, and its device waits for them.
//
// A group with members in other processes sends them what they need when its
// own have arrived, and whoever has nothing else to do looks for what they send.
//
// A group is complete when its own members have arrived at the same
// instruction; other devices may be in another iteration or branch. When
// nobody can go on and somebody waits, the run ends with WEFT_DEADLOCK.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_EXECUTOR_H
#define WEFT_RUNTIME_DEVICES_CPU_EXECUTOR_H

#include "weft/runtime/collectives/Crossing.h"
#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/cpu/DeviceBorders.h"
#include "weft/runtime/devices/cpu/Workers.h"
#include "weft/runtime/program/Program.h"

#include <array>

namespace weft::runtime {

constexpr size_t collectiveKinds = size_t(CollectiveKind::MAX) + 1;

/// The other processes, if there are any.
struct Elsewhere {
  Processes *processes = nullptr;
  Staging *staging = nullptr;
  Ownership ownership;
};

class Executor {
public:
  Executor(std::shared_ptr<const Program> program, Elsewhere elsewhere)
      : program(std::move(program)), elsewhere(std::move(elsewhere)) {}

  Error prepare(const CollectiveProvider &provider, int workers);
  const std::shared_ptr<const Program> &owner() const { return program; }

  /// Where buffer b of position p lies: locate(p, b). Called for all when
  /// `key` (arenas and ports) has changed since the last run.
  template <typename Locate>
  void bind(const std::vector<uint64_t> &key, Locate &&locate) {
    if (key == boundKey)
      return;
    const Plan &plan = program->plan();
    for (int64_t position : own) {
      Device &device = devices[size_t(position)];
      for (size_t b = 0; b < plan.buffers.size(); ++b)
        device.buffers[b] = locate(device.position, b);
      for (size_t a = 0; a < plan.arguments.size(); ++a)
        device.arguments[a] = device.buffers[plan.arguments[a]];
    }
    boundKey = key;
  }

  /// `borders`, if any, are kept between devices; then the pool has one worker.
  Error run(Workers &pool, DeviceBorders *borders = nullptr);

  struct Count {
    uint64_t occurrences, bytes;
  };
  /// By CollectiveKind, of the last run: those of this process's devices.
  std::array<Count, collectiveKinds> counts() const;

private:
  enum class State : uint8_t { Ready, Waiting, Done };
  struct alignas(64) Device {
    int64_t position = 0;
    int home = 0; ///< the worker that takes it first, for its caches
    uint32_t pc = 0;
    State state = State::Ready;
    std::vector<void *> buffers, arguments;
    std::vector<int64_t> coordinates;
    std::array<uint64_t, collectiveKinds> occurrences = {}, sent = {};
  };
  /// Chunks of work that any worker may take.
  struct alignas(64) SharedWork {
    virtual ~SharedWork() = default;
    virtual void runChunk(int64_t chunk) = 0;
    /// All chunks have run: whether that is all there is to do.
    virtual bool finish() { return true; }
    virtual void release(Executor &executor) = 0; ///< under the lock
    int64_t chunks = 0;
    std::span<const int64_t> positions; ///< of the devices it works for
    /// Chunks not taken; below 0 when more was asked for. Counted down, so that
    /// who comes late sees by it alone that nothing is left: `chunks` may by
    /// then be those of the next occurrence.
    alignas(64) std::atomic<int64_t> untaken{0};
    std::atomic<int64_t> unfinished{0};
  };
  /// One group of one collective instruction.
  struct Meeting final : SharedWork {
    void runChunk(int64_t chunk) override;
    bool finish() override;
    void release(Executor &executor) override;
    const PreparedCollective *work = nullptr;
    const std::vector<int64_t> *members = nullptr;
    int64_t group = 0;
    size_t arrived = 0, expected = 0;     ///< of this process's devices
    std::unique_ptr<Crossing> crossing;   ///< null: all members are here
    bool awaitsResults = false;           ///< the second time that it travels
    std::vector<void *> sources, targets; ///< of all members: see Provider.h
  };
  /// One launch of one device.
  struct SharedLaunch final : SharedWork {
    void runChunk(int64_t chunk) override;
    void release(Executor &executor) override;
    Device *device = nullptr;
    weft_kernel_part_fn kernel = nullptr;
    void *const *arguments = nullptr;
  };

  void reset();
  void work(int worker);
  /// Runs a device until it returns or waits.
  void runDevice(Device &device);
  void arrive(Device &device, const Instruction &instruction);
  Error addMeetings(const Collective &collective,
                    const PreparedCollective &work);
  void complete(Meeting &meeting); ///< under the lock
  void depart(Meeting &meeting);
  void receive();
  void share(Device &device, const Instruction &instruction);
  void runChunks(SharedWork &work);
  void offer(SharedWork &work);   ///< under the lock
  void makeReady(Device &device); ///< under the lock
  SharedWork *openWork();         ///< under the lock
  Device *nextDevice(int worker); ///< under the lock
  std::string describeDeadlock() const;

  std::shared_ptr<const Program> program;
  Elsewhere elsewhere;
  std::vector<int64_t> own; ///< positions whose devices this process runs
  std::vector<std::unique_ptr<PreparedCollective>> prepared;
  /// Of each prepared collective, what the device that sends most of all
  /// sends in one occurrence.
  std::vector<uint64_t> sentOnce;
  std::vector<Device> devices; ///< by position
  std::vector<std::unique_ptr<Meeting>> meetings;
  std::vector<size_t> firstMeeting;                    ///< by collective
  std::vector<std::unique_ptr<SharedLaunch>> launches; ///< by position
  int64_t workersPerDevice = 1;
  std::vector<uint64_t> boundKey;

  SpinLock lock;
  Workers *workers = nullptr;              ///< of this run
  DeviceBorders *borders = nullptr;        ///< of this run, or null
  std::vector<std::vector<int64_t>> ready; ///< positions, by home worker
  std::vector<SharedWork *> open;          ///< complete, chunks left
  std::vector<Meeting *> travelling;       ///< messages are under way
  bool isReceiving = false;                ///< a worker looks after them
  Error failure;                           ///< of another process
  int running = 0;                         ///< workers with a device or chunks
  size_t done = 0;                         ///< devices that have returned
  bool ended = false;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_EXECUTOR_H
