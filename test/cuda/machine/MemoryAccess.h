//===- MemoryAccess.h - the one way to a byte of memory ---------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_MACHINE_MEMORYACCESS_H
#define WEFT_TEST_CUDA_MACHINE_MEMORYACCESS_H

#include "weft/test/cuda/machine/Block.h"

namespace weft::ptx {

/// What a lane does at an address; or what all lanes do, one behind the other,
/// each with `bytes` of them.
struct Access {
  const Instruction &instruction;
  unsigned lane;
  Space space;
  uint64_t address;
  unsigned bytes;
  const uint8_t *stored = nullptr; ///< null: a load
};

/// Where the bytes lie; null after a report that ends the launch. Checks bounds,
/// alignment, races and whether the bytes were ever written.
uint8_t *reach(Warp &warp, const Access &access);
/// The same for `lanes` lanes that touch neighbouring bytes of global memory, or
/// null without a report: then each lane is to be asked by itself.
uint8_t *reachRow(Warp &warp, const Access &access, unsigned lanes);

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_MEMORYACCESS_H
