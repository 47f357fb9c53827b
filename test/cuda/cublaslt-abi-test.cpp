// Compares CublasLtAbi.h with cuBLASLt's own header: compiling is the test.
#include "catch2/catch.hpp"
#include "weft/runtime/devices/cuda/CublasLtAbi.h"
#include "weft/test/cuda/SameDeclarations.h"

#include <cublasLt.h>

#include <cstddef>

using namespace weft;
using namespace weft::cublaslt;

#define WEFT_CUBLASLT_FUNCTION(name, result, parameters)                       \
  static_assert(test::SameCall<result parameters, decltype(::name)>::value,    \
                #name);
WEFT_CUBLASLT_FUNCTIONS(WEFT_CUBLASLT_FUNCTION)
#undef WEFT_CUBLASLT_FUNCTION

SAME(Status::Success, CUBLAS_STATUS_SUCCESS);
SAME(Status::NotInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
SAME(Status::AllocFailed, CUBLAS_STATUS_ALLOC_FAILED);
SAME(Status::InvalidValue, CUBLAS_STATUS_INVALID_VALUE);
SAME(Status::ArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH);
SAME(Status::MappingError, CUBLAS_STATUS_MAPPING_ERROR);
SAME(Status::ExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
SAME(Status::InternalError, CUBLAS_STATUS_INTERNAL_ERROR);
SAME(Status::NotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(Status::LicenseError, CUBLAS_STATUS_LICENSE_ERROR);

SAME(Type::F32, CUDA_R_32F);
SAME(Type::F64, CUDA_R_64F);
SAME(Type::F16, CUDA_R_16F);
SAME(Type::BF16, CUDA_R_16BF);
SAME(Compute::F32, CUBLAS_COMPUTE_32F);
SAME(Compute::F64, CUBLAS_COMPUTE_64F);
SAME(Compute::Tf32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(Transpose::No, CUBLAS_OP_N);
SAME(Transpose::Yes, CUBLAS_OP_T);
SAME(Epilogue::Default, CUBLASLT_EPILOGUE_DEFAULT);
SAME(Epilogue::Relu, CUBLASLT_EPILOGUE_RELU);
SAME(Epilogue::Bias, CUBLASLT_EPILOGUE_BIAS);
SAME(Epilogue::ReluBias, CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(Epilogue::GeluBias, CUBLASLT_EPILOGUE_GELU_BIAS);

using OA = OperationAttribute;
SAME(OA::TransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(OA::TransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(OA::Epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(OA::BiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(LayoutAttribute::BatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(LayoutAttribute::BatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
using PA = PreferenceAttribute;
SAME(PA::MaxWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(PA::ReductionSchemes, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SAME(PA::MinAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(PA::MinAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(PA::MinAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(PA::MinAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(kReduceInplace, CUBLASLT_REDUCTION_SCHEME_INPLACE);
SAME(kReduceInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
SAME(kReduceInOutputType, CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);

TEST_CASE("own declarations of cuBLASLt are those of cublasLt.h") {
  STATIC_REQUIRE(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
  using Theirs = cublasLtMatmulHeuristicResult_t;
  STATIC_REQUIRE(sizeof(Heuristic) == sizeof(Theirs));
  STATIC_REQUIRE(offsetof(Heuristic, workspaceBytes) ==
                 offsetof(Theirs, workspaceSize));
  STATIC_REQUIRE(offsetof(Heuristic, state) == offsetof(Theirs, state));
  STATIC_REQUIRE(offsetof(Heuristic, waves) == offsetof(Theirs, wavesCount));
}
