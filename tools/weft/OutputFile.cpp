//===- OutputFile.cpp - files written whole or not at all ------------------===//

#include "weft/tools/weft/OutputFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static std::string reason(const std::string &path, const char *what) {
  return path + ": " + what + ": " + std::strerror(errno);
}

static bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string weft::tool::writeOutputFile(const std::string &path,
                                        std::string_view bytes) {
  struct stat info;
  bool special = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  std::string name =
      special ? path : path + ".tmp" + std::to_string(::getpid());
  int descriptor =
      ::open(name.c_str(), special ? O_WRONLY : O_WRONLY | O_CREAT | O_TRUNC,
             0666);
  if (descriptor < 0)
    return reason(path, "cannot be written");
  bool written = writeAll(descriptor, bytes);
  std::string error = written ? "" : reason(path, "writing failed");
  if (::close(descriptor) != 0 && error.empty())
    error = reason(path, "closing failed");
  if (special)
    return error;
  if (error.empty() && ::rename(name.c_str(), path.c_str()) != 0)
    error = reason(path, "renaming failed");
  if (!error.empty())
    ::unlink(name.c_str());
  return error;
}
