//===- GpuExchange.h - a collective between GPUs by NCCL --------*- C++ -*-===//
//
// A collective of a group whose devices are on several GPUs. The stream of the
// group's first device on each GPU runs kernels, then calls of NCCL, then
// kernels. For a sum of four devices on two GPUs:
//
//   GPU 0: r = s0 + s1   ncclAllReduce r -> t0   t1 = t0
//   GPU 1: r = s2 + s3   ncclAllReduce r -> t2   t3 = t2
//
// and for an exchange of one that NCCL has no call for:
//
//   GPU 0: pack    ncclSend, ncclRecv    unpack, then the kernel that one GPU
//   GPU 1: pack    ncclSend, ncclRecv    would run, with its targets only
//
// Each process plans the calls of all GPUs, and makes those of its own.
// Received arrays and messages are in memory of the launching device
// (`staging`), which is buffer plan.buffers.size() in addresses; the next
// number is a null pointer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUEXCHANGE_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUEXCHANGE_H

#include "weft/runtime/devices/cuda/CollectiveLaunches.h"
#include "weft/runtime/devices/cuda/GpuLinks.h"

namespace weft::runtime {

class GpuExchange {
public:
  /// A GPU of the group. Of one in another process, only its rank, its devices
  /// and the bytes of its staging memory are known.
  struct Side {
    int rank = 0; ///< see JointGpus.h
    bool isOwn = false;
    std::vector<int64_t> members;      ///< members of the group, on this GPU
    std::vector<int64_t> positions;    ///< positions of the members
    GpuTables *tables = nullptr;       ///< null for one of another process
    BuiltinKernels *builtin = nullptr; ///< likewise
    std::vector<CollectiveLaunches> before, after;
    uint64_t staging = 0; ///< bytes
    nccl::Comm comm = nullptr;
    /// The position of the device whose stream runs all.
    int64_t first() const { return positions.front(); }
  };
  /// A part of a buffer of the device at a position.
  using Slot = GpuTables::Slot;
  /// A call of NCCL on one GPU.
  struct Message {
    enum Kind : uint8_t { Collective, Send, Recv } kind;
    NcclCall call; ///< the call of a Collective
    Slot from, to;
    uint64_t count;
    nccl::Type type;
    int argument; ///< the reduction, root or peer
    size_t side;
  };

  /// Prepares a collective of a group by a method other than Peer. `buffers`:
  /// the number of the plan's buffers.
  static Status make(const Mesh &mesh, const Collective &collective,
                     int64_t group, const PreparedCollective &work,
                     CollectiveMethod method, uint32_t buffers,
                     std::vector<Side> sides, std::shared_ptr<GpuLinks> links,
                     std::unique_ptr<GpuExchange> &out);

  const std::vector<Side> &all() const { return sides; }
  /// Makes the calls of NCCL, as one group, on the streams of own sides. A
  /// failure ends the communicators of the GPUs, as some may wait for others.
  Status communicate(const GpuTables::Addresses &addresses,
                     const std::vector<cuda::Stream> &streams) const;

private:
  friend class ExchangeBuilder;
  Status enqueue(const GpuTables::Addresses &addresses,
                 const std::vector<cuda::Stream> &streams) const;
  Status call(const Message &message, const GpuTables::Addresses &addresses,
              cuda::Stream stream) const;

  std::vector<Side> sides;
  std::vector<Message> messages;
  std::shared_ptr<GpuLinks> links;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUEXCHANGE_H
