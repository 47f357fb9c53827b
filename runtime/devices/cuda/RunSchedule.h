//===- RunSchedule.h - a run of several devices on GPUs ---------*- C++ -*-===//
//
// Devices are enqueued in turn, each until it comes to a collective; the last
// member of a group to arrive launches it. The stream of the group's first
// member on a GPU waits for those of all others, runs that GPU's share of the
// collective, and is waited for:
//
//   device 0: launch, launch, record 0 --.        .-> launch
//                                         collective
//   device 1: launch, launch, record 1 --'        '-> wait 0, launch
//
// Devices may be in different iterations of a loop and in different branches.
// When no device can run and some wait, the run ends with StatusCode::Deadlock.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_RUNSCHEDULE_H
#define WEFT_RUNTIME_DEVICES_CUDA_RUNSCHEDULE_H

#include "weft/runtime/collectives/Deadlock.h"
#include "weft/runtime/devices/cuda/Enqueue.h"

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
  /// Takes lanes and addresses by position. `clock`: null without measurement.
  RunSchedule(const GpuProgram &program [[clang::lifetimebound]],
              std::vector<Lane> lanes, const GpuTables::Addresses &addresses,
              RunClock *clock);

  /// Enqueues all instructions, which may be running even after an error.
  Status run();
  CollectiveCounts counts() const;
  const std::string &lastKernel(size_t position) const {
    return devices[position].step.lastKernel();
  }

private:
  struct Device {
    StepEnqueuer step;
    Standing standing = {};
    CollectiveCounts counts = {}; ///< `bytes` are those sent
  };

  Status arrive(size_t position);
  Status meet(uint32_t collective, int64_t group);
  Status await(const std::vector<int64_t> &waiting,
               const std::vector<int64_t> &others);

  const GpuProgram &program;
  const Plan &plan;
  std::vector<Lane> lanes;
  std::vector<Device> devices;
  RunClock *clock;
  std::deque<size_t> ready;
  /// The number of members of a group that have arrived: [collective][group].
  std::vector<std::vector<size_t>> arrived;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_RUNSCHEDULE_H
