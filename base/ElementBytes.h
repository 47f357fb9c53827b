//===- ElementBytes.h - bytes of an element in memory -----------*- C++ -*-===//
//
//   f32            one component of 32 bits       4 bytes
//   i1, i4         one component of 1, 4 bits     1 byte, the least
//   complex<f64>   two components of 64 bits     16 bytes
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_ELEMENTBYTES_H
#define WEFT_BASE_ELEMENTBYTES_H

#include <cstdint>

namespace weft {

constexpr int64_t elementBytes(int64_t componentBits, int64_t components = 1) {
  return components * ((componentBits + 7) / 8);
}

} // namespace weft

#endif // WEFT_BASE_ELEMENTBYTES_H
