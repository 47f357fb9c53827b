//===- CublasLt.h - cuBLASLt, loaded where there is one ---------*- C++ -*-===//
//
//   const CublasLt *library = nullptr;
//   std::string why;
//   if (CublasLt::find(*driver, library, why)) ...     // else why not
//
// The library computes contractions if it is found; programs always contain
// code for them, too. It is searched as libcublasLt.so.13, then .12: in the
// folders of WEFT_CUDA_LIBRARIES if that is set (separated by colons; "none":
// nowhere), else in the loader's folders and /usr/local/cuda/lib64.
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

  /// Finds the process's library, which the first call loads; false with the
  /// reason.
  static bool find(const Driver &driver, const CublasLt *&out,
                   std::string &why);
  /// The version: "13.0.2".
  std::string version() const;
  std::string path() const;
  /// The status of a call as an error that names it; null for Success.
  Error check(cublaslt::Status status, const std::string &call) const;

private:
  std::string open(int driverVersion);
  /// Opens the library of a name. Returns the reason why it is not used, or
  /// empty.
  std::string openAs(const std::string &name, int major, int driverVersion);
};

/// A handle on one GPU, which all its streams share.
class CublasLtHandle {
public:
  static Error create(const CublasLt &library, std::shared_ptr<const Gpu> gpu,
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
