//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
//
//   Result<Array> y = readNpy("y.npy");       // any numeric dtype is kept
//   Status ok = writeNpy("p.npy", array);
//
// Format 1.0 to 3.0, both byte orders, C and Fortran order (read as C order).
// bfloat16 is read from NumPy's `V2` and written as float32, as NumPy has no
// such dtype. ml_dtypes' other types are `V1`, except float8_e5m2 (`f1`), so
// the caller sets the type (`takeBytesAs`); they are written as float32, int8
// or uint8.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_NPY_H
#define WEFT_DATA_FORMATS_NPY_H

#include "weft/data/arrays/Array.h"
#include "weft/data/files/Files.h"

namespace weft {

/// The longest beginning of a file that parseNpyHeader() needs.
inline constexpr uint64_t longestNpyHeader = 66000;

/// The header of an .npy file.
struct NpyHeader {
  ElementType type = ElementType::Float32;
  Shape shape;
  bool fortranOrder = false;
  bool swapped = false;  ///< the other byte order than this machine's
  size_t dataOffset = 0; ///< offset of the elements
};

/// Parses a header. `bytes` is at least the beginning of the file, `size` the
/// whole file's size. Messages begin with `where`: `f.npz: x.npy`.
Result<NpyHeader> parseNpyHeader(const uint8_t *bytes, size_t available,
                                 uint64_t size, const std::string &where);
/// Parses a whole .npy file in memory; consumes the bytes, to save a copy.
Result<Array> parseNpy(std::vector<uint8_t> bytes, const std::string &where);
Result<Array> readNpy(const std::string &path, const ReadLimits &limits = {});

/// The header of a file in format 1.0 and C order; the elements of the array
/// follow it.
std::string npyHeader(ElementType type, const Shape &shape);
/// Sets the type of an array that was read as `V1`, if the type is one that
/// ml_dtypes stores in a byte.
void takeBytesAs(ElementType type, Array &array);
/// The type as which `type` is written: float32 for bfloat16, else its carrier
/// (carrierOf).
ElementType npyType(ElementType type);
/// The array converted to the type as which it is written.
Array npyArray(const Array &array);
Status writeNpy(const std::string &path, const Array &array);

} // namespace weft

#endif // WEFT_DATA_FORMATS_NPY_H
