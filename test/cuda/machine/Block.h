//===- Block.h - warps that share memory and barriers -----------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_MACHINE_BLOCK_H
#define WEFT_TEST_CUDA_MACHINE_BLOCK_H

#include "weft/test/cuda/machine/Warp.h"

#include <span>

namespace weft::ptx {

/// The last accesses to a cell of shared memory: four bytes, or one byte in
/// blocks that have accesses narrower than four bytes. Two accesses are in
/// order if a barrier of the block is between them or, within a warp, a barrier
/// of the warp.
struct SharedCell {
  static constexpr uint16_t kNobody = 0xFFFF, kManyWarps = 0xFFFE;
  uint16_t writer = kNobody, reader = kNobody; ///< threads
  bool isReadByLanes = false; ///< by more lanes of the reader's warp
  bool isPending = false;     ///< a copy will write it at an unknown time
  uint32_t writeBarrier = 0, writeSync = 0, readBarrier = 0, readSync = 0;
};

class Block {
public:
  Block(const Launch &launch [[clang::lifetimebound]],
        Memory &memory [[clang::lifetimebound]],
        Findings &findings [[clang::lifetimebound]], uint32_t firstNumber);
  ~Block();

  /// Runs all threads of the block at this index of the grid. False if the
  /// launch is over.
  bool run(uint64_t index);

  /// The cells of an access, which is aligned to its size and inside.
  std::span<SharedCell> cellsOf(uint64_t address, unsigned bytes) {
    if (bytes < cellBytes())
      divideCells();
    return {cells.data() + (address >> cellBits), bytes >> cellBits};
  }
  void setPending(uint64_t address, unsigned bytes, bool isPending) {
    for (SharedCell &cell : cellsOf(address, bytes))
      cell.isPending = isPending;
  }

  Memory &memory;
  Findings &findings;
  Fault fault = Fault::None;
  Dim3 position;        ///< in the grid
  uint32_t number = 0;  ///< in shadows
  uint32_t firstNumber; ///< the first number of the launch
  std::vector<uint8_t> shared;
  uint32_t barriers = 0; ///< passed by all warps
  uint64_t instructions = 0;

private:
  bool passBarriers();
  void divideCells();
  unsigned cellBytes() const { return 1u << cellBits; }

  const Launch &launch;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<Warp *> order;
  unsigned cellBits = 2; ///< log2 of a cell's bytes
  std::vector<SharedCell> cells;
  uint64_t random;
};

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_BLOCK_H
