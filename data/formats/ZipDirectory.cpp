#include "weft/data/formats/ZipDirectory.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

namespace weft {

namespace {

/// Sizes and first bytes of the records of a ZIP file (PKWARE's APPNOTE 4.3).
constexpr size_t endSize = 22, locatorSize = 20, wideEndSize = 56,
                 entrySize = 46, headerSize = 30, longestComment = 65535;
constexpr uint32_t endMark = 0x06054b50, locatorMark = 0x07064b50,
                   wideEndMark = 0x06064b50, entryMark = 0x02014b50,
                   headerMark = 0x04034b50;

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

/// The directory's position and its number of entries, from the last records of
/// the file.
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

/// The position of a member's header: in the entry, or in its ZIP64 field,
/// after the sizes in that field.
uint64_t headerPlace(const uint8_t *entry, const std::vector<uint8_t> &extra) {
  uint64_t place = number(entry + 42, 4);
  if (place != kInZip64)
    return place;
  size_t before = 8 * ((number(entry + 20, 4) == kInZip64) +
                       (number(entry + 24, 4) == kInZip64));
  for (size_t at = 0; at + 4 <= extra.size();) {
    size_t size = number(&extra[at + 2], 2);
    if (number(&extra[at], 2) == 1 && size >= before + 8 &&
        at + 4 + size <= extra.size())
      return number(&extra[at + 4 + before], 8);
    at += 4 + size;
  }
  return place;
}

} // namespace

Result<std::vector<ZipEntry>> zipEntries(const std::string &path,
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
  std::vector<ZipEntry> out;
  uint64_t place = directory->place;
  for (uint64_t i = 0; i < count; ++i) {
    uint8_t entry[entrySize];
    if (!readAt(file.get(), place, entry, entrySize) ||
        number(entry, 4) != entryMark)
      return damaged;
    std::string name(number(entry + 28, 2), '\0');
    std::vector<uint8_t> extra(number(entry + 30, 2));
    if (std::fread(name.data(), 1, name.size(), file.get()) != name.size() ||
        std::fread(extra.data(), 1, extra.size(), file.get()) != extra.size())
      return damaged;
    place += entrySize + name.size() + extra.size() + number(entry + 32, 2);
    out.push_back({std::move(name), headerPlace(entry, extra)});
  }
  return out;
}

Result<uint64_t> zipDataPlace(const std::string &path, uint64_t header,
                              uint64_t size) {
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  uint8_t bytes[headerSize];
  bool isThere = file && fseeko(file.get(), 0, SEEK_END) == 0;
  uint64_t end = isThere ? uint64_t(ftello(file.get())) : 0;
  if (!isThere || !readAt(file.get(), header, bytes, headerSize) ||
      number(bytes, 4) != headerMark)
    return Error{path + ": a member is not where its directory says; the file "
                        "is damaged"};
  uint64_t place =
      header + headerSize + number(bytes + 26, 2) + number(bytes + 28, 2);
  if (place > end || size > end - place)
    return Error{path + ": a member reaches over the end of the file; it was "
                        "cut off or is damaged"};
  return place;
}

} // namespace weft
