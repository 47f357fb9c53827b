//===- Nccl.h - NCCL, loaded where there is one -----------------*- C++ -*-===//
//
//   Result<const Nccl *> library = Nccl::find();
//
// GPUs exchange data by the library if it is found and is 2.18 or later. It is
// searched as libnccl.so.2 in libraryFolders() (LibraryFolders.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_NCCL_H
#define WEFT_RUNTIME_DEVICES_CUDA_NCCL_H

#include "weft/runtime/devices/cuda/NcclAbi.h"
#include "weft/runtime/program/Error.h"

namespace weft::runtime {

struct Nccl {
#define WEFT_NCCL_FUNCTION(name, result, parameters)                           \
  result(*name) parameters = nullptr;
  WEFT_NCCL_FUNCTIONS(WEFT_NCCL_FUNCTION)
#undef WEFT_NCCL_FUNCTION

  /// Finds the process's library, which the first call loads.
  static Result<const Nccl *> find();
  /// The version as a number: 22809 for 2.28.9.
  int number() const { return versionNumber; }
  /// The version: "2.28.9".
  std::string version() const;
  std::string path() const;
  /// The status of a call as a result; an error names the call.
  Status check(nccl::Status status, const std::string &call) const;

private:
  Status open();
  /// Opens the library of a name; the error says why it is not used.
  Status openAs(const std::string &name);
  int versionNumber = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_NCCL_H
