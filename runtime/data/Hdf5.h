//===- Hdf5.h - Keras' weight files -----------------------------*- C++ -*-===//
//
//   Result<std::vector<NamedArray>> w = readHdf5(bytes, "m.weights.h5");
//   // {"layers/dense/vars/0", kernel}, {"layers/dense/vars/1", bias}, ...
//
//   std::vector<uint8_t> bytes = *writeHdf5({{"layers/dense/vars", "d1"}}, arrays);
//
// Files are read and written in memory; reading is done in a child process,
// because the library crashes on some damaged files. Only plain datasets are followed:
// links that leave the file, virtual and external datasets are refused. The
// HDF5 library keeps global state: call from one thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_HDF5_H
#define WEFT_RUNTIME_DATA_HDF5_H

#include "weft/runtime/data/Npz.h"

namespace weft {

/// A group that exists although it may hold no dataset; `name` becomes its
/// attribute, if it is not empty.
struct Hdf5Group {
  std::string path;
  std::string name;
};

/// Every numeric dataset, by path without a leading slash.
Result<std::vector<NamedArray>> readHdf5(std::vector<uint8_t> &bytes,
                                         const std::string &where,
                                         const ReadLimits &limits = {});
Result<std::vector<uint8_t>> writeHdf5(const std::vector<Hdf5Group> &groups,
                                       const std::vector<NamedArray> &arrays);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_HDF5_H
