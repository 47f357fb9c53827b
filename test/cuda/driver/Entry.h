//===- Entry.h - exported functions of the library --------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_DRIVER_ENTRY_H
#define WEFT_TEST_CUDA_DRIVER_ENTRY_H

#include "weft/test/cuda/driver/Driver.h"

extern "C" {
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                  \
  __attribute__((visibility("default"))) weft::cuda::Result symbol parameters;
WEFT_CUDA_FUNCTIONS(WEFT_CUDA_FUNCTION)
#undef WEFT_CUDA_FUNCTION
}

namespace weft::fake {

using namespace weft::cuda;

/// Runs the body of a function of the API; `symbol` is its name, by which
/// settings name it.
template <class Body> Result call(const char *symbol, Needs needs, Body body) {
  return Driver::get().call(symbol, needs, body);
}

} // namespace weft::fake

#endif // WEFT_TEST_CUDA_DRIVER_ENTRY_H
