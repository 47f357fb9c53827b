//===- Hdf5Datasets.h - arrays of HDF5 files, without reading them ---------===//
//
//   Result<std::vector<Hdf5Dataset>> list = listHdf5("d.h5");   // x, y, ...
//   if (!(*list)[0].offset)
//     Status ok = unpackHdf5("d.h5", "x", file);    // its rows, one after another
//
// The file itself is read, not a copy in memory, in a child process: see Hdf5.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_HDF5DATASETS_H
#define WEFT_RUNTIME_DATA_HDF5DATASETS_H

#include "weft/runtime/data/Array.h"

namespace weft {

struct Hdf5Dataset {
  std::string name; ///< its path without a leading slash
  ElementType type;
  Shape shape;
  /// Where the file has the elements one after the other, row-major and
  /// little-endian; nothing where they lie in chunks or are packed.
  std::optional<uint64_t> offset;
};

/// Every numeric dataset.
Result<std::vector<Hdf5Dataset>> listHdf5(const std::string &path);
/// Writes the elements of one to a file, row-major, in pieces of some 4 MiB.
Status unpackHdf5(const std::string &path, const std::string &name, int file);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_HDF5DATASETS_H
