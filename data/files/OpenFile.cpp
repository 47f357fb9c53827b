#include "weft/data/files/OpenFile.h"

#include "weft/data/files/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

/// The most bytes of a temporary file in memory.
static constexpr uint64_t kMostInMemory = uint64_t(16) << 20;

OpenFile::~OpenFile() {
  if (descriptor >= 0)
    close(descriptor);
}

Result<OpenFile> openToRead(const std::string &path) {
  Result<uint64_t> size = regularFileSize(path);
  if (!size)
    return size.error();
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Error{path + ": cannot be read: " + std::strerror(errno) +
                 "; check the permissions of the file and its folder"};
  return OpenFile(descriptor);
}

static std::string folderOfTemporaries() {
  const char *named = std::getenv("TMPDIR");
  return named && *named ? named : "/var/tmp";
}

Error temporaryError(const std::string &name) {
  const char *fix =
      errno == EFBIG ? "raise the limit of ulimit -f" : "free some space there";
  return {name + ": a temporary file in " + folderOfTemporaries() +
          " cannot be written: " + std::strerror(errno) + "; " + fix +
          ", or name another folder with TMPDIR"};
}

Result<OpenFile> openNamedTemporary(const std::string &name,
                                    std::string &path) {
  path = folderOfTemporaries() + "/weft-XXXXXX";
  int made = mkostemp(path.data(), O_CLOEXEC);
  if (made < 0)
    return temporaryError(name);
  return OpenFile(made);
}

Result<OpenFile> openTemporary(const std::string &name, uint64_t bytes) {
  if (bytes <= kMostInMemory)
    if (int file = memfd_create("weft", MFD_CLOEXEC); file >= 0)
      return OpenFile(file);
  std::string path;
  Result<OpenFile> made = openNamedTemporary(name, path);
  if (made)
    unlink(path.c_str()); // the file exists as long as it is open
  return made;
}

std::string pathOf(const OpenFile &file) {
  return "/proc/self/fd/" + std::to_string(int(file));
}

Result<uint64_t> sizeOf(const OpenFile &file, const std::string &name) {
  struct stat info;
  if (fstat(file, &info) != 0)
    return temporaryError(name);
  return uint64_t(info.st_size);
}

Status readInChunks(const OpenFile &file, const std::string &name,
                    const std::function<void(const void *, size_t)> &take) {
  Result<uint64_t> size = sizeOf(file, name);
  if (!size)
    return size.error();
  std::vector<uint8_t> chunk(std::min<uint64_t>(*size, 4 << 20));
  for (uint64_t at = 0; at < *size; at += chunk.size()) {
    chunk.resize(std::min<uint64_t>(chunk.size(), *size - at));
    if (!readAt(file, at, chunk.data(), chunk.size()))
      return temporaryError(name);
    take(chunk.data(), chunk.size());
  }
  return {};
}

bool readAt(const OpenFile &file, uint64_t offset, void *to, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t got = pread(file, static_cast<uint8_t *>(to) + done, size - done,
                        off_t(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    done += size_t(got);
  }
  return true;
}

} // namespace weft
