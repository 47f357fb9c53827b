//===- ElementBytes.h - bytes of an element in memory -----------*- C++ -*-===//
//
//   f32            one part of 32 bits       4 bytes
//   i1, i4         one part of 1, 4 bits     1 byte: parts take whole bytes
//   complex<f64>   two parts of 64 bits     16 bytes
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_ELEMENTBYTES_H
#define WEFT_LAYOUT_ELEMENTBYTES_H

#include <cstdint>

namespace weft {

constexpr int64_t elementBytes(int64_t bitsOfPart, int64_t parts = 1) {
  return parts * ((bitsOfPart + 7) / 8);
}

} // namespace weft

#endif // WEFT_LAYOUT_ELEMENTBYTES_H
