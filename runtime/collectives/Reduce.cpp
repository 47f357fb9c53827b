#include "weft/runtime/collectives/Reduce.h"

#include "weft/runtime/program/ProgramFile.h"

namespace weft::runtime {

ReduceFunction reduceFunction(DType dtype, ReduceKind kind) {
#if defined(__x86_64__)
  uint64_t features = hostFeatures();
  if (features & WEFT_FEATURE_AVX512)
    return reduceFunctionAvx512(dtype, kind);
  if (features & WEFT_FEATURE_AVX2)
    return reduceFunctionAvx2(dtype, kind);
#endif
  return reduceFunctionGeneric(dtype, kind);
}

} // namespace weft::runtime
