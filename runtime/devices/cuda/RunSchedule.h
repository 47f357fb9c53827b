//===- RunSchedule.h - a run of several devices on GPUs ---------*- C++ -*-===//
//
// Devices are enqueued in turn, each until it comes to a collective. Then, of the
// collectives whose members have all arrived, the earliest in the plan is
// launched. The stream of the group's first member on a GPU waits for those of
// all others, runs that GPU's share of the collective, and is waited for:
//
//   device 0: launch, launch, record 0 --.        .-> launch
//                                         collective
//   device 1: launch, launch, record 1 --'        '-> wait 0, launch
//
// Between GPUs that use NCCL, only streams of one GPU wait for each other. A
// process makes its calls in the plan's order, so that processes never wait for
// each other's calls in a cycle: what a device has reached is launched before
// anything that comes later in the plan, whichever devices it is for, so a loop
// of some devices is over before what is after it.
//
// Devices may be in different iterations of a loop and in different branches.
// When no device can run and some wait, the run ends with StatusCode::Deadlock.
//
// While all devices of the process stand at the same instruction, the straight
// piece that begins there may be a graph. If all devices are on one GPU, it is
// one launch for all, with their collectives; if each device has a GPU, it is one
// launch on each, up to the next collective, which is enqueued between graphs.
// Once devices stand apart, instructions are enqueued one by one to the end of
// the run.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_RUNSCHEDULE_H
#define WEFT_RUNTIME_DEVICES_CUDA_RUNSCHEDULE_H

#include "weft/runtime/collectives/Deadlock.h"
#include "weft/runtime/devices/cuda/Enqueue.h"
#include "weft/runtime/devices/cuda/Uploads.h"

#include <deque>

namespace weft::runtime {

class RunSchedule {
public:
  /// The stream in which a device enqueues, an event of its own, and memory
  /// that libraries use on that stream only.
  struct Lane {
    const GpuStream *stream;
    const GpuEvent *event;
    Workspace workspace = {};
  };
  /// Devices of one GPU, whose instructions may be recorded as one graph, and
  /// the places of all memory that they use.
  struct Part {
    std::vector<size_t> positions;
    GraphCache::Places places;
  };
  /// All devices on their one GPU, or each own device on a GPU of its own; none:
  /// nothing is recorded.
  using Graphs = std::vector<Part>;
  /// Gets the addresses of buffers; called once, if they are needed.
  using Bind = std::function<Status(GpuTables::Addresses &)>;

  /// Takes lanes by position; those of other processes have no stream. `clock`: null without measurement. `uploads`: what
  /// is copied before the first instruction, as a part of its graph.
  RunSchedule(GpuProgram &program [[clang::lifetimebound]],
              std::vector<Lane> lanes, Bind bind, RunClock *clock,
              Graphs graphs, std::vector<Upload> uploads);

  /// Enqueues all instructions, which may be running even after an error. If
  /// none fails, those of a GPU come before later operations of its first lane.
  Status run();
  CollectiveCounts counts() const;
  const std::string &lastKernel(size_t position) const {
    return devices[position].last;
  }

private:
  struct Device {
    std::unique_ptr<StepEnqueuer> step = nullptr;
    Standing standing = {};
    CollectiveCounts counts = {}; ///< `bytes` are those sent
    std::string last = "";        ///< the kernel that was enqueued last
  };
  static constexpr uint32_t kNoEnd = UINT32_MAX;

  Status runAll();
  /// Gets addresses and makes the enqueuers, the first time.
  Status bindDevices();
  /// Runs pieces while all devices stand at the same instruction.
  Status runTogether();
  bool areTogether() const;
  Status jump(const Instruction &instruction);
  /// The end of the piece that begins at an instruction. Collectives between
  /// GPUs end a piece.
  uint32_t pieceEnd(uint32_t first) const;
  Status runPiece(const Part &part, uint32_t end);
  /// Enqueues or records the uploads.
  Status upload();
  Status capture(const Part &part, GraphCache::Entry &entry, uint32_t end);
  Status launch(const Part &part, const GraphCache::Entry &entry, uint32_t end);
  /// Enqueues the next instructions of devices, up to one of the plan.
  Status runDevices(uint32_t end, const std::vector<size_t> &positions);
  /// Launches the earliest collective whose own members have all arrived, if
  /// there is one, which the answer says.
  Status meetEarliest(bool &found);
  Status checkEnds() const;
  /// Lets the lanes of each GPU wait for its first; lets the first wait for all.
  Status fork();
  Status join();
  Status arrive(size_t position);
  bool staysWithinGpus(const Collective &collective) const;
  /// The first lane of the GPU that has a device of this process.
  const GpuStream &leadOf(size_t position) const;
  size_t ownMembers(const std::vector<int64_t> &members) const;
  Status meet(uint32_t instruction, int64_t group);
  Status record(uint32_t collective, int64_t group);
  Status exchange(const GpuExchange &its);
  Status launch(int64_t position, const std::vector<CollectiveLaunches> &all);
  Status await(const std::vector<int64_t> &waiting,
               const std::vector<int64_t> &others);

  GpuProgram &program;
  const Plan &plan;
  std::vector<Lane> lanes;
  std::vector<size_t> own; ///< positions of this process, one or more
  /// The positions on each GPU of this process.
  std::vector<std::vector<int64_t>> gpus;
  std::vector<bool> isWithinGpus; ///< by collective: all its groups here
  Bind bind;
  std::vector<Device> devices;
  RunClock *clock;
  Graphs graphs;
  std::vector<Upload> uploads; ///< those that are not enqueued
  GraphCapture *recording = nullptr;
  bool isForked = false; ///< whether lanes but the first of a GPU are in use
  std::deque<size_t> ready;
  /// The number of own members of a group that have arrived:
  /// [collective][group].
  std::vector<std::vector<size_t>> arrived;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_RUNSCHEDULE_H
