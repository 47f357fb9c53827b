#include "weft/runtime/sources/RowCollector.h"

#include "weft/runtime/program/WriteAll.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace weft {

static std::string folderOfTemporaries() {
  const char *named = std::getenv("TMPDIR");
  return named && *named ? named : "/var/tmp";
}

/// With what a person can do.
static Error cannotWrite(const std::string &name) {
  return {name + ": cannot be unpacked to a file in " + folderOfTemporaries() +
          ": " + std::strerror(errno) +
          "; free some space there, or name another folder with TMPDIR"};
}

Result<int> RowCollector::descriptor() {
  if (file)
    return int(*file);
  std::string path = folderOfTemporaries() + "/weft-rows-XXXXXX";
  int made = mkostemp(path.data(), O_CLOEXEC);
  if (made < 0)
    return cannotWrite(name);
  unlink(path.c_str()); // it lasts as long as it is open
  file.emplace(made);
  return made;
}

Status RowCollector::flush() {
  Result<int> to = descriptor();
  if (!to)
    return to.error();
  if (!writeAll(*to, bytes.data(), bytes.size()))
    return cannotWrite(name);
  bytes.clear();
  return {};
}

Status RowCollector::add(const void *data, size_t size) {
  const auto *from = static_cast<const uint8_t *>(data);
  bytes.insert(bytes.end(), from, from + size);
  bool isFull =
      file ? bytes.size() >= (size_t(1) << 20) : bytes.size() > inMemory;
  return isFull ? flush() : Status{};
}

Result<Rows> RowCollector::finish(ElementType type, Shape shape, bool swapped) {
  if (!file && !swapped)
    return Rows(std::make_shared<MemoryRows>(
        Array{type, std::move(shape), std::move(bytes)}));
  if (Status ok = flush(); !ok)
    return ok.error();
  return Rows(std::make_shared<FileRows>(name, std::move(*file),
                                         FileRows::Place{0, swapped}, type,
                                         std::move(shape)));
}

} // namespace weft
