//===- RunClock.h - times of a run's instructions on GPUs -------*- C++ -*-===//
//
//   RunClock clock;
//   clock.start(position, stream);            // of each device, first
//   clock.begin(instruction, position, stream);
//   ...                                       // operations of the device
//   clock.end(position, stream);
//   clock.read(times);                        // when the streams are done
//
// Times are those of events of the streams. Events of two GPUs cannot be
// compared, so each device counts from its own start.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_RUNCLOCK_H
#define WEFT_RUNTIME_DEVICES_CUDA_RUNCLOCK_H

#include "weft/runtime/devices/DeviceSet.h"
#include "weft/runtime/devices/cuda/Gpu.h"

#include <map>

namespace weft::runtime {

class RunClock {
public:
  Status start(int64_t position, const GpuStream &stream);
  Status begin(uint32_t instruction, int64_t position, const GpuStream &stream);
  /// Ends the time of the instruction that the device began last.
  Status end(int64_t position, const GpuStream &stream);
  Status read(RunTimes &times) const;

private:
  struct Span {
    uint32_t instruction;
    std::unique_ptr<GpuEvent> begin, end;
  };
  struct Device {
    std::unique_ptr<GpuEvent> start;
    std::vector<Span> spans;
  };
  static Status mark(const GpuStream &stream, std::unique_ptr<GpuEvent> &out);
  std::map<int64_t, Device> devices; ///< keyed by position
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_RUNCLOCK_H
