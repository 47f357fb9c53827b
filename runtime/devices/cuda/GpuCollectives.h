//===- GpuCollectives.h - collectives of devices on one GPU -----*- C++ -*-===//
//
// A collective of a group is one kernel, or one for each element type that it
// reduces, over tables of pieces (Pieces.h) and of pointers to all members'
// arrays. Whoever launches it sees to it that the members have arrived.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H

#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/cuda/BuiltinKernels.h"
#include "weft/runtime/devices/cuda/GpuTables.h"

#include <map>

namespace weft::runtime {

/// What a device of a set has of its GPU.
struct GpuShare {
  int64_t device; ///< of the set
  std::shared_ptr<Gpu> gpu;
  std::shared_ptr<BuiltinKernels> builtin;
};

class GpuCollectives {
public:
  /// `shares`: by position. Every group is on one GPU.
  Error prepare(const Plan &plan, const std::vector<GpuShare> &shares,
                const std::shared_ptr<MemoryMeter> &meter);
  /// In front of each run, while none is under way.
  Error bind(const GpuTables::Addresses &addresses);
  /// Whether the group has anything to do.
  bool hasWork(uint32_t collective, int64_t group) const {
    return !groups[collective][size_t(group)].calls.empty();
  }
  Error launch(uint32_t collective, int64_t group,
               const GpuStream &stream) const;
  /// By the device that sends most, in one occurrence.
  uint64_t sent(uint32_t collective) const { return sentOnce[collective]; }

private:
  /// A number, a place in the tables, or the pointers of the group's arrays.
  struct Parameter {
    enum Kind : uint8_t { Number, Rows, Sources, Targets } kind;
    uint64_t value = 0;
  };
  struct Call {
    std::string text, symbol; ///< see BuiltinKernels
    int64_t pieces;           ///< that many blocks at most
    std::vector<Parameter> parameters;
    GpuFunction kernel;
  };
  struct Group {
    const GpuTables *tables = nullptr;
    uint64_t sources = 0, targets = 0; ///< among its pointers
    std::vector<Call> calls;
  };
  /// What one GPU has.
  struct Side {
    std::shared_ptr<BuiltinKernels> builtin;
    std::unique_ptr<GpuTables> tables;
  };

  Error add(const Collective &collective, const PreparedCollective &work,
            const std::vector<GpuShare> &shares);

  std::map<const Gpu *, Side> sides;
  std::vector<std::vector<Group>> groups; ///< [collective][group]
  std::vector<uint64_t> sentOnce;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUCOLLECTIVES_H
