//===- Library.h - a library with LAPACK's routines -------------*- C++ -*-===//
//
//   Result<std::shared_ptr<const Library>> library = Library::open();
//   void *address = (*library)->find("dgetrf");   // null: it has none
//
// The library of a process is one of
//
//   * a table of addresses that the process gives: JAX's plugin and the package
//     `weft` give those of SciPy (scipy.linalg.cython_lapack), as jaxlib takes
//     them;
//   * the files of WEFT_LAPACK_LIBRARIES, if that is set (separated by colons;
//     "none": no library);
//   * libopenblas.so.0 or liblapack.so.3 of the system.
//
// Integers are of 32 bits. A name in a file is Fortran's, `dgetrf_`, or with
// the prefix of the OpenBLAS that SciPy's wheels have, `scipy_dgetrf_`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_LAPACK_LIBRARY_H
#define WEFT_BASE_LAPACK_LIBRARY_H

#include "weft/base/Result.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::lapack {

class Library {
public:
  /// Opens the library that WEFT_LAPACK_LIBRARIES or the system has; the error
  /// says what was tried.
  static Result<std::shared_ptr<const Library>> open();
  /// A library of these addresses, by name without a trailing underscore.
  Library(std::string source, std::map<std::string, void *> routines)
      : origin(std::move(source)), routines(std::move(routines)) {}

  /// The address of a routine such as "dgetrf"; null if there is none.
  void *find(const std::string &name) const;
  /// Where the routines come from: a file, or the words of the process.
  const std::string &source() const { return origin; }

private:
  Library() = default;
  std::string origin;
  std::map<std::string, void *> routines;
  void *file = nullptr;
};

/// What a person without a library can do.
std::string wayToLibrary();

} // namespace weft::lapack

#endif // WEFT_BASE_LAPACK_LIBRARY_H
