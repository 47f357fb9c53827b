//===- LibraryFolders.h - where NVIDIA's libraries are ----------*- C++ -*-===//
//
//   libraryFolders()[0]                 // "", the loader's folders
//   libraryFolders()[1]
//       // "/home/ann/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/"
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_LIBRARYFOLDERS_H
#define WEFT_RUNTIME_DEVICES_CUDA_LIBRARYFOLDERS_H

#include "weft/runtime/program/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace weft::runtime {

/// The folders in which libraries are searched, in order, each with a slash at
/// its end; an empty name stands for the loader's folders. WEFT_CUDA_LIBRARIES
/// names them all. Else they are the loader's, those of Python's packages
/// (nvidia/*/lib beside Weft's own package, in VIRTUAL_ENV, in CONDA_PREFIX and
/// of the first python3 in PATH, which is not started), and
/// /usr/local/cuda/lib64.
std::vector<std::string> libraryFolders();

/// A file that may be a library of one of several names.
struct LibraryFile {
  std::string path;
  size_t name; ///< its number among the names
};
/// The files to try for a library, the names in order in each folder. In the
/// folders of Python's packages, most of which have other libraries, only those
/// that exist.
std::vector<LibraryFile> libraryFiles(const std::vector<std::string> &names);

/// Opens the first of libraryFiles(names) that `open` accepts; else all reasons.
Status openFirst(const std::vector<std::string> &names,
                 const std::function<Status(const LibraryFile &)> &open);
/// Opens a library, which is never closed, as others of the process may use it,
/// too.
Status openLibrary(const std::string &path, void *&out);
/// The file of the library that has the function, or else `name`.
std::string libraryPath(const void *function, const std::string &name);
/// 21800 as "2.18.0".
std::string libraryVersion(size_t number);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_LIBRARYFOLDERS_H
