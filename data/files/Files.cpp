#include "weft/data/files/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

/// The system's message, with a fix.
static std::string reason(int code) {
  std::string text = std::strerror(code);
  switch (code) {
  case ENOENT:
    return text + "; check the path";
  case EACCES:
  case EPERM:
  case EROFS:
    return text + "; check the permissions of the file and its folder";
  case ENOSPC:
  case EDQUOT:
    return text + "; free some space, or name a file on another disk";
  case EFBIG:
    return text + "; raise the limit of ulimit -f, or name a file elsewhere";
  case ENXIO:
    return text + "; of a pipe, start the process that reads it first";
  default:
    return text + "; name another file";
  }
}

Result<uint64_t> regularFileSize(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return Error{path + ": cannot be read: " + reason(errno)};
  if (S_ISDIR(info.st_mode))
    return Error{path +
                 ": is a directory, where a file is needed; name a file in it"};
  if (!S_ISREG(info.st_mode))
    return Error{
        path +
        ": is no regular file (a device or a pipe); copy it to a file first"};
  return uint64_t(info.st_size);
}

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

static Result<Stream> openStream(const std::string &path) {
  Stream stream(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!stream)
    return Error{path + ": cannot be read: " + reason(errno)};
  return stream;
}

Result<std::vector<uint8_t>> readFile(const std::string &path,
                                      const ReadLimits &limits) {
  Result<uint64_t> size = regularFileSize(path);
  if (!size)
    return size.error();
  if (*size > limits.bytes)
    return Error{path + ": has " + std::to_string(*size) +
                 " bytes, more than the limit of " +
                 std::to_string(limits.bytes) + "; split it"};
  Result<Stream> stream = openStream(path);
  if (!stream)
    return stream.error();
  std::vector<uint8_t> bytes(*size);
  size_t got = std::fread(bytes.data(), 1, bytes.size(), stream->get());
  if (got != bytes.size())
    return Error{
        path + ": " + std::to_string(got) + " of " +
        std::to_string(bytes.size()) +
        " bytes could be read; it changed while being read, or the disk fails"};
  return bytes;
}

Status readFileInChunks(
    const std::string &path,
    const std::function<Status(const uint8_t *chunk, size_t size)> &take) {
  Result<uint64_t> size = regularFileSize(path);
  if (!size)
    return size.error();
  Result<Stream> stream = openStream(path);
  if (!stream)
    return stream.error();
  std::vector<uint8_t> chunk(std::min<uint64_t>(*size + 1, 4 << 20));
  Status taken;
  size_t got = 0;
  while (taken &&
         (got = std::fread(chunk.data(), 1, chunk.size(), stream->get())) > 0)
    taken = take(chunk.data(), got);
  bool isBroken = std::ferror(stream->get()) != 0;
  if (taken && isBroken)
    return Error{path + ": cannot be read to its end; the disk fails"};
  return taken;
}

Result<std::string> readStart(const std::string &path, size_t bytes) {
  Result<uint64_t> size = regularFileSize(path);
  if (!size)
    return size.error();
  Result<Stream> stream = openStream(path);
  if (!stream)
    return stream.error();
  std::string start(bytes, '\0');
  start.resize(std::fread(start.data(), 1, bytes, stream->get()));
  return start;
}

Result<OutputFile> OutputFile::open(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return Error{
        path +
        ": is a directory, where a file is to be written; name a file in it"};
  AtomicFile file;
  if (int error = file.open(path))
    return Error{path + ": cannot be written: " + reason(error)};
  int copy = fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  std::FILE *stream = copy < 0 ? nullptr : fdopen(copy, "wb");
  if (!stream)
    return Error{path + ": cannot be written: " + reason(errno)};
  return OutputFile(path, std::move(file), stream);
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)), file(std::move(other.file)),
      stream(std::exchange(other.stream, nullptr)), written(other.written),
      failure(other.failure) {}

OutputFile::~OutputFile() {
  if (stream)
    std::fclose(stream);
}

void OutputFile::write(const void *data, size_t size) {
  if (!failure && size && std::fwrite(data, 1, size, stream) != size)
    failure = errno ? errno : EIO;
  written += size;
}

Status OutputFile::commit() {
  if (std::fclose(stream) != 0 && !failure)
    failure = errno;
  stream = nullptr;
  if (!failure)
    failure = file.commit();
  if (!failure)
    return {};
  file.discard();
  return Error{path + ": cannot be written: " + reason(failure)};
}

} // namespace weft
