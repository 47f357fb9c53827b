//===- ZipDirectory.h - where an archive has its members --------*- C++ -*-===//
//
// Reads the central directory in pieces. libzip returns names as C strings,
// which end at the first NUL, and does not give the positions of members.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_ZIPDIRECTORY_H
#define WEFT_DATA_FORMATS_ZIPDIRECTORY_H

#include "weft/base/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// The value of a size or position that is in the ZIP64 field instead.
constexpr uint32_t kInZip64 = 0xFFFFFFFF;

struct ZipEntry {
  std::string name;
  uint64_t header = 0; ///< position of the member's own header in the file
};
/// The entries in the order of the directory, for an archive with `count`
/// members; an error if the directory is not at the position given at the
/// file's end.
Result<std::vector<ZipEntry>> zipEntries(const std::string &path,
                                         uint64_t count);
/// The position of a member's first byte, from its header; an error if there is
/// no header, or `size` bytes after it exceed the file.
Result<uint64_t> zipDataPlace(const std::string &path, uint64_t header,
                              uint64_t size);

} // namespace weft

#endif // WEFT_DATA_FORMATS_ZIPDIRECTORY_H
