//===- Memory.h - memory that kernels may access ----------------*- C++ -*-===//
//
//   Memory memory;
//   memory.add({.name = "x", .address = 0x10000, .bytes = 4096, .host = x});
//   run(launch, memory, findings).footprint   // the bytes read and written
//
// Addresses are those of kernels; the bytes are at `host`. For each 4 bytes
// (each byte if a kernel uses bytes) the memory records which blocks of the
// launch read and wrote them, in pages that are created on their first use.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_MACHINE_MEMORY_H
#define WEFT_TEST_CUDA_MACHINE_MEMORY_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::ptx {

/// A block's conflict with other blocks that touch the same bytes.
enum class Conflict : uint8_t {
  None,
  ReadAfterWrite,
  WriteAfterRead,
  WriteAfterWrite,
  ReadOnly
};

struct Range {
  uint64_t address, bytes;
  bool operator==(const Range &) const = default;
};
struct Footprint {
  std::vector<Range> reads, writes;
};

/// The blocks of the running launch that touched the bytes of an allocation.
class Shadow {
public:
  static constexpr uint64_t kPageBytes = 4096;

  /// An access to bytes of one page by a block, whose number is first + its
  /// index.
  struct Access {
    uint64_t offset, bytes;
    unsigned width;        ///< of one element, a power of two; all are aligned
    uint32_t first, count; ///< the numbers of all blocks of the launch
    uint32_t block;
    bool isReadOnly;        ///< ld.global.nc
    const uint8_t *present; ///< the present bytes
    const uint8_t *stored;  ///< the bytes to write; null: a load
  };
  struct Found {
    Conflict conflict = Conflict::None;
    uint32_t other = 0;  ///< the number of the block in conflict
    uint64_t offset = 0; ///< in the access
  };
  Found note(const Access &access);
  /// Adds the bytes that blocks from number `first` on touched, and drops them.
  void collect(uint64_t address, uint32_t first, Footprint &to);
  void forget() { pages.clear(), touched.clear(); }

private:
  struct Cell {
    uint32_t writer = 0, reader = 0;
  };
  struct Page {
    unsigned unit = 4; ///< bytes of a cell
    uint32_t launch = 0;
    std::vector<Cell> cells;
  };
  Page &page(uint64_t offset, uint32_t first, unsigned width);
  static bool isCalm(const Access &access, const Cell *cells, uint64_t count);
  static Found check(const Access &access, const Cell &cell);

  std::vector<std::unique_ptr<Page>> pages;
  std::vector<uint64_t> touched;
};

struct Allocation {
  std::string name;
  uint64_t address = 0, bytes = 0; ///< the address is a multiple of 256
  uint8_t *host = nullptr;
  bool isConstant = false;
  /// Whether each byte was ever written; empty without this check.
  std::vector<bool> written;
  Shadow shadow;
};

class Memory {
public:
  /// Lets launches access the peer's memory, too, permanently.
  void addPeer(Memory &peer) { peers.push_back(&peer); }
  bool hasPeer(const Memory &peer) const;
  Allocation &add(Allocation allocation);
  void remove(uint64_t address);
  /// The allocation with this address, or null.
  Allocation *find(uint64_t address);
  /// The allocation that ends last before the address, or null.
  const Allocation *before(uint64_t address) const;
  /// Numbers for the blocks of a launch, unique over all memories.
  uint32_t numberBlocks(uint64_t blocks);
  /// The footprint of the launch whose blocks have numbers from `first` on.
  Footprint collect(uint32_t first);

private:
  std::vector<Memory *> all();
  std::map<uint64_t, Allocation> allocations;
  std::vector<Memory *> peers;
};

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_MEMORY_H
