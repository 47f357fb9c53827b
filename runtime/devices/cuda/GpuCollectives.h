//===- GpuCollectives.h - collectives of devices on GPUs --------*- C++ -*-===//
//
// A collective of a group is one kernel, or one for each element type that it
// reduces, over tables of pieces (Pieces.h) and of pointers to all members'
// arrays. If members are on several GPUs, each GPU runs a share of the pieces,
// on its own memory and that of its peers; a pick has no pieces, and the first
// member's GPU runs it. The caller that launches it ensures that the members
// have arrived.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H

#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/cuda/BuiltinKernels.h"
#include "weft/runtime/devices/cuda/GpuLibraries.h"
#include "weft/runtime/devices/cuda/GpuTables.h"

#include <map>

namespace weft::runtime {

/// A device of a set with its GPU, built-in kernels and libraries.
struct GpuShare {
  int64_t device; ///< number in the set
  std::shared_ptr<Gpu> gpu;
  std::shared_ptr<BuiltinKernels> builtin;
  std::shared_ptr<GpuLibraries> libraries;
};

class GpuCollectives {
public:
  /// Prepares the collectives of a plan. `shares` is indexed by position. The
  /// GPUs of every group can address each other's memory.
  Status prepare(const Plan &plan, const std::vector<GpuShare> &shares,
                 const std::shared_ptr<MemoryMeter> &meter);
  /// Binds the addresses before each run, while none is running.
  Status bind(const GpuTables::Addresses &addresses);
  /// The bound pointers, which launches read.
  std::vector<std::shared_ptr<const GpuMemory>> pointers() const;

  /// The launches of one GPU for a group; there are none if nothing moves.
  class Launches {
  public:
    /// Position of the device whose stream launches it: the GPU's first member.
    int64_t position() const { return first; }
    Status launch(const GpuStream &stream) const;

  private:
    friend class GpuCollectives;
    /// A kernel parameter: a number, a position in the tables, or the pointers
    /// of the group's arrays.
    struct Parameter {
      enum Kind : uint8_t {
        Number,
        Rows,
        Pieces,
        Count,
        Sources,
        Targets
      } kind;
      uint64_t value = 0;
    };
    struct Call {
      std::string text, symbol; ///< see BuiltinKernels
      uint64_t rows, rowBytes;  ///< the pieces; 0 bytes: there are none
      int64_t count;            ///< number of pieces, and the most blocks
      std::vector<Parameter> parameters;
      GpuFunction kernel;
    };
    struct CallMaker;
    static std::vector<Call> slice(const std::vector<Call> &calls,
                                   int64_t number, int64_t count);

    int64_t first = 0;
    const GpuTables *tables = nullptr;
    uint64_t sources = 0, targets = 0; ///< positions among the tables' pointers
    std::vector<Call> calls;
  };
  const std::vector<Launches> &launches(uint32_t collective,
                                        int64_t group) const {
    return groups[collective][size_t(group)];
  }
  /// The bytes that a device sends in one occurrence, the largest over devices.
  uint64_t sent(uint32_t collective) const { return sentOnce[collective]; }

private:
  /// The built-in kernels and tables of one GPU.
  struct Side {
    std::shared_ptr<BuiltinKernels> builtin;
    std::unique_ptr<GpuTables> tables;
  };

  Status add(const Collective &collective, const PreparedCollective &work,
             const std::vector<GpuShare> &shares);
  Status findKernels(Side &side, std::vector<Launches::Call> &calls);

  std::map<const Gpu *, Side> sides;
  std::vector<std::vector<std::vector<Launches>>>
      groups; ///< [collective][group]
  std::vector<uint64_t> sentOnce;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H
