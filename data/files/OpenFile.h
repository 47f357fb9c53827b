//===- OpenFile.h - a file descriptor that closes itself --------*- C++ -*-===//
//
//   Result<OpenFile> file = openTemporary("t.csv", size);
//   writeAll(*file, bytes, size);
//   readAt(*file, 0, bytes, size);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FILES_OPENFILE_H
#define WEFT_DATA_FILES_OPENFILE_H

#include "weft/base/Result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace weft {

class OpenFile {
public:
  explicit OpenFile(int descriptor) : descriptor(descriptor) {}
  OpenFile(OpenFile &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  OpenFile &operator=(OpenFile &&) = delete;
  ~OpenFile();
  operator int() const { return descriptor; }

private:
  int descriptor;
};

Result<OpenFile> openToRead(const std::string &path);
/// Opens a file without a name: in memory for few bytes, else in the folder
/// TMPDIR, or else /var/tmp (/tmp often is memory). Messages begin with `name`.
Result<OpenFile> openTemporary(const std::string &name, uint64_t bytes);
/// Opens a file with a name in the same folder; the caller removes it.
Result<OpenFile> openNamedTemporary(const std::string &name, std::string &path);
/// The error if a temporary file cannot be written, with a fix; reads errno.
Error temporaryError(const std::string &name);
/// A path in /proc that refers to the open file.
std::string pathOf(const OpenFile &file);
/// The number of bytes of the file.
Result<uint64_t> sizeOf(const OpenFile &file, const std::string &name);
/// Reads the file from its start in chunks of at most 4 MiB. Messages begin
/// with `name`.
Status readInChunks(const OpenFile &file, const std::string &name,
                    const std::function<void(const void *, size_t)> &take);
/// Reads `size` bytes from `offset` on; false where there are fewer, or they
/// cannot be read.
bool readAt(const OpenFile &file, uint64_t offset, void *to, size_t size);

} // namespace weft

#endif // WEFT_DATA_FILES_OPENFILE_H
