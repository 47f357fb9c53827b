//===- Npz.h - NumPy's archives of arrays -----------------------*- C++ -*-===//
//
//   Result<NpzFile> npz = NpzFile::open("mnist.npz");
//   Result<Array> x = npz->read("x_train");
//   Result<Array> y = loadArray("mnist.npz:y_train[0:1280]");
//   Status ok = writeNpz("w.npz", {{"d1/kernel", kernel}});
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_NPZ_H
#define WEFT_DATA_FORMATS_NPZ_H

#include "weft/data/arrays/StoredArray.h"
#include "weft/data/formats/Npy.h"
#include "weft/data/formats/Zip.h"

namespace weft {

class NpzFile {
public:
  static Result<NpzFile> open(const std::string &path,
                              const ReadLimits &limits = {});
  /// The keys in the order of the file, without `.npy`.
  const std::vector<std::string> &keys() const { return names; }
  bool contains(std::string_view key) const;
  Result<Array> read(std::string_view key) const;
  const std::string &path() const { return zip.path(); }
  const ZipReader &archive() const { return zip; }

private:
  explicit NpzFile(ZipReader zip) : zip(std::move(zip)) {}
  ZipReader zip;
  std::vector<std::string> names;
};

/// Opens the arrays, which are read, and their CRCs checked, when they are
/// needed. Blocks of an array above 16 MiB come from a copy of it in a
/// temporary file, or in memory for Fortran's order or the other byte order.
Result<std::vector<StoredArray>> openNpz(const std::string &path,
                                         const ReadLimits &limits = {});
Result<std::vector<NamedArray>> readNpz(const std::string &path,
                                        const ReadLimits &limits = {});
/// Adds NAME.npy, block by block.
Status addNpy(ZipWriter &writer, const StoredArray &array);
/// Writes an archive without compression. A reader never sees half a file.
Status writeNpz(const std::string &path, const std::vector<NamedArray> &arrays);
Status writeNpz(OutputFile &file, const std::vector<NamedArray> &arrays);
/// Writes an archive block by block. All processes whose devices have the
/// arrays call it; one of them writes the file.
Status writeNpz(const std::string &path, const std::vector<StoredArray> &arrays,
                bool writesFile);

/// The source of an array: `f.npz:key[0:1280]`, `f.npz:key`, `f.npy[:100]`,
/// `f.npy`, `f.h5:key`.
struct ArraySource {
  std::string path, key;
  std::optional<int64_t> begin, end; ///< a slice of the first dimension
};
Result<ArraySource> parseArraySource(const std::string &text);
/// The bounds of a slice. Negative ones count from the end and those past it
/// are cut, as in Python; an empty slice, or one of a scalar, is an error.
Result<std::pair<int64_t, int64_t>> sliceBounds(const ArraySource &source,
                                                const Shape &shape);
/// Reads an array of an .npz or .npy file.
Result<Array> loadArray(const ArraySource &source,
                        const ReadLimits &limits = {});
Result<Array> loadArray(const std::string &source,
                        const ReadLimits &limits = {});

} // namespace weft

#endif // WEFT_DATA_FORMATS_NPZ_H
