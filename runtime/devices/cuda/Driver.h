//===- Driver.h - CUDA's driver, loaded where there is one ------*- C++ -*-===//
//
//   const Driver *driver = nullptr;
//   if (Status ok = Driver::load(driver); !ok) return ok;      // the reason and a fix
//   if (Status ok = driver->check(driver->cuMemFree(address), "cuMemFree"); !ok) ...
//
// The driver's functions are one table for the process. libcuda.so.1 is part of
// NVIDIA's driver; no toolkit is needed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_DRIVER_H
#define WEFT_RUNTIME_DEVICES_CUDA_DRIVER_H

#include "weft/runtime/devices/cuda/DriverAbi.h"
#include "weft/runtime/program/Error.h"

#include <mutex>

namespace weft::runtime {

struct Driver {
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                  \
  cuda::Result(*name) parameters = nullptr;
  WEFT_CUDA_FUNCTIONS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
  int version = 0;       ///< 12040 for 12.4
  bool hasGraphs = true; ///< whether all functions of graphs are there

  /// Loads and initializes the driver, once; later calls return the same.
  static Status load(const Driver *&out);
  /// The path of the library.
  std::string path() const;
  /// Returns null for Success, else an error with the call, its purpose, CUDA's
  /// name and text. Later errors of a context that an error has ended name that
  /// first error.
  Status check(cuda::Result result, const std::string &call) const;
  /// Whether an error has ended a context.
  bool hasFailed() const {
    std::lock_guard<std::mutex> guard(mutex);
    return !first.empty();
  }

private:
  Status open();
  mutable std::mutex mutex;
  mutable std::string first; ///< the error that ended a context
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_DRIVER_H
