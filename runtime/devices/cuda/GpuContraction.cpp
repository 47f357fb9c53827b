#include "weft/runtime/devices/cuda/GpuContraction.h"

#include "weft/layout/MatrixStorage.h"

#include <numeric>

namespace weft::runtime {

/// NVIDIA's recommendation for compute capability 9.0; more gains little.
static constexpr uint64_t kMostWorkspace = 32 << 20;
/// The alignment of every buffer: ports, constants and values in the arena.
static constexpr uint32_t kAlignment = 64;

static std::optional<cublaslt::Type> typeOf(DType type) {
  switch (type) {
  case DType::f32:
    return cublaslt::Type::F32;
  case DType::f64:
    return cublaslt::Type::F64;
  case DType::f16:
    return cublaslt::Type::F16;
  case DType::bf16:
    return cublaslt::Type::BF16;
  default:
    return std::nullopt;
  }
}

static uint64_t bytesOf(DType type) {
  return type == DType::f64 ? 8 : type == DType::f32 ? 4 : 2;
}

static cublaslt::Epilogue epilogueOf(plan::ContractionEpilogue epilogue) {
  using In = plan::ContractionEpilogue;
  using Out = cublaslt::Epilogue;
  switch (epilogue) {
  case In::none:
    return Out::Default;
  case In::bias:
    return Out::Bias;
  case In::relu:
    return Out::Relu;
  case In::bias_relu:
    return Out::ReluBias;
  case In::bias_gelu_tanh:
    return Out::GeluBias;
  }
  return Out::Default;
}

Status GpuContraction::set(cublaslt::OperationAttribute attribute,
                           const auto &value) const {
  return library().check(library().cublasLtMatmulDescSetAttribute(
                             operation, attribute, &value, sizeof value),
                         "cublasLtMatmulDescSetAttribute");
}

/// The storage of the operands: rhs as columns x contract, lhs as contract x
/// rows.
static std::pair<std::optional<MatrixStorage>, std::optional<MatrixStorage>>
operandsOf(const LibraryContraction &its) {
  const auto &rows = its.rows, &columns = its.columns, &sum = its.contract;
  return {storageOf(columns.size(), columns.rhs(), sum.size(), sum.rhs()),
          storageOf(sum.size(), sum.lhs(), rows.size(), rows.lhs())};
}

Status GpuContraction::createOperation() {
  bool isDouble = contraction.sums == DType::f64;
  auto compute = isDouble ? cublaslt::Compute::F64
                 : contraction.compute == plan::ContractionCompute::tf32
                     ? cublaslt::Compute::Tf32
                     : cublaslt::Compute::F32;
  auto scale = isDouble ? cublaslt::Type::F64 : cublaslt::Type::F32;
  if (Status ok = library().check(
          library().cublasLtMatmulDescCreate(&operation, compute, scale),
          "cublasLtMatmulDescCreate");
      !ok)
    return ok;
  auto [rhs, lhs] = operandsOf(contraction);
  using A = cublaslt::OperationAttribute;
  using T = cublaslt::Transpose;
  if (Status ok = set(A::TransposeA, rhs->alongRows ? T::No : T::Yes); !ok)
    return ok;
  if (Status ok = set(A::TransposeB, lhs->alongRows ? T::No : T::Yes); !ok)
    return ok;
  if (Status ok = set(A::Epilogue, epilogueOf(contraction.epilogue)); !ok)
    return ok;
  // The pointer only gives the alignment of the bias, on which the choice of
  // the algorithm depends.
  return contraction.hasBias() ? set(A::BiasPointer, uint64_t(kAlignment))
                               : Status();
}

Status GpuContraction::createLayout(cublaslt::Layout &out, DType type,
                                    uint64_t rows, uint64_t columns,
                                    int64_t leading, int64_t batchStride) {
  if (Status ok =
          library().check(library().cublasLtMatrixLayoutCreate(
                              &out, *typeOf(type), rows, columns, leading),
                          "cublasLtMatrixLayoutCreate");
      !ok)
    return ok;
  if (contraction.batch.empty())
    return {};
  auto count = int32_t(contraction.batch.back().size());
  using A = cublaslt::LayoutAttribute;
  if (Status ok = library().check(library().cublasLtMatrixLayoutSetAttribute(
                                      out, A::BatchCount, &count, sizeof count),
                                  "cublasLtMatrixLayoutSetAttribute");
      !ok)
    return ok;
  return library().check(
      library().cublasLtMatrixLayoutSetAttribute(
          out, A::BatchStride, &batchStride, sizeof batchStride),
      "cublasLtMatrixLayoutSetAttribute");
}

/// Creates the layouts. `fits`: whether the library takes all three matrices.
Status GpuContraction::createLayouts(bool &fits) {
  const auto &its = contraction;
  auto [rhs, lhs] = operandsOf(its);
  uint64_t rows = uint64_t(its.rows.size()),
           columns = uint64_t(its.columns.size()),
           sum = uint64_t(its.contract.size());
  auto result = storageOf(its.columns.size(), its.columns.result(),
                          its.rows.size(), its.rows.result());
  fits = rhs && lhs && result && result->alongRows && rows && columns && sum &&
         typeOf(types.operand) && typeOf(types.result);
  for (const plan::ContractionDim &dim : its.batch)
    fits &= dim.size() > 0 && dim.size() <= INT32_MAX;
  if (!fits)
    return {};
  plan::ContractionDim batch =
      its.batch.empty() ? plan::ContractionDim() : its.batch.back();
  if (Status ok = createLayout(a, types.operand, rhs->alongRows ? columns : sum,
                               rhs->alongRows ? sum : columns, rhs->leading,
                               batch.rhs());
      !ok)
    return ok;
  if (Status ok =
          createLayout(b, types.operand, lhs->alongRows ? sum : rows,
                       lhs->alongRows ? rows : sum, lhs->leading, batch.lhs());
      !ok)
    return ok;
  return createLayout(d, types.result, columns, rows, result->leading,
                      batch.result());
}

/// The alignment, in bytes, of the first matrix of each call, the first of all
/// being at element `first`; the library knows the stride of a batch.
static uint32_t alignmentOf(const LibraryContraction &its, DType type,
                            int64_t first,
                            int64_t (plan::ContractionDim::*stride)() const) {
  int64_t alignment =
      std::gcd(int64_t(kAlignment), first * int64_t(bytesOf(type)));
  for (size_t i = 0; i + 1 < its.batch.size(); ++i)
    alignment =
        std::gcd(alignment, (its.batch[i].*stride)() * int64_t(bytesOf(type)));
  return uint32_t(alignment);
}

/// Chooses the algorithm that the library expects to be the fastest.
Status GpuContraction::choose() {
  cublaslt::Preference preference = nullptr;
  if (Status ok =
          library().check(library().cublasLtMatmulPreferenceCreate(&preference),
                          "cublasLtMatmulPreferenceCreate");
      !ok)
    return ok;
  using A = cublaslt::PreferenceAttribute;
  uint32_t schemes = cublaslt::kReduceInComputeType;
  auto status = library().cublasLtMatmulPreferenceSetAttribute(
      preference, A::MaxWorkspaceBytes, &kMostWorkspace, sizeof kMostWorkspace);
  if (status == cublaslt::Status::Success)
    status = library().cublasLtMatmulPreferenceSetAttribute(
        preference, A::ReductionSchemes, &schemes, sizeof schemes);
  using Dim = plan::ContractionDim;
  const LibraryContraction &its = contraction;
  uint32_t result = alignmentOf(contraction, types.result, 0, &Dim::result);
  std::pair<A, uint32_t> alignments[] = {
      {A::MinAlignmentA,
       alignmentOf(its, types.operand, its.rhsFirst, &Dim::rhs)},
      {A::MinAlignmentB,
       alignmentOf(its, types.operand, its.lhsFirst, &Dim::lhs)},
      {A::MinAlignmentC, result},
      {A::MinAlignmentD, result}};
  for (auto [of, bytes] : alignments)
    if (status == cublaslt::Status::Success)
      status = library().cublasLtMatmulPreferenceSetAttribute(
          preference, of, &bytes, sizeof bytes);
  int count = 0;
  Status ok = library().check(status, "cublasLtMatmulPreferenceSetAttribute");
  if (ok) {
    status = library().cublasLtMatmulAlgoGetHeuristic(handle->get(), operation,
                                                      a, b, d, d, preference, 1,
                                                      &heuristic, &count);
    if (status == cublaslt::Status::Success)
      status = count > 0 ? heuristic.state : cublaslt::Status::NotSupported;
    ok = library().check(status, "cublasLtMatmulAlgoGetHeuristic");
  }
  library().cublasLtMatmulPreferenceDestroy(preference);
  return ok;
}

Status GpuContraction::prepare(std::shared_ptr<const CublasLtHandle> handle,
                               const LibraryContraction &contraction,
                               Types types,
                               std::unique_ptr<GpuContraction> &out) {
  std::unique_ptr<GpuContraction> made(
      new GpuContraction(std::move(handle), contraction, types));
  bool fits = false;
  if (Status ok = made->createLayouts(fits); !ok)
    return ok;
  if (!fits)
    return {};
  if (Status ok = made->createOperation(); !ok)
    return ok;
  if (Status ok = made->choose(); !ok)
    return ok;
  out = std::move(made);
  return {};
}

GpuContraction::~GpuContraction() {
  for (cublaslt::Layout layout : {a, b, d})
    if (layout)
      library().cublasLtMatrixLayoutDestroy(layout);
  if (operation)
    library().cublasLtMatmulDescDestroy(operation);
}

/// The offsets of lhs, rhs and result, in elements, of the n-th call for the
/// dimensions outside of the batch.
static std::array<int64_t, 3> offsetsOf(const LibraryContraction &its,
                                        int64_t n) {
  std::array<int64_t, 3> offsets = {its.lhsFirst, its.rhsFirst, 0};
  for (size_t i = its.batch.empty() ? 0 : its.batch.size() - 1; i-- > 0;) {
    const plan::ContractionDim &dim = its.batch[i];
    int64_t at = n % dim.size();
    n /= dim.size();
    offsets[0] += at * dim.lhs();
    offsets[1] += at * dim.rhs();
    offsets[2] += at * dim.result();
  }
  return offsets;
}

Status GpuContraction::launch(const GpuStream &stream,
                              const std::vector<cuda::Address> &buffers,
                              const Workspace &workspace) const {
  const float one = 1, zero = 0;
  const double wideOne = 1, wideZero = 0;
  bool isDouble = contraction.sums == DType::f64;
  const void *alpha = isDouble ? static_cast<const void *>(&wideOne) : &one,
             *beta = isDouble ? static_cast<const void *>(&wideZero) : &zero;
  if (contraction.hasBias())
    if (Status ok = set(cublaslt::OperationAttribute::BiasPointer, buffers[2]);
        !ok)
      return ok;
  int64_t calls = 1;
  for (size_t i = 0; i + 1 < contraction.batch.size(); ++i)
    calls *= contraction.batch[i].size();
  auto at = [](cuda::Address start, int64_t elements, DType type) {
    return reinterpret_cast<void *>(start + uint64_t(elements) * bytesOf(type));
  };
  for (int64_t n = 0; n < calls; ++n) {
    auto [lhs, rhs, result] = offsetsOf(contraction, n);
    void *out = at(buffers[contraction.resultArgument()], result, types.result);
    if (Status ok =
            library().check(library().cublasLtMatmul(
                                handle->get(), operation, alpha,
                                at(buffers[1], rhs, types.operand), a,
                                at(buffers[0], lhs, types.operand), b, beta,
                                out, d, out, d, &heuristic.algorithm,
                                reinterpret_cast<void *>(workspace.address),
                                heuristic.workspaceBytes, stream.handle()),
                            "cublasLtMatmul");
        !ok)
      return ok;
  }
  return {};
}

} // namespace weft::runtime
