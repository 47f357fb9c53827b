//===- ResultCopies.h - results of a run in few copies ----------*- C++ -*-===//
//
// Small results are parts of one allocation (CudaDevices::allocateResult), and
// one copy brings those that follow each other to the host:
//
//   loss at 0, accuracy at 256   ->   260 bytes from 0; offsets 0 and 256
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_RESULTCOPIES_H
#define WEFT_RUNTIME_DEVICES_CUDA_RESULTCOPIES_H

#include "weft/runtime/devices/cuda/GpuMemory.h"

namespace weft::runtime {

class ResultCopies {
public:
  explicit ResultCopies(std::span<const Run::ResultCopy> results);
  /// The bytes of the host that the copies need.
  uint64_t bytes() const { return size; }
  /// Enqueues the copies to pinned memory, each in the stream of its GPU.
  Status enqueue(std::span<const GpuStream *const> streams,
                 uint8_t *pinned) const;
  /// Hands the results to the caller of the run, which is over.
  void take(std::span<const Run::ResultCopy> results,
            const uint8_t *pinned) const;

private:
  struct Copy {
    const Gpu *gpu;
    cuda::Address from;
    uint64_t bytes, offset;
  };
  std::vector<Copy> copies;
  std::vector<uint64_t> offsets; ///< offsets of each result
  uint64_t size = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_RESULTCOPIES_H
