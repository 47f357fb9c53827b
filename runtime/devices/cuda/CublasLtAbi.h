//===- CublasLtAbi.h - the part of cuBLASLt that Weft calls -----*- C++ -*-===//
//
// Own declarations of cuBLASLt, as of CUDA's driver (DriverAbi.h), so that no
// toolkit is needed to build. If cublasLt.h is installed,
// test/cuda/cublaslt-abi-test.cpp compares all numbers, sizes and parameters
// with it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_CUBLASLTABI_H
#define WEFT_RUNTIME_DEVICES_CUDA_CUBLASLTABI_H

#include "weft/runtime/devices/cuda/DriverAbi.h"

namespace weft::cublaslt {

using Handle = struct HandleObject *;
using Operation = struct OperationObject *;
using Layout = struct LayoutObject *;
using Preference = struct PreferenceObject *;

enum class Status : int {
  Success = 0,
  NotInitialized = 1,
  AllocFailed = 3,
  InvalidValue = 7,
  ArchMismatch = 8,
  MappingError = 11,
  ExecutionFailed = 13,
  InternalError = 14,
  NotSupported = 15,
  LicenseError = 16
};

/// Elements of matrices.
enum class Type : int { F32 = 0, F64 = 1, F16 = 2, BF16 = 14 };
/// The precision of products; F32 has all bits of f32.
enum class Compute : int { F32 = 68, F64 = 70, Tf32 = 77 };
enum class Transpose : int { No = 0, Yes = 1 };
enum class Epilogue : int {
  Default = 1,
  Relu = 2,
  Bias = 4,
  ReluBias = 6,
  GeluBias = 36 ///< the form with tanh
};

enum class OperationAttribute : int {
  TransposeA = 3,
  TransposeB = 4,
  Epilogue = 7,
  BiasPointer = 8
};
enum class LayoutAttribute : int { BatchCount = 5, BatchStride = 6 };
enum class PreferenceAttribute : int {
  MaxWorkspaceBytes = 1,
  ReductionSchemes = 3,
  MinAlignmentA = 5,
  MinAlignmentB = 6,
  MinAlignmentC = 7,
  MinAlignmentD = 8
};
/// Bits of ReductionSchemes: how parts of a sum that are computed separately
/// are added. 0, which is always allowed, means no separate parts; Inplace uses
/// atomics, whose order varies.
enum ReductionScheme : uint32_t {
  kReduceInplace = 1,
  kReduceInComputeType = 2,
  kReduceInOutputType = 4
};

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};

} // namespace weft::cublaslt

// F(name, result, parameters)
// clang-format off
#define WEFT_CUBLASLT_FUNCTIONS(F) \
  F(cublasLtGetVersion, size_t, (void)) \
  F(cublasLtGetStatusName, const char *, (weft::cublaslt::Status status)) \
  F(cublasLtCreate, weft::cublaslt::Status, (weft::cublaslt::Handle *handle)) \
  F(cublasLtDestroy, weft::cublaslt::Status, (weft::cublaslt::Handle handle)) \
  F(cublasLtMatmulDescCreate, weft::cublaslt::Status, (weft::cublaslt::Operation *operation, weft::cublaslt::Compute compute, weft::cublaslt::Type scale)) \
  F(cublasLtMatmulDescDestroy, weft::cublaslt::Status, (weft::cublaslt::Operation operation)) \
  F(cublasLtMatmulDescSetAttribute, weft::cublaslt::Status, (weft::cublaslt::Operation operation, weft::cublaslt::OperationAttribute attribute, const void *value, size_t bytes)) \
  F(cublasLtMatrixLayoutCreate, weft::cublaslt::Status, (weft::cublaslt::Layout *layout, weft::cublaslt::Type type, uint64_t rows, uint64_t columns, int64_t leading)) \
  F(cublasLtMatrixLayoutDestroy, weft::cublaslt::Status, (weft::cublaslt::Layout layout)) \
  F(cublasLtMatrixLayoutSetAttribute, weft::cublaslt::Status, (weft::cublaslt::Layout layout, weft::cublaslt::LayoutAttribute attribute, const void *value, size_t bytes)) \
  F(cublasLtMatmulPreferenceCreate, weft::cublaslt::Status, (weft::cublaslt::Preference *preference)) \
  F(cublasLtMatmulPreferenceDestroy, weft::cublaslt::Status, (weft::cublaslt::Preference preference)) \
  F(cublasLtMatmulPreferenceSetAttribute, weft::cublaslt::Status, (weft::cublaslt::Preference preference, weft::cublaslt::PreferenceAttribute attribute, const void *value, size_t bytes)) \
  F(cublasLtMatmulAlgoGetHeuristic, weft::cublaslt::Status, (weft::cublaslt::Handle handle, weft::cublaslt::Operation operation, weft::cublaslt::Layout a, weft::cublaslt::Layout b, weft::cublaslt::Layout c, weft::cublaslt::Layout d, weft::cublaslt::Preference preference, int wanted, weft::cublaslt::Heuristic *found, int *count)) \
  F(cublasLtMatmul, weft::cublaslt::Status, (weft::cublaslt::Handle handle, weft::cublaslt::Operation operation, const void *alpha, const void *a, weft::cublaslt::Layout aLayout, const void *b, weft::cublaslt::Layout bLayout, const void *beta, const void *c, weft::cublaslt::Layout cLayout, void *d, weft::cublaslt::Layout dLayout, const weft::cublaslt::Algorithm *algorithm, void *workspace, size_t workspaceBytes, weft::cuda::Stream stream))
// clang-format on

#endif // WEFT_RUNTIME_DEVICES_CUDA_CUBLASLTABI_H
