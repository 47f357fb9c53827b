//===- ZipDirectory.h - the names of an archive's members -------*- C++ -*-===//
//
// libzip hands on names as C strings, which end at a NUL that the archive may
// have in them. This reads the central directory alone, in pieces.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_ZIPDIRECTORY_H
#define WEFT_RUNTIME_DATA_ZIPDIRECTORY_H

#include "weft/runtime/data/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// In the order of the directory, of an archive with `count` members; an error
/// where the directory is not where the end of the file says.
Result<std::vector<std::string>> zipMemberNames(const std::string &path,
                                                uint64_t count);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ZIPDIRECTORY_H
