//===- AsyncCopy.h - copies that a thread waits for -------------*- C++ -*-===//
//
// cp.async reads global memory and writes shared memory at some time until its
// thread waits for its group. Here it does so as late as possible, and until
// then other accesses to the written bytes are errors.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_MACHINE_ASYNCCOPY_H
#define WEFT_TEST_CUDA_MACHINE_ASYNCCOPY_H

#include "weft/test/cuda/machine/Code.h"

namespace weft::ptx {

struct AsyncCopy {
  const Instruction *instruction;
  uint64_t shared, global;
  unsigned bytes, filled; ///< the rest becomes zero
  uint32_t group;
};

/// The unfinished copies of one thread.
struct AsyncCopies {
  std::vector<AsyncCopy> pending;
  uint32_t group = 0; ///< the group of the next copy
};

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_ASYNCCOPY_H
