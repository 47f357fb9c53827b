//===- OrderedCrc.h - a CRC of bytes that are read in order -----*- C++ -*-===//
//
//   // Rows of 1 GiB behind a header, and the CRC of both.
//   OrderedCrc crc("f.npz:x", header, 1 << 30, wanted);
//   Status ok = crc.add(0, bytes, 4096);             // the first bytes of the rows
//   ok = crc.add(8192, bytes, 4096);                 // not the next ones: ignored
//   ok = crc.add(4096, rest, (1 << 30) - 4096);      // the last ones: compared
//
// Members of archives that are read where they lie are read in order once, when all
// data are scanned before training. Several threads may add.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_ORDEREDCRC_H
#define WEFT_RUNTIME_DATA_ORDEREDCRC_H

#include "weft/runtime/data/Result.h"

#include <cstdint>
#include <mutex>
#include <span>

namespace weft {

class OrderedCrc {
public:
  /// Messages begin with `name`; `size` bytes follow the header.
  OrderedCrc(std::string name, std::span<const uint8_t> header, uint64_t size,
             uint32_t wanted);
  /// Takes bytes from `at` on if they are the next ones, or the first ones again. An
  /// error with the last byte if the CRC is another; later ones are ignored.
  Status add(uint64_t at, const uint8_t *bytes, size_t count);

private:
  const std::string name;
  const uint64_t size;
  const uint32_t wanted, start; ///< `start`: of the header
  std::mutex mutex;
  uint64_t done = 0;
  uint32_t crc;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ORDEREDCRC_H
