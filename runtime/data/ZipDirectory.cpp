#include "weft/runtime/data/ZipDirectory.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

namespace weft {

namespace {

/// Sizes and first bytes of the records of a ZIP file (PKWARE's APPNOTE 4.3).
constexpr size_t endSize = 22, locatorSize = 20, wideEndSize = 56,
                 entrySize = 46, longestComment = 65535;
constexpr uint32_t endMark = 0x06054b50, locatorMark = 0x07064b50,
                   wideEndMark = 0x06064b50, entryMark = 0x02014b50;

struct Close {
  void operator()(std::FILE *file) const { std::fclose(file); }
};

uint64_t number(const uint8_t *bytes, int width) {
  uint64_t value = 0;
  for (int i = width; i--;)
    value = value << 8 | bytes[i];
  return value;
}

bool readAt(std::FILE *file, uint64_t place, void *to, size_t bytes) {
  return place < uint64_t(INT64_MAX) &&
         fseeko(file, off_t(place), SEEK_SET) == 0 &&
         std::fread(to, 1, bytes, file) == bytes;
}

struct Directory {
  uint64_t place, count;
};

/// Where the directory begins, by the last record of the file.
std::optional<Directory> findDirectory(std::FILE *file) {
  if (fseeko(file, 0, SEEK_END) != 0)
    return std::nullopt;
  uint64_t size = uint64_t(ftello(file));
  uint64_t room = std::min<uint64_t>(size, endSize + longestComment);
  std::vector<uint8_t> tail(room);
  if (room < endSize || !readAt(file, size - room, tail.data(), room))
    return std::nullopt;
  for (size_t at = room - endSize + 1; at--;) {
    const uint8_t *end = &tail[at];
    if (number(end, 4) != endMark || number(end + 20, 2) != room - endSize - at)
      continue;
    Directory found{number(end + 16, 4), number(end + 10, 2)};
    uint8_t locator[locatorSize], wide[wideEndSize];
    uint64_t place = size - room + at;
    if (place >= locatorSize &&
        readAt(file, place - locatorSize, locator, locatorSize) &&
        number(locator, 4) == locatorMark &&
        readAt(file, number(locator + 8, 8), wide, wideEndSize) &&
        number(wide, 4) == wideEndMark)
      found = {number(wide + 48, 8), number(wide + 32, 8)};
    return found;
  }
  return std::nullopt;
}

} // namespace

Result<std::vector<std::string>> zipMemberNames(const std::string &path,
                                                uint64_t count) {
  Error damaged{path + ": is no ZIP archive that can be read: its directory is "
                       "not as the end of the file says; .npz and .keras files "
                       "are such archives"};
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  std::optional<Directory> directory;
  if (file)
    directory = findDirectory(file.get());
  if (!directory || directory->count != count)
    return damaged;
  std::vector<std::string> names;
  uint64_t place = directory->place;
  for (uint64_t i = 0; i < count; ++i) {
    uint8_t entry[entrySize];
    if (!readAt(file.get(), place, entry, entrySize) ||
        number(entry, 4) != entryMark)
      return damaged;
    std::string name(number(entry + 28, 2), '\0');
    if (std::fread(name.data(), 1, name.size(), file.get()) != name.size())
      return damaged;
    place +=
        entrySize + name.size() + number(entry + 30, 2) + number(entry + 32, 2);
    names.push_back(std::move(name));
  }
  return names;
}

} // namespace weft
