//===- NpzArrays.cpp - arrays of an archive, read block by block ----------===//

#include "weft/base/WriteAll.h"
#include "weft/data/files/OpenFile.h"
#include "weft/data/formats/Npz.h"

#include <algorithm>
#include <memory>

namespace weft {

namespace {
/// Reads one array of an archive. Blocks that are not the whole array are read
/// from an unpacked copy, in a file or in memory, which is made, and its CRC
/// checked, when the first one is read.
class MemberReader {
public:
  MemberReader(std::shared_ptr<const NpzFile> file, std::string key,
               NpyHeader header)
      : file(std::move(file)), key(std::move(key)), header(std::move(header)) {}

  Result<Array> read(const ArrayBlock &block) {
    uint64_t all = uint64_t(*elementCount(header.shape));
    if (uint64_t(block.count) == all)
      return file->read(key);
    // Elements in Fortran order or with swapped bytes cannot be read as a
    // block.
    bool needsAll = header.fortranOrder || header.swapped;
    if (Status ok = needsAll ? readAll() : unpack(); !ok)
      return ok.error();
    Result<Array> values =
        needsAll ? inMemory->readBlock(block) : readUnpacked(block);
    if (block.first + uint64_t(block.count) == all) { // the last block
      inMemory.reset();
      unpacked.reset();
    }
    return values;
  }

private:
  std::string name() const { return file->path() + ": " + key; }

  Status readAll() {
    if (inMemory)
      return {};
    Result<Array> array = file->read(key);
    if (!array)
      return array.error();
    inMemory = storedInMemory({key, std::move(*array)});
    return {};
  }

  Status unpack() {
    if (unpacked)
      return {};
    const ZipReader &zip = file->archive();
    std::string member = key + ".npy";
    Result<OpenFile> to = openTemporary(name(), zip.member(member)->size);
    if (!to)
      return to.error();
    Status written =
        zip.readInChunks(member, [&](const uint8_t *chunk, size_t size) {
          return writeAll(*to, chunk, size) ? Status() : temporaryError(name());
        });
    if (written)
      unpacked.emplace(std::move(*to));
    return written;
  }

  Result<Array> readUnpacked(const ArrayBlock &block) const {
    std::optional<Array> values =
        readBlockAt(*unpacked, header.dataOffset, header.type, block);
    if (!values)
      return Error{name() + ": has fewer bytes than its shape; the file is "
                            "damaged, save it again"};
    return std::move(*values);
  }

  std::shared_ptr<const NpzFile> file;
  std::string key;
  NpyHeader header;
  std::optional<StoredArray> inMemory;
  std::optional<OpenFile> unpacked;
};
} // namespace

static Result<NpyHeader> headerOf(const NpzFile &file, const std::string &key) {
  const ZipReader::Member &member = *file.archive().member(key + ".npy");
  std::string name = file.path() + ": " + key;
  std::vector<uint8_t> start;
  Status read = file.archive().readInChunks(
      member.name, [&](const uint8_t *chunk, size_t size) {
        start.insert(start.end(), chunk, chunk + size);
        return start.size() < longestNpyHeader ? Status() : Error{"enough"};
      });
  if (!read && start.size() < longestNpyHeader)
    return read.error();
  return parseNpyHeader(start.data(), start.size(), member.size, name);
}

Result<std::vector<StoredArray>> openNpz(const std::string &path,
                                         const ReadLimits &limits) {
  Result<NpzFile> opened = NpzFile::open(path, limits);
  if (!opened)
    return opened.error();
  auto file = std::make_shared<const NpzFile>(std::move(*opened));
  std::vector<StoredArray> out;
  for (const std::string &key : file->keys()) {
    Result<NpyHeader> header = headerOf(*file, key);
    if (!header)
      return header.error();
    auto reader = std::make_shared<MemberReader>(file, key, *header);
    out.push_back(
        {key, header->type, header->shape,
         [reader](const ArrayBlock &block) { return reader->read(block); }});
  }
  return out;
}

} // namespace weft
