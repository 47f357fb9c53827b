//===- MemoryAccess.h - the one way to a byte of memory ---------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_MACHINE_MEMORYACCESS_H
#define WEFT_TEST_CUDA_MACHINE_MEMORYACCESS_H

#include "weft/test/cuda/machine/Block.h"

namespace weft::ptx {

/// An access of a lane at an address; or of all lanes, one after the other,
/// with `bytes` each.
struct Access {
  const Instruction &instruction;
  unsigned lane;
  Space space;
  uint64_t address;
  unsigned bytes;
  const uint8_t *stored = nullptr; ///< null: a load
};

/// The bytes of an access; null after a report that ends the launch. Checks
/// bounds, alignment, races and whether the bytes were ever written.
uint8_t *reach(Warp &warp, const Access &access);
/// Fills the bytes that each active lane of a load reads, at its address, which
/// is the first source plus the offset. False after a report that ends the
/// launch.
bool reachLanes(Warp &warp, const Instruction &instruction, unsigned bytes,
                Mask active, const uint8_t **at);
/// The bytes of `lanes` lanes that access adjacent bytes of global memory, or
/// null without a report: then reach() must be called for each lane.
uint8_t *reachRow(Warp &warp, const Access &access, unsigned lanes);

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_MEMORYACCESS_H
