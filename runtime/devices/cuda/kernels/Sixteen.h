//===- Sixteen.h - accesses of sixteen bytes --------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_KERNELS_SIXTEEN_H
#define WEFT_RUNTIME_DEVICES_CUDA_KERNELS_SIXTEEN_H

#include "weft/runtime/devices/cuda/kernels/Threads.h"

namespace {

/// Sixteen bytes that are loaded and stored at once, at an address that is a
/// multiple of sixteen.
using Sixteen = uint64_t __attribute__((vector_size(16)));
inline Sixteen loadSixteen(const uint8_t WEFT_GLOBAL *from) {
  return *(const Sixteen WEFT_GLOBAL *)from;
}
inline void storeSixteen(uint8_t WEFT_GLOBAL *to, Sixteen value) {
  *(Sixteen WEFT_GLOBAL *)to = value;
}
inline uint64_t addressOf(const uint8_t WEFT_GLOBAL *pointer) {
  return (uint64_t)pointer;
}

} // namespace

#endif // WEFT_RUNTIME_DEVICES_CUDA_KERNELS_SIXTEEN_H
