//===- Objects.h - descriptors of the fake cuBLASLt -------------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_CUBLASLT_OBJECTS_H
#define WEFT_TEST_CUDA_CUBLASLT_OBJECTS_H

#include "weft/runtime/devices/cuda/CublasLtAbi.h"

#include <cstring>
#include <set>

namespace weft::cublaslt {

// Objects of the library, whose attributes begin with the documented defaults.
struct HandleObject {
  cuda::Context context = nullptr;
};
struct OperationObject {
  Compute compute;
  Type scale;
  Transpose transposeA = Transpose::No, transposeB = Transpose::No;
  Epilogue epilogue = Epilogue::Default;
  cuda::Address bias = 0;
};
struct LayoutObject {
  Type type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batchCount = 1;
  int64_t batchStride = 0;
};
struct PreferenceObject {
  uint64_t workspace = 0;
  uint32_t schemes = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

} // namespace weft::cublaslt

namespace weft::fake {

using namespace weft::cublaslt;

/// All live objects; at the end of the process the remaining ones are reported.
struct Objects {
  std::set<const void *> handles, operations, layouts, preferences;
  static Objects &get();
};
/// Begins a call, which fails if FAKE_CUDA_FAIL requests it, by chance if
/// FAKE_CUBLASLT_REFUSE=SEED is set, or without a context.
Status begin(const char *function);
/// A number of the environment; 0 without it.
uint64_t setting(const char *name);
/// The next number of a sequence (splitmix64).
uint64_t scramble(uint64_t state);

} // namespace weft::fake

extern "C" {
#define WEFT_CUBLASLT_FUNCTION(name, result, parameters)                       \
  __attribute__((visibility("default"))) result name parameters;
WEFT_CUBLASLT_FUNCTIONS(WEFT_CUBLASLT_FUNCTION)
#undef WEFT_CUBLASLT_FUNCTION
}

#endif // WEFT_TEST_CUDA_CUBLASLT_OBJECTS_H
