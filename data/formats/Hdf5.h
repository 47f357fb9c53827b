//===- Hdf5.h - Keras' weight files -----------------------------*- C++ -*-===//
//
//   Result<std::vector<StoredArray>> w = openHdf5("m.weights.h5");
//   // {"layers/dense/vars/0", kernel}, {"layers/dense/vars/1", bias}, ...
//
//   Result<Hdf5Writer> writer = Hdf5Writer::create("m.weights.h5", groups);
//   Status read = writer->add(kernel);             // layers/dense/vars/0
//   Result<OpenFile> file = writer->finish();      // to be copied to its place
//
// A block of one array at a time is in memory. The library reads in a child
// process, because it crashes on some damaged files; real elements that are
// contiguous and little-endian in the file are read without it. Only plain
// datasets are followed: soft and external links, virtual and external datasets
// are refused. The HDF5 library keeps global state: call from one thread at a
// time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_HDF5_H
#define WEFT_DATA_FORMATS_HDF5_H

#include "weft/data/arrays/StoredArray.h"
#include "weft/data/files/Files.h"
#include "weft/data/files/OpenFile.h"

#include <memory>

namespace weft {

/// A group that exists although it may hold no dataset; `name` becomes its
/// attribute, if it is not empty.
struct Hdf5Group {
  std::string path;
  std::string name;
};

/// Lists every numeric dataset, by path without a leading slash. The file stays
/// open as long as any of them exists. All together have at most limits.bytes
/// bytes.
Result<std::vector<StoredArray>> openHdf5(const std::string &path,
                                          const ReadLimits &limits = {});
/// Lists the datasets of an open file, which messages call `where`.
Result<std::vector<StoredArray>> openHdf5(OpenFile file,
                                          const std::string &where,
                                          const ReadLimits &limits = {});

/// Writes a file of datasets to a temporary file, one dataset after the other.
class Hdf5Writer {
public:
  /// Creates a writer; messages begin with `where`.
  static Result<Hdf5Writer> create(const std::string &where,
                                   const std::vector<Hdf5Group> &groups);
  Hdf5Writer(Hdf5Writer &&other) noexcept;
  Hdf5Writer &operator=(Hdf5Writer &&) = delete;
  ~Hdf5Writer();
  /// Writes a dataset whose path is the array's name. Returns errors of reading
  /// the array; errors of writing are kept for finish().
  Status add(const StoredArray &array);
  /// Returns the finished file; called once.
  Result<OpenFile> finish();

private:
  struct Contents;
  explicit Hdf5Writer(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents;
};

/// Reads the arrays one after the other and writes them to the file; without a
/// writer they are only read, as other processes wait for this one's part.
Status addAll(const std::vector<StoredArray> &arrays, Hdf5Writer *writer);

} // namespace weft

#endif // WEFT_DATA_FORMATS_HDF5_H
