#include "weft/data/files/OrderedCrc.h"

#include <cstdio>
#include <zlib.h>

namespace weft {

OrderedCrc::OrderedCrc(std::string name, std::span<const uint8_t> header,
                       uint64_t size, uint32_t wanted)
    : name(std::move(name)), size(size), wanted(wanted),
      start(uint32_t(crc32_z(0, header.data(), header.size()))), crc(start) {}

Status OrderedCrc::add(uint64_t at, const uint8_t *bytes, size_t count) {
  std::lock_guard<std::mutex> guard(mutex);
  if (done == size || (at != done && at != 0))
    return {};
  crc = uint32_t(crc32_z(at == 0 ? start : crc, bytes, count));
  done = at + count;
  if (done < size || crc == wanted)
    return {};
  done = 0;
  char text[64];
  std::snprintf(text, sizeof text, "%08x, its directory says %08x", crc,
                wanted);
  return Error{name + ": has the CRC " + text +
               "; the file is damaged, save it again"};
}

} // namespace weft
