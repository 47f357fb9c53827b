//===- WriteAll.h - write(2), until all is written --------------*- C++ -*-===//

#ifndef WEFT_BASE_WRITEALL_H
#define WEFT_BASE_WRITEALL_H

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <unistd.h>

namespace weft {

/// Writes all bytes, in several writes if a signal or a full pipe interrupts
/// one; returns false, with errno, for an error. Safe in a signal handler.
[[nodiscard]] inline bool writeAll(int file, const void *data, size_t size) {
  const char *at = static_cast<const char *>(data);
  while (size) {
    ssize_t written = write(file, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    at += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

/// Writes the last message of a process.
inline void writeMessage(int file, std::string_view text) {
  (void)writeAll(file, text.data(), text.size()); // nowhere else to report
}

} // namespace weft

#endif // WEFT_BASE_WRITEALL_H
