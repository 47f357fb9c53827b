//===- OpenFile.h - a file descriptor that closes itself --------*- C++ -*-===//
//
//   Result<OpenFile> file = openTemporary("t.csv", size);
//   writeAll(*file, bytes, size);
//   readAt(*file, 0, bytes, size);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_OPENFILE_H
#define WEFT_RUNTIME_DATA_OPENFILE_H

#include "weft/runtime/data/Result.h"

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
/// Opens a file in that folder with a name, which the caller removes.
Result<OpenFile> openNamedTemporary(const std::string &name, std::string &path);
/// The error if such a file cannot be written, with a fix; reads errno.
Error temporaryError(const std::string &name);
/// A path by which the system knows the open file.
std::string pathOf(const OpenFile &file);
/// The bytes that it has.
Result<uint64_t> sizeOf(const OpenFile &file, const std::string &name);
/// Its bytes from the first on, in chunks of at most 4 MiB. `name` begins messages.
Status readInChunks(const OpenFile &file, const std::string &name,
                    const std::function<void(const void *, size_t)> &take);
/// Reads `size` bytes from `offset` on; false where there are fewer.
bool readAt(const OpenFile &file, uint64_t offset, void *to, size_t size);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_OPENFILE_H
