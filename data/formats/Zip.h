//===- Zip.h - ZIP archives, as NumPy and Keras use them --------*- C++ -*-===//
//
//   Result<ZipReader> zip = ZipReader::open("m.keras");
//   Result<std::vector<uint8_t>> config = zip->read("config.json");
//
//   ZipWriter writer(file);                 // an OutputFile
//   writer.add("x.npy", {{header, n}, {elements, m}});
//   writer.begin("y.npy", size);            // written in chunks
//   writer.write(chunk, n);
//   writer.end();
//   writer.finish();
//
// Members may be stored or deflated when read; they are stored when written,
// dated 1980-01-01, so that the same content gives the same bytes.
//
// The memory for an archive is bounded before anything is read: no member
// claims more than 1040 times its bytes (DEFLATE's best ratio is 1032), and all
// together take no more than 1 GiB or 200 times the file, whichever is more.
// Measured ratios: weights 1.1, JSON of models 6 to 12, padded texts 30 to 50,
// masks of images 470, one-hot labels of 1,000 classes 605. So only nearly
// constant arrays of more than 1 GiB are refused, unless they are saved without
// compression.
//
// Duplicate names and names with a NUL are refused, as programs differ in how
// they read them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_ZIP_H
#define WEFT_DATA_FORMATS_ZIP_H

#include "weft/data/files/Files.h"

#include <functional>
#include <memory>
#include <utility>

struct zip;

namespace weft {

class ZipReader {
public:
  static Result<ZipReader> open(const std::string &path,
                                const ReadLimits &limits = {});
  struct Member {
    std::string name;
    uint64_t size;
    bool isStored;   ///< without compression
    uint32_t crc;    ///< from the central directory
    uint64_t header; ///< position of the member's own header in the file
  };
  const std::vector<Member> &members() const { return list; }
  bool contains(std::string_view name) const;
  /// Reads a member, and checks the CRC.
  Result<std::vector<uint8_t>> read(std::string_view name) const;
  /// Reads the member in chunks of at most 1 MiB, which `take` may refuse.
  /// Checks the CRC at the end.
  using Take = std::function<Status(const uint8_t *chunk, size_t size)>;
  Status readInChunks(std::string_view name, const Take &take) const;
  /// The member with this name, or null.
  const Member *member(std::string_view name) const;
  /// Reads a member of JSON, of at most limits.json bytes.
  Result<std::string> readJson(std::string_view name) const;
  const std::string &path() const { return file; }

private:
  struct Close {
    void operator()(struct zip *archive) const;
  };
  Status checkClaims(uint64_t fileSize);
  Status checkNames();
  std::string file;
  ReadLimits limits;
  std::unique_ptr<struct zip, Close> archive;
  std::vector<Member> list;
};

class ZipWriter {
public:
  explicit ZipWriter(OutputFile &file [[clang::lifetimebound]]) : file(file) {}
  using Chunk = std::pair<const void *, size_t>;
  void add(const std::string &name, const std::vector<Chunk> &chunks);
  /// Begins a member of `size` bytes that are written in pieces; its CRC
  /// follows them.
  void begin(const std::string &name, uint64_t size);
  void write(const void *data, size_t size);
  void end();
  /// Writes the central directory; the caller commits the file.
  void finish();

private:
  struct Entry {
    std::string name;
    uint64_t size, offset;
    uint32_t crc;
    bool isStreamed = false; ///< the header does not say size and CRC
    bool isBig() const;
    unsigned flags() const;
  };
  void writeHeader(const Entry &entry);
  OutputFile &file;
  std::vector<Entry> entries;
};

} // namespace weft

#endif // WEFT_DATA_FORMATS_ZIP_H
