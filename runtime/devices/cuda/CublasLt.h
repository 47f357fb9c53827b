//===- CublasLt.h - cuBLASLt, loaded where there is one ---------*- C++ -*-===//
//
//   Result<const CublasLt *> library = CublasLt::find(*driver);
//
// The library computes contractions if it is found; programs always contain
// code for them, too. It is searched as libcublasLt.so.13, then .12, in each of
// libraryFolders().
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_CUBLASLT_H
#define WEFT_RUNTIME_DEVICES_CUDA_CUBLASLT_H

#include "weft/runtime/devices/cuda/CublasLtAbi.h"
#include "weft/runtime/devices/cuda/Gpu.h"

namespace weft::runtime {

struct CublasLt {
#define WEFT_CUBLASLT_FUNCTION(name, result, parameters)                       \
  result(*name) parameters = nullptr;
  WEFT_CUBLASLT_FUNCTIONS(WEFT_CUBLASLT_FUNCTION)
#undef WEFT_CUBLASLT_FUNCTION

  /// Finds the process's library, which the first call loads.
  static Result<const CublasLt *> find(const Driver &driver);
  /// The version: "13.0.2".
  std::string version() const;
  std::string path() const;
  /// Both, for messages: "cuBLASLt 13.0.2 (/usr/lib/libcublasLt.so.13)".
  std::string title() const;
  /// The status of a call as a result; an error names the call.
  Status check(cublaslt::Status status, const std::string &call) const;

private:
  Status open(int driverVersion);
  /// Opens the library of a name; the error says why it is not used.
  Status openAs(const std::string &name, int major, int driverVersion);
};

/// A handle on one GPU, which all its streams share.
class CublasLtHandle {
public:
  static Status create(const CublasLt &library, std::shared_ptr<const Gpu> gpu,
                       std::shared_ptr<CublasLtHandle> &out);
  ~CublasLtHandle();
  CublasLtHandle(const CublasLtHandle &) = delete;
  CublasLtHandle &operator=(const CublasLtHandle &) = delete;

  const CublasLt &library() const { return api; }
  cublaslt::Handle get() const { return handle; }

private:
  CublasLtHandle(const CublasLt &api [[clang::lifetimebound]],
                 std::shared_ptr<const Gpu> gpu)
      : api(api), gpu(std::move(gpu)) {}
  const CublasLt &api;
  std::shared_ptr<const Gpu> gpu;
  cublaslt::Handle handle = nullptr;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_CUBLASLT_H
