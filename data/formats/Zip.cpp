#include "weft/data/formats/Zip.h"

#include "weft/data/formats/ZipDirectory.h"

#include <algorithm>
#include <set>
#include <zip.h>
#include <zlib.h>

namespace weft {

namespace {
/// The largest ratio of a valid member: DEFLATE expands by at most 1032, and
/// short streams need some slack.
constexpr uint64_t bestRatio = 1040;
constexpr size_t memberLimit = 1 << 20;
/// Limits of all members together: see Zip.h.
constexpr uint64_t sizeOfAnyRatio = uint64_t(1) << 30, mostRatio = 200;

/// Refuses a member by its directory entry.
Status checkMember(const zip_stat_t &info, uint64_t fileSize,
                   const ReadLimits &limits) {
  if (info.encryption_method != ZIP_EM_NONE)
    return Error{"is encrypted; save it without a password"};
  if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE)
    return Error{
        "is compressed with method " + std::to_string(info.comp_method) +
        ", only stored (0) and deflated (8) are known; save it with NumPy "
        "or Keras"};
  if (info.comp_size > fileSize)
    return Error{"claims " + std::to_string(info.comp_size) +
                 " bytes in a file of " + std::to_string(fileSize) +
                 "; the file is damaged"};
  if (info.comp_method == ZIP_CM_STORE ? info.size != info.comp_size
                                       : info.size / bestRatio > info.comp_size)
    return Error{"claims to grow from " + std::to_string(info.comp_size) +
                 " to " + std::to_string(info.size) +
                 " bytes, which no honest archive does; the file is damaged or "
                 "malicious"};
  if (info.size > limits.bytes)
    return Error{"has " + std::to_string(info.size) +
                 " bytes, more than the limit of " +
                 std::to_string(limits.bytes) + "; split it"};
  return {};
}
} // namespace

void ZipReader::Close::operator()(struct zip *archive) const {
  zip_discard(archive);
}

Result<ZipReader> ZipReader::open(const std::string &path,
                                  const ReadLimits &limits) {
  Result<uint64_t> size = regularFileSize(path);
  if (!size)
    return size.error();
  int code = 0;
  ZipReader reader;
  reader.file = path;
  reader.archive.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!reader.archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    return Error{path + ": is no ZIP archive that can be read: " + why +
                 "; .npz and .keras files are such archives"};
  }
  zip_int64_t count = zip_get_num_entries(reader.archive.get(), 0);
  if (uint64_t(count) > memberLimit)
    return Error{path + ": has " + std::to_string(count) +
                 " members, the limit is " + std::to_string(memberLimit) +
                 "; split it"};
  reader.limits = limits;
  if (Status claims = reader.checkClaims(*size); !claims)
    return claims.error();
  if (Status names = reader.checkNames(); !names)
    return names.error();
  return reader;
}

Status ZipReader::checkClaims(uint64_t fileSize) {
  uint64_t stored = 0, sizes = 0;
  zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t info;
    if (zip_stat_index(archive.get(), i, 0, &info) != 0)
      return Error{file + ": member " + std::to_string(i) + ": " +
                   zip_strerror(archive.get()) + "; the file is damaged"};
    Status honest = checkMember(info, fileSize, limits);
    // The sum of stored sizes must fit in the file, as overlapping members
    // could expand without limit.
    stored += info.comp_size;
    if (honest && stored > fileSize)
      honest = Error{"overlaps another one; the file is damaged or malicious"};
    if (!honest)
      return honest.in(file + ": member " + info.name);
    sizes += info.size; // no overflow: 2^20 members of limits.bytes at most
    list.push_back(
        {info.name, info.size, info.comp_method == ZIP_CM_STORE, info.crc, 0});
  }
  if (sizes > sizeOfAnyRatio && sizes / mostRatio > fileSize)
    return Error{file + ": its members grow from " + std::to_string(fileSize) +
                 " to " + std::to_string(sizes) + " bytes, more than " +
                 std::to_string(mostRatio) +
                 "-fold; if that is meant, save it without compression, as "
                 "numpy.savez does"};
  return {};
}

