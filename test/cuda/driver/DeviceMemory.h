//===- DeviceMemory.h - addresses that only devices can follow --*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_DRIVER_DEVICEMEMORY_H
#define WEFT_TEST_CUDA_DRIVER_DEVICEMEMORY_H

#include "weft/test/cuda/driver/Objects.h"

namespace weft::fake {

/// Allocates addresses in a reserved range that the host can neither read nor
/// write; the bytes are elsewhere. No address is used twice, so that a use
/// after a free is found. Pinned host memory is registered here, too.
class DeviceMemory {
public:
  struct Block {
    cuda::Context context = nullptr;
    uint64_t bytes = 0;
    uint8_t *host = nullptr;
    bool isData = false; ///< of a module
    std::string freedBy; ///< the call that freed it; the bytes no longer exist
  };

  /// Allocates; 0 if there is no address left. `checksWritten`: kernels must
  /// not read unwritten bytes.
  uint64_t allocate(cuda::Context context, uint64_t bytes, bool isData,
                    bool checksWritten);
  void free(uint64_t address, const std::string &by);
  /// The block with all these bytes and its first address; null if there is
  /// none.
  Block *find(uint64_t address, uint64_t bytes, uint64_t &first);
  /// The bytes as the host sees them; the block must exist.
  uint8_t *bytes(uint64_t address);
  ptx::Allocation *allocation(uint64_t address);
  void markWritten(uint64_t address, uint64_t bytes);

  void *pin(uint64_t bytes);
  bool unpin(void *memory);
  /// The first address of the pinned memory that has the bytes, or 0.
  uint64_t findPinned(const void *memory, uint64_t bytes) const;

  std::map<uint64_t, Block> blocks;
  std::map<uint64_t, uint64_t> pinned; ///< bytes by address

private:
  uint64_t next = 0, end = 0;
};

} // namespace weft::fake

#endif // WEFT_TEST_CUDA_DRIVER_DEVICEMEMORY_H
