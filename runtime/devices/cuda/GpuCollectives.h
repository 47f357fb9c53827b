//===- GpuCollectives.h - collectives of devices on GPUs --------*- C++ -*-===//
//
// A collective of a group is one kernel, or one for each element type that it
// reduces, over tables of pieces (Pieces.h) and of pointers to all members'
// arrays. If members are on several GPUs, GpuLinks chooses the method: each GPU
// runs a share of the pieces, on its own memory and that of its peers, or the
// collective is a GpuExchange. A pick has no pieces, and the first member's GPU
// runs it. The caller that launches it ensures that the members have arrived.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H

#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/cuda/GpuExchange.h"
#include "weft/runtime/devices/cuda/GpuLibraries.h"

#include <map>

namespace weft::runtime {

/// A device of a set with its GPU, built-in kernels and libraries; of one in
/// another process, only the numbers and `links`.
struct GpuShare {
  int64_t device; ///< number in the set
  int rank;       ///< the rank of the GPU, see JointGpus.h
  std::shared_ptr<Gpu> gpu;
  std::shared_ptr<BuiltinKernels> builtin;
  std::shared_ptr<GpuLibraries> libraries;
  std::shared_ptr<GpuLinks> links; ///< links of all devices
};

class GpuCollectives {
public:
  /// Prepares the collectives of a plan. `shares` is indexed by position. An
  /// error names a collective whose GPUs cannot exchange data.
  Status prepare(const Plan &plan, const std::vector<GpuShare> &shares,
                 const std::shared_ptr<MemoryMeter> &meter);
  /// Binds the addresses before each run, while none is running.
  Status bind(GpuTables::Addresses addresses);
  /// The bound pointers, which launches read.
  std::vector<std::shared_ptr<const GpuMemory>> pointers() const;

  /// The launches of one GPU for a group.
  struct Launches {
    /// Position of the device whose stream launches them: the GPU's first
    /// member.
    int64_t position = 0;
    CollectiveLaunches calls;
  };
  const std::vector<Launches> &launches(uint32_t collective,
                                        int64_t group) const {
    return groups[collective][size_t(group)];
  }
  /// The collective of a group by NCCL; null if the launches carry it out.
  const GpuExchange *exchange(uint32_t collective, int64_t group) const {
    return exchanges[collective][size_t(group)].get();
  }
  /// The addresses of the run, with those of the memory that NCCL uses.
  const GpuTables::Addresses &addresses() const { return bound; }
  /// Waits for a stream, which may wait for other GPUs by NCCL; see GpuLinks.
  void await(const GpuStream &stream) const { links->await(stream); }
  /// The bytes that a device sends in one occurrence, the largest over devices.
  uint64_t sent(uint32_t collective) const { return sentOnce[collective]; }

private:
  /// The built-in kernels and tables of one GPU.
  struct Side {
    std::shared_ptr<BuiltinKernels> builtin;
    std::unique_ptr<GpuTables> tables;
  };

  /// The GPUs of a group, each with its members, in the order of the members.
  std::vector<GpuExchange::Side>
  sidesOf(const std::vector<int64_t> &members,
          const std::vector<GpuShare> &shares) const;
  Status add(const Plan &plan, const Collective &collective,
             const PreparedCollective &work,
             const std::vector<GpuShare> &shares);
  /// Adds the launches of the collective, for members on `on`.
  Status addLaunches(const Collective &collective, CollectiveTable table,
                     const std::vector<int64_t> &members,
                     const std::vector<GpuExchange::Side> &on,
                     std::vector<Launches> &out);
  Status placeStaging(const Plan &plan, const std::vector<GpuShare> &shares,
                      const std::shared_ptr<MemoryMeter> &meter);

  std::shared_ptr<GpuLinks> links;
  std::map<int, Side> sides; ///< sides of own GPUs, by rank
  std::vector<std::vector<std::vector<Launches>>>
      groups; ///< [collective][group]
  /// Launches by GPU and rows, as groups with the same moves share rows; of the
  /// collective that is being added.
  std::map<std::pair<int, const void *>, CollectiveLaunches> known;
  std::vector<std::vector<std::unique_ptr<GpuExchange>>>
      exchanges; ///< likewise
  std::vector<std::unique_ptr<GpuMemory>>
      staging; ///< one each position, or null
  GpuTables::Addresses bound;
  std::vector<uint64_t> sentOnce;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H