Status ZipReader::checkNames() {
  Result<std::vector<ZipEntry>> entries = zipEntries(file, list.size());
  if (!entries)
    return entries.error();
  std::set<std::string_view> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string where = file + ": member " + list[i].name + ": ";
    const std::string &name = (*entries)[i].name;
    list[i].header = (*entries)[i].header;
    if (name.find('\0') != std::string::npos)
      return Error{where + "has a NUL in its name, at which other programs cut "
                           "it; save it again"};
    if (!seen.insert(name).second)
      return Error{where + "is there twice, and programs differ in which one "
                           "they read; save it again"};
  }
  return {};
}

const ZipReader::Member *ZipReader::member(std::string_view name) const {
  auto found = std::find_if(list.begin(), list.end(),
                            [&](const Member &m) { return m.name == name; });
  return found == list.end() ? nullptr : &*found;
}

bool ZipReader::contains(std::string_view name) const {
  return member(name) != nullptr;
}

Status ZipReader::readInChunks(std::string_view name, const Take &take) const {
  std::string where = file + ": member " + std::string(name) + ": ";
  const Member *found = member(name);
  if (!found)
    return Error{where + "is missing; check how the file was saved"};
  zip_file_t *stream = zip_fopen_index(archive.get(), found - list.data(), 0);
  if (!stream)
    return Error{where + zip_strerror(archive.get()) + "; the file is damaged"};
  std::vector<uint8_t> chunk(std::min<uint64_t>(found->size + 1, 1 << 20));
  uint64_t done = 0;
  zip_int64_t got = 0;
  Status taken;
  // The read at the member's end makes libzip check the CRC.
  while (taken && (got = zip_fread(stream, chunk.data(), chunk.size())) > 0) {
    done += uint64_t(got);
    taken = done > found->size ? Status() : take(chunk.data(), size_t(got));
  }
  std::string why = got < 0 ? zip_file_strerror(stream) : "";
  zip_fclose(stream);
  if (got < 0)
    return Error{where + why + "; the file is damaged, save it again"};
  if (taken && done != found->size)
    return Error{where + "has " + std::to_string(done) +
                 " bytes, its directory says " + std::to_string(found->size) +
                 "; the file is damaged"};
  return taken;
}

Result<std::vector<uint8_t>> ZipReader::read(std::string_view name) const {
  std::vector<uint8_t> bytes;
  if (const Member *found = member(name))
    bytes.reserve(found->size);
  Status ok = readInChunks(name, [&](const uint8_t *chunk, size_t size) {
    bytes.insert(bytes.end(), chunk, chunk + size);
    return Status();
  });
  if (!ok)
    return ok.error();
  return bytes;
}

Result<std::string> ZipReader::readJson(std::string_view name) const {
  if (const Member *found = member(name); found && found->size > limits.json)
    return Error{file + ": member " + std::string(name) + ": has " +
                 std::to_string(found->size) +
                 " bytes, the limit for JSON "
                 "is " +
                 std::to_string(limits.json) + "; write it again"};
  Result<std::vector<uint8_t>> bytes = read(name);
  if (!bytes)
    return bytes.error();
  return std::string(bytes->begin(), bytes->end());
}

namespace {
/// Little-endian fields of ZIP headers.
struct Fields {
  std::string bytes;
  Fields &put(uint64_t value, int width) {
    for (int i = 0; i < width; ++i)
      bytes += char(value >> (8 * i) & 255);
    return *this;
  }
};
constexpr uint32_t midnight1980 = 0x00210000;
} // namespace

bool ZipWriter::Entry::isBig() const { return size >= kInZip64; }

/// Names are UTF-8; bit 3 says that a descriptor follows the member.
unsigned ZipWriter::Entry::flags() const { return isStreamed ? 0x808 : 0x800; }

