//===- GpuTables.h - tables that kernels read -------------------*- C++ -*-===//
//
// Tables of rows, which do not change, and of pointers to buffers, which change
// with the ports of a run:
//
//   GpuTables tables(gpu, device);
//   uint64_t rows = tables.add(std::span<const MovePiece>(pieces));
//   uint64_t sources = tables.addPointers({0, 1}, collective.sources);
//   tables.place(meter);
//   tables.bind(addresses);                   // before each run
//   ... tables.rowsAt(rows), tables.pointersAt(sources): parameters of kernels
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUTABLES_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUTABLES_H

#include "weft/runtime/devices/cuda/GpuMemory.h"

#include <list>

namespace weft::runtime {

class GpuTables {
public:
  /// A place in a buffer of the device at a position.
  struct Slot {
    int64_t position = 0;
    uint32_t buffer = 0;
    uint64_t offset = 0; ///< in bytes
  };
  /// The address of buffer b of position p: [p][b].
  using Addresses = std::vector<std::vector<cuda::Address>>;

  GpuTables(std::shared_ptr<const Gpu> gpu, int64_t device)
      : gpu(std::move(gpu)), device(device) {}

  /// Adds rows; returns their offset in bytes.
  template <typename Row> uint64_t add(std::span<const Row> given) {
    uint64_t start = rows.size();
    const auto *bytes = reinterpret_cast<const uint8_t *>(given.data());
    rows.insert(rows.end(), bytes, bytes + given.size_bytes());
    rows.resize((rows.size() + 15) / 16 * 16);
    return start;
  }
  /// Adds pointers to the arrays of one member after the other; returns their
  /// offset in bytes.
  uint64_t addPointers(const std::vector<int64_t> &members,
                       const std::vector<Collective::Array> &arrays);
  /// Adds pointers; returns their offset in bytes.
  uint64_t addPointers(const std::vector<Slot> &given);

  /// Copies the tables to the GPU; nothing may be added later.
  Status place(std::shared_ptr<MemoryMeter> meter);
  /// Chooses the pointers to these addresses, and uploads them unless they are
  /// one of the last sets.
  Status bind(const Addresses &addresses);
  /// The chosen pointers, null if there are none; whoever keeps them may launch
  /// kernels on them.
  std::shared_ptr<const GpuMemory> pointers() const {
    return bound.empty() ? nullptr : bound.front().memory;
  }

  cuda::Address rowsAt(uint64_t start) const {
    return placedRows->place() + start;
  }
  cuda::Address pointersAt(uint64_t start) const {
    return bound.front().memory->place() + start;
  }

private:
  std::shared_ptr<const Gpu> gpu;
  int64_t device; ///< the device for which memory is counted
  std::shared_ptr<MemoryMeter> meter;
  std::vector<uint8_t> rows;
  std::vector<Slot> slots;
  /// The addresses of `slots`, and their copy on the GPU.
  struct Bound {
    std::vector<cuda::Address> addresses;
    std::shared_ptr<const GpuMemory> memory;
  };
  static constexpr size_t kMostSets = 4;
  std::list<Bound> bound; ///< the chosen one first, then by last use
  std::unique_ptr<GpuMemory> placedRows;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUTABLES_H
