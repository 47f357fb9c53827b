//===- Threads.h - threads and indices for the runtime's kernels ----------===//
//
// Kernels are C++ for NVPTX without a C++ library. All parameters have eight
// bytes; a block takes pieces in steps of the grid, its threads take elements
// of a piece in steps of the block, so any number of blocks is correct.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_KERNELS_THREADS_H
#define WEFT_RUNTIME_DEVICES_CUDA_KERNELS_THREADS_H

#include "weft/runtime/collectives/Pieces.h"

#define WEFT_KERNEL extern "C" __attribute__((nvptx_kernel)) void

namespace {

using weft::runtime::MoveLoop;
using weft::runtime::MovePiece;
using weft::runtime::PickTable;
using weft::runtime::ReducePiece;

int64_t thread() { return __nvvm_read_ptx_sreg_tid_x(); }
int64_t threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
int64_t block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
int64_t blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }

#define WEFT_GLOBAL __attribute__((address_space(1)))
/// The arrays of all members, in memory of GPUs. Another GPU fills the targets
/// that are null.
using Sources = const uint8_t WEFT_GLOBAL *const *;
using Targets = uint8_t WEFT_GLOBAL *const *;

/// The word type in which elements of `bytes` bytes are copied.
template <int64_t bytes> struct WordOf {
  using Type = uint64_t;
};
template <> struct WordOf<1> {
  using Type = uint8_t;
};
template <> struct WordOf<2> {
  using Type = uint16_t;
};
template <> struct WordOf<4> {
  using Type = uint32_t;
};
template <typename T> using Word = typename WordOf<sizeof(T)>::Type;
template <typename T>
inline constexpr int64_t words = int64_t(sizeof(T) / sizeof(Word<T>));
template <typename T> struct Words {
  Word<T> all[words<T>];
};

template <typename T> T load(const uint8_t WEFT_GLOBAL *array, int64_t index) {
  auto *from = (const Word<T> WEFT_GLOBAL *)array + index * words<T>;
  Words<T> value;
  for (int64_t w = 0; w < words<T>; ++w)
    value.all[w] = from[w];
  return __builtin_bit_cast(T, value);
}
template <typename T>
void store(uint8_t WEFT_GLOBAL *array, int64_t index, T element) {
  auto *to = (Word<T> WEFT_GLOBAL *)array + index * words<T>;
  auto value = __builtin_bit_cast(Words<T>, element);
  for (int64_t w = 0; w < words<T>; ++w)
    to[w] = value.all[w];
}

/// An element of sixteen bytes: a complex number in two parts.
struct SixteenBytes {
  uint64_t low, high;
};

} // namespace

#endif // WEFT_RUNTIME_DEVICES_CUDA_KERNELS_THREADS_H
