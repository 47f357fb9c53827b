//===- Files.h - whole files in, whole files out ----------------*- C++ -*-===//
//
//   Result<OutputFile> out = OutputFile::open("w.npz");  // before any work
//   ... train ...
//   out->write(bytes, size);
//   Status done = out->commit();                         // renamed into place
//
// A reader never sees an incomplete file: see abi/AtomicFile.h for files,
// links, pipes and devices.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FILES_FILES_H
#define WEFT_DATA_FILES_FILES_H

#include "weft/base/AtomicFile.h"
#include "weft/base/Result.h"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Limits on the memory that a reader may allocate for one file.
struct ReadLimits {
  uint64_t bytes = uint64_t(32) << 30;
  /// The limit for JSON, in a file or a member of an archive. A parsed text
  /// takes several times its bytes; the largest model.json of Keras' own models
  /// has 2 MB.
  uint64_t json = uint64_t(64) << 20;
};

/// The size of a regular file; fails for other paths.
Result<uint64_t> regularFileSize(const std::string &path);
Result<std::vector<uint8_t>> readFile(const std::string &path,
                                      const ReadLimits &limits = {});
/// Reads a regular file in chunks of at most 4 MiB, which `take` may refuse.
Status readFileInChunks(
    const std::string &path,
    const std::function<Status(const uint8_t *chunk, size_t size)> &take);
/// Reads the first `bytes` bytes of a regular file, or all if it has fewer.
Result<std::string> readStart(const std::string &path, size_t bytes);

class OutputFile {
public:
  static Result<OutputFile> open(const std::string &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  /// Removes the temporary file, if there was no commit().
  ~OutputFile();
  /// Writes bytes; errors are kept for commit().
  void write(const void *data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  uint64_t position() const { return written; }
  Status commit();

private:
  OutputFile(std::string path, AtomicFile file, std::FILE *stream)
      : path(std::move(path)), file(std::move(file)), stream(stream) {}

  std::string path;
  AtomicFile file;
  std::FILE *stream; ///< writes to a second descriptor of `file`
  uint64_t written = 0;
  int failure = 0; ///< errno of the first write that failed
};

} // namespace weft

#endif // WEFT_DATA_FILES_FILES_H
