//===- JointGpus.h - the GPUs of all processes of a runtime -----*- C++ -*-===//
//
// Each process spreads its devices over its own GPUs (OwnGpus.h). GPUs are
// numbered by process; the number is the GPU's rank in NCCL. 6 devices in two
// processes, of which each has two GPUs:
//
//   process   0         1
//   devices   0 1 2     3 4 5
//   GPUs      0 0 1     2 2 3
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_JOINTGPUS_H
#define WEFT_RUNTIME_DEVICES_CUDA_JOINTGPUS_H

#include "weft/runtime/devices/cuda/Gpu.h"

#include <vector>

namespace weft::runtime {

class Processes;

struct JointGpus {
  std::vector<std::shared_ptr<Gpu>> own; ///< this process's
  int firstOwn = 0;                      ///< the rank of own[0]
  int count = 0;                         ///< number of GPUs of all processes
  int64_t firstDevice = 0;               ///< the first device of this process
  std::vector<int> ofDevice;             ///< the rank of each device's GPU

  /// Opens this process's GPUs for its part of `devices`. With several
  /// processes, compares what they have, and fails in all of them if NCCL cannot
  /// join the GPUs. `processes`: null for one that has all devices.
  static Status open(const Driver &driver, int64_t devices,
                     Processes *processes, JointGpus &out);

  /// The GPU of a rank; null for one of another process.
  std::shared_ptr<Gpu> ownGpu(int rank) const {
    bool isOwn = rank >= firstOwn && rank < firstOwn + int(own.size());
    return isOwn ? own[size_t(rank - firstOwn)] : nullptr;
  }
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_JOINTGPUS_H