void ZipWriter::writeHeader(const Entry &entry) {
  uint64_t size = entry.isStreamed ? 0 : entry.size;
  bool big = entry.isBig();
  Fields header;
  header.put(0x04034b50, 4).put(big ? 45 : 20, 2).put(entry.flags(), 2);
  header.put(0, 2).put(midnight1980, 4);
  header.put(entry.isStreamed ? 0 : entry.crc, 4);
  header.put(big ? kInZip64 : size, 4).put(big ? kInZip64 : size, 4);
  header.put(entry.name.size(), 2).put(big ? 20 : 0, 2);
  header.bytes += entry.name;
  if (big)
    header.put(1, 2).put(16, 2).put(size, 8).put(size, 8);
  file.write(header.bytes);
}

/// Continues a checksum. zlib begins a new one where `data` is null, as that of
/// an array without elements may be.
static uint32_t continued(uint32_t crc, const void *data, size_t size) {
  return size == 0
             ? crc
             : uint32_t(crc32_z(crc, static_cast<const Bytef *>(data), size));
}

void ZipWriter::add(const std::string &name, const std::vector<Chunk> &chunks) {
  Entry entry{name, 0, file.position(), uint32_t(crc32(0, nullptr, 0))};
  for (auto [data, size] : chunks) {
    entry.crc = continued(entry.crc, data, size);
    entry.size += size;
  }
  writeHeader(entry);
  for (auto [data, size] : chunks)
    file.write(data, size);
  entries.push_back(std::move(entry));
}

void ZipWriter::begin(const std::string &name, uint64_t size) {
  entries.push_back({name, size, file.position(),
                     uint32_t(crc32(0, nullptr, 0)), /*isStreamed=*/true});
  writeHeader(entries.back());
}

void ZipWriter::write(const void *data, size_t size) {
  uint32_t &crc = entries.back().crc;
  crc = continued(crc, data, size);
  file.write(data, size);
}

void ZipWriter::end() {
  const Entry &entry = entries.back();
  int width = entry.isBig() ? 8 : 4;
  Fields descriptor;
  descriptor.put(0x08074b50, 4).put(entry.crc, 4);
  descriptor.put(entry.size, width).put(entry.size, width);
  file.write(descriptor.bytes);
}

void ZipWriter::finish() {
  uint64_t begin = file.position();
  for (const Entry &entry : entries) {
    bool big = entry.isBig() || entry.offset >= kInZip64;
    Fields header;
    header.put(0x02014b50, 4)
        .put(0x300 | (big ? 45 : 20), 2)
        .put(big ? 45 : 20, 2);
    header.put(entry.flags(), 2).put(0, 2).put(midnight1980, 4);
    header.put(entry.crc, 4);
    header.put(big ? kInZip64 : entry.size, 4)
        .put(big ? kInZip64 : entry.size, 4);
    header.put(entry.name.size(), 2).put(big ? 28 : 0, 2).put(0, 2).put(0, 2);
    header.put(0, 2)
        .put(uint64_t(0100644) << 16, 4)
        .put(big ? kInZip64 : entry.offset, 4);
    header.bytes += entry.name;
    if (big)
      header.put(1, 2)
          .put(24, 2)
          .put(entry.size, 8)
          .put(entry.size, 8)
          .put(entry.offset, 8);
    file.write(header.bytes);
  }
  uint64_t end = file.position(), size = end - begin, count = entries.size();
  Fields tail;
  bool big = count >= 0xFFFF || begin >= kInZip64 || size >= kInZip64;
  if (big) {
    tail.put(0x06064b50, 4)
        .put(44, 8)
        .put(45, 2)
        .put(45, 2)
        .put(0, 4)
        .put(0, 4);
    tail.put(count, 8).put(count, 8).put(size, 8).put(begin, 8);
    tail.put(0x07064b50, 4).put(0, 4).put(end, 8).put(1, 4);
  }
  tail.put(0x06054b50, 4).put(0, 2).put(0, 2);
  tail.put(big ? 0xFFFF : count, 2).put(big ? 0xFFFF : count, 2);
  tail.put(big ? kInZip64 : size, 4).put(big ? kInZip64 : begin, 4).put(0, 2);
  file.write(tail.bytes);
}

} // namespace weft
