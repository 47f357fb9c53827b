//===- Files.h - whole files in, whole files out ----------------*- C++ -*-===//
//
//   Result<OutputFile> out = OutputFile::open("w.npz");  // tried before work
//   ... train ...
//   out->write(bytes, size);
//   Status done = out->commit();                         // renamed into place
//
// A reader never sees half a file: the bytes go to a temporary name beside it
// that commit() renames. A path that exists and is no regular file (a device,
// a pipe) is written directly and never replaced.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_FILES_H
#define WEFT_RUNTIME_DATA_FILES_H

#include "weft/runtime/data/Result.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// What a reader may allocate for one file.
struct ReadLimits {
  uint64_t bytes = uint64_t(32) << 30;
};

/// Fails unless `path` is a regular file; returns its size.
Result<uint64_t> regularFileSize(const std::string &path);
Result<std::vector<uint8_t>> readFile(const std::string &path,
                                      const ReadLimits &limits = {});

class OutputFile {
public:
  static Result<OutputFile> open(const std::string &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  /// Without commit() the temporary file is removed.
  ~OutputFile();
  /// Errors are kept for commit().
  void write(const void *data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  uint64_t position() const { return written; }
  Status commit();

private:
  OutputFile(std::string path, std::string temporary, std::FILE *stream)
      : path(std::move(path)), temporary(std::move(temporary)), stream(stream) {
  }

  std::string path;
  std::string temporary; ///< empty: written directly
  std::FILE *stream;
  uint64_t written = 0;
  int failure = 0; ///< errno of the first write that failed
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_FILES_H
