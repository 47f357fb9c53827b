//===- OrderedCrc.h - a CRC of bytes that are read in order -----*- C++ -*-===//
//
//   // Rows of 1 GiB after a header, and the CRC of both.
//   OrderedCrc crc("f.npz:x", header, 1 << 30, wanted);
//   Status ok = crc.add(0, bytes, 4096);             // the first bytes of the rows
//   ok = crc.add(8192, bytes, 4096);                 // not the next ones: ignored
//   ok = crc.add(4096, rest, (1 << 30) - 4096);      // the last ones: compared
//
// Members of an archive that are not unpacked are read once in order, when all
// data is scanned before training. Several threads may call add().
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FILES_ORDEREDCRC_H
#define WEFT_DATA_FILES_ORDEREDCRC_H

#include "weft/base/Result.h"

#include <cstdint>
#include <mutex>
#include <span>

namespace weft {

class OrderedCrc {
public:
  /// Messages begin with `name`; `size` bytes follow the header.
  OrderedCrc(std::string name, std::span<const uint8_t> header, uint64_t size,
             uint32_t wanted);
  /// Adds bytes at position `at` if they are the next ones; first bytes begin
  /// again. The last byte gives an error if the CRC differs. Later bytes are
  /// ignored.
  Status add(uint64_t at, const uint8_t *bytes, size_t count);

private:
  const std::string name;
  const uint64_t size;
  const uint32_t wanted, start; ///< `start`: CRC of the header
  std::mutex mutex;
  uint64_t done = 0;
  uint32_t crc;
};

} // namespace weft

#endif // WEFT_DATA_FILES_ORDEREDCRC_H
