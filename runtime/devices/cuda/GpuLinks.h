//===- GpuLinks.h - how the GPUs of a set exchange data ---------*- C++ -*-===//
//
// The GPUs of a set of devices, and communicators of NCCL between them: one of
// all, which is split for each set of GPUs that a group needs.
//
//   if (Status ok = links.connect({{a, b}, {c, d}}); !ok) return ok;
//   nccl::Comm comm = links.comm({a, b}, 1);      // of b, which is rank 1
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPULINKS_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPULINKS_H

#include "weft/layout/CollectiveMethods.h"
#include "weft/runtime/devices/cuda/Gpu.h"
#include "weft/runtime/devices/cuda/Nccl.h"
#include "weft/runtime/program/Plan.h"

#include <map>

namespace weft::runtime {

class GpuLinks {
public:
  /// GPUs in the order of their ranks.
  using GpuSet = std::vector<Gpu *>;

  explicit GpuLinks(std::vector<std::shared_ptr<Gpu>> gpus)
      : gpus(std::move(gpus)) {}
  ~GpuLinks();
  GpuLinks(const GpuLinks &) = delete;
  GpuLinks &operator=(const GpuLinks &) = delete;

  /// What collectives of programs that are prepared from now on use.
  void setMode(CollectiveMode given) { mode = given; }
  /// Chooses the method of a collective for a group on these GPUs, two or more;
  /// for Peer, lets them address each other's memory. An error says what they
  /// lack.
  Status choose(const Mesh &mesh, const Collective &collective,
                const GpuSet &set, CollectiveMethod &out) const;
  /// Makes the communicators that are not there yet.
  Status connect(const std::vector<GpuSet> &sets);
  nccl::Comm comm(const GpuSet &set, size_t rank) const {
    return comms.at(set)[rank];
  }
  const Nccl &library() const { return *nccl; }
  /// Waits for a stream, whose calls of NCCL may wait for others. If one of all
  /// those fails, ends the communicators, so that the stream ends, too.
  void await(const GpuStream &stream,
             const std::vector<const GpuStream *> &others);
  /// Ends all communicators, and with them the calls that wait for a failed
  /// one. The GPUs can exchange nothing by NCCL any more.
  void abort();
  /// Fails if abort() was called.
  Status check() const;

private:
  Status reach(const GpuSet &set) const;
  Status open();
  Status split(const std::vector<GpuSet> &apart);

  std::vector<std::shared_ptr<Gpu>> gpus;
  CollectiveMode mode = CollectiveMode::Usual;
  const Nccl *nccl = nullptr;
  std::vector<nccl::Comm> all; ///< of `gpus`; empty before the first use
  std::map<GpuSet, std::vector<nccl::Comm>> comms;
  bool isAborted = false;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPULINKS_H
