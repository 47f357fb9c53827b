//===- Hdf5Library.h - functions of HDF5 for both readers -------*- C++ -*-===//
//
//   Quiet quiet;
//   Handle file(H5Fopen(...), H5Fclose);
//   Status walked = walkDatasets(file, "f.h5", limit, [](auto &set) {
//     return read(set.id, set.shape);
//   });
//
// Only plain numeric datasets are visited: soft and external links, virtual and
// external datasets are refused. Use in a child process only, as the library
// crashes on some damaged files.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_HDF5LIBRARY_H
#define WEFT_DATA_FORMATS_HDF5LIBRARY_H

#include "weft/data/arrays/Array.h"

#include <functional>
#define H5_USE_110_API // the same functions in releases 1.10 to 1.14
#include <hdf5.h>

namespace weft::hdf5 {

/// An identifier that closes itself.
class Handle {
public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id(id), close(close) {}
  Handle(const Handle &) = delete;
  ~Handle() {
    if (id >= 0)
      close(id);
  }
  operator hid_t() const { return id; }

private:
  hid_t id;
  herr_t (*close)(hid_t);
};

/// Turns off HDF5's own error messages, as errors are returned.
class Quiet {
public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function, data); }

private:
  H5E_auto2_t function = nullptr;
  void *data = nullptr;
};

/// The HDF5 type in the file (little-endian) or in memory; -1 if the library
/// has none.
hid_t typeOf(ElementType type, bool inFile);
/// The element type of an HDF5 type; nothing for strings, and for structures
/// except h5py's complex numbers. Keras writes two opaque bytes for bfloat16.
std::optional<ElementType> elementType(hid_t type);
/// A new little-endian type of elements of which the library has no predefined
/// type: float16, bfloat16 (opaque) and complex numbers, by default as h5py
/// writes them. The caller closes it.
hid_t createType(ElementType type, const char *real = "r",
                 const char *imaginary = "i");
/// The HDF5 type in memory to pass to H5Dread, which converts the byte order.
Handle readType(ElementType element, hid_t stored);

/// Opens a file by its descriptor. As the library opens only paths and memory,
/// the file is mapped, without a copy. The map is never removed: call it in a
/// child process.
hid_t openDescriptor(int file);

struct Dataset {
  std::string path; ///< without a leading slash
  hid_t id, type;
  ElementType element;
  Shape shape;
};
/// Called for every numeric dataset; a returned error ends the walk.
using Visit = std::function<Status(const Dataset &set)>;
/// Visits all numeric datasets; returns the first error, which begins
/// with the file and the path in it. All datasets together have at most
/// `budget` bytes.
Status walkDatasets(hid_t file, const std::string &where, uint64_t budget,
                    const Visit &visit);

} // namespace weft::hdf5

#endif // WEFT_DATA_FORMATS_HDF5LIBRARY_H
