//===- Zip.h - ZIP archives, as NumPy and Keras use them --------*- C++ -*-===//
//
//   Result<ZipReader> zip = ZipReader::open("m.keras");
//   Result<std::vector<uint8_t>> config = zip->read("config.json");
//
//   ZipWriter writer(file);                 // an OutputFile
//   writer.add("x.npy", {{header, n}, {elements, m}});
//   writer.finish();
//
// Members may be stored or deflated when read; they are stored when written,
// dated 1980-01-01, so that the same content gives the same bytes. No
// allocation is larger than what the file can honestly hold: a member that
// claims more than DEFLATE's best ratio is refused before it is read.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_ZIP_H
#define WEFT_RUNTIME_DATA_ZIP_H

#include "weft/runtime/data/Files.h"

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
  };
  const std::vector<Member> &members() const { return list; }
  bool contains(std::string_view name) const;
  /// Checks the CRC.
  Result<std::vector<uint8_t>> read(std::string_view name) const;
  const std::string &path() const { return file; }

private:
  struct Close {
    void operator()(struct zip *archive) const;
  };
  std::string file;
  std::unique_ptr<struct zip, Close> archive;
  std::vector<Member> list;
};

class ZipWriter {
public:
  explicit ZipWriter(OutputFile &file) : file(file) {}
  using Piece = std::pair<const void *, size_t>;
  void add(const std::string &name, const std::vector<Piece> &pieces);
  /// The central directory; the caller commits the file.
  void finish();

private:
  struct Entry {
    std::string name;
    uint64_t size, offset;
    uint32_t crc;
  };
  OutputFile &file;
  std::vector<Entry> entries;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ZIP_H
