//===- Hdf5Datasets.h - arrays of HDF5 files, without reading them ---------===//
//
//   Hdf5Place place{"d.h5"};
//   Result<std::vector<Hdf5Dataset>> list = listHdf5(place);   // x, y, ...
//   if (!(*list)[0].offset)
//     Status ok = unpackHdf5(place, "x", file);     // its rows, one after another
//
// A child process reads the file itself, not a copy in memory (see Hdf5.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_HDF5DATASETS_H
#define WEFT_DATA_FORMATS_HDF5DATASETS_H

#include "weft/data/arrays/Array.h"
#include "weft/data/files/OpenFile.h"

namespace weft {

struct Hdf5Dataset {
  std::string name; ///< its path without a leading slash
  ElementType type;
  Shape shape;
  /// The position of the elements if they are real, contiguous and
  /// little-endian; else nothing, as for chunks and complex numbers.
  std::optional<uint64_t> offset;
};

/// A file: the path or descriptor to open, and the name and the fix in
/// messages.
struct Hdf5Place {
  std::string path, where, remedy;
  int file = -1; ///< the open descriptor, if any; its path may no longer exist
  Hdf5Place(std::string path) // NOLINT: a path is a place
      : path(path), where(path), remedy("save it again with h5py") {}
  Hdf5Place(const OpenFile &file, std::string where, std::string remedy)
      : path(pathOf(file)), where(std::move(where)), remedy(std::move(remedy)),
        file(file) {}
};

/// Lists every numeric dataset; all together have at most `mostBytes` bytes.
Result<std::vector<Hdf5Dataset>> listHdf5(const Hdf5Place &place,
                                          uint64_t mostBytes = INT64_MAX);
/// Writes the elements of one dataset to a file, row-major, in pieces of at
/// most 4 MiB, or of one row if it has more.
Status unpackHdf5(const Hdf5Place &place, const std::string &name, int file);

} // namespace weft

#endif // WEFT_DATA_FORMATS_HDF5DATASETS_H
