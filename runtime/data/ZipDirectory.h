//===- ZipDirectory.h - where an archive has its members --------*- C++ -*-===//
//
// libzip hands on names as C strings, which end at a NUL that the archive may
// have in them, and does not tell where a member lies. This reads the central
// directory alone, in pieces.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_ZIPDIRECTORY_H
#define WEFT_RUNTIME_DATA_ZIPDIRECTORY_H

#include "weft/runtime/data/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct ZipEntry {
  std::string name;
  uint64_t header = 0; ///< where the file has the member's own header
};
/// In the order of the directory, of an archive with `count` members; an error
/// where the directory is not where the end of the file says.
Result<std::vector<ZipEntry>> zipEntries(const std::string &path,
                                         uint64_t count);
/// Where the bytes of a member begin, by its header; an error where there is no
/// header, or `size` bytes behind it reach over the end of the file.
Result<uint64_t> zipDataPlace(const std::string &path, uint64_t header,
                              uint64_t size);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ZIPDIRECTORY_H
