//===- ArrayFile.h - a file or folder that holds arrays ---------*- C++ -*-===//
//
//   auto file = ArrayFile::open("mnist.npz", {});
//   (*file)->keys();                                  // x_train, y_train, ...
//   Result<Rows> x = (*file)->rows("x_train", {});
//
//   Result<Rows> y = openRows("d.h5:labels[0:1280]", {});
//
// .npz and HDF5 files give their arrays by name; a table (.csv) and a folder of
// images give "x" and "y", see CsvTable.h and ImageFolder.h; an .npy file is
// for openRows() only. Arrays of up to `inMemory` bytes are read whole. Larger
// ones are read a batch at a time: from the file itself if its rows are
// contiguous (.npy, .npz that is not compressed, HDF5 without chunks), else
// from an unpacked copy in a temporary file (RowCollector.h); Fortran's order
// is refused.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_SOURCES_ARRAYFILE_H
#define WEFT_DATA_SOURCES_ARRAYFILE_H

#include "weft/data/formats/Npz.h"
#include "weft/data/images/ImageOptions.h"
#include "weft/data/sources/RowSource.h"
#include "weft/data/sources/Vocabulary.h"

namespace weft {

struct SourceOptions {
  uint64_t inMemory = uint64_t(256) << 20;
  /// Columns of a table, each as [NAME=]a,b,c.
  std::vector<std::string> inputs = {}, targets = {};
  /// The values of a table's missing fields, each as [COLUMN=]VALUE.
  std::vector<std::string> missing = {};
  /// The numbers of a table's texts, to which training data add theirs; null:
  /// each table has its own.
  std::shared_ptr<Vocabulary> vocabulary = nullptr;
  ImageOptions images = {};
  ReadLimits limits = {};
};

/// What a file or folder of data is.
enum class SourceKind { Arrays, Table, Images };
/// Decides by the name, the first bytes and whether columns are given.
Result<SourceKind> sourceKind(const std::string &path,
                              const SourceOptions &options);
/// Fails for options of tables, or of images, if no path is one.
Status checkSourceOptions(const std::vector<std::string> &paths,
                          const SourceOptions &options);

class ArrayFile {
public:
  virtual ~ArrayFile() = default;
  /// Opens a file or folder of any kind.
  static Result<std::unique_ptr<ArrayFile>> open(const std::string &path,
                                                 const SourceOptions &options);
  const std::string &path() const { return file; }
  virtual std::vector<std::string> keys() const = 0;
  bool contains(std::string_view key) const;
  /// The rows of an array. `sample`: the wanted shape of a sample, for arrays
  /// without one. An array has at least one dimension.
  virtual Result<Rows> rows(const std::string &key, const Shape &sample) = 0;

  /// The rule by which keys are defined, for files without keys.
  virtual Message hint() const { return ""; }
  /// Lines of text on what was read and what was not: columns of a table.
  virtual std::vector<std::string> notes() const { return {}; }

protected:
  explicit ArrayFile(std::string path) : file(std::move(path)) {}

private:
  std::string file;
};

/// Opens `f.npz:key[0:1280]`, `f.npy[:100]`, `f.h5:key`.
Result<Rows> openRows(const std::string &text, const SourceOptions &options);

} // namespace weft

#endif // WEFT_DATA_SOURCES_ARRAYFILE_H
