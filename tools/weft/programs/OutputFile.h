//===- OutputFile.h - files written whole or not at all ---------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMS_OUTPUTFILE_H
#define WEFT_TOOLS_WEFT_PROGRAMS_OUTPUTFILE_H

#include "weft/base/Result.h"

#include <string>
#include <string_view>

namespace weft::tool {
/// Writes to a temporary name beside the file and renames it; a path that
/// exists and is no regular file (device, pipe) is written directly. A failure
/// leaves the old file unchanged.
Status writeOutputFile(const std::string &path, std::string_view bytes);
} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PROGRAMS_OUTPUTFILE_H
