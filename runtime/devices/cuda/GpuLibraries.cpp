#include "weft/runtime/devices/cuda/GpuLibraries.h"

#include "weft/runtime/devices/cuda/GpuMemory.h"

#include <algorithm>

namespace weft::runtime {

Status GpuLibraries::open() {
  if (opened)
    return *opened;
  Result<const CublasLt *> library = CublasLt::find(gpu->driver());
  opened = library
               ? CublasLtHandle::create(**library, gpu, handle)
               : Status(makeError(StatusCode::Incompatible,
                                  "cuBLASLt is not used: ", library.message()));
  return *opened;
}

/// The rows, columns and terms of the product that is tried.
static constexpr int64_t kTrialSize = 16;
/// The bytes that each array of it may take.
static constexpr uint64_t kTrialBytes = kTrialSize * kTrialSize * 8;

/// A product of kTrialSize with the types and epilogue of another.
static LibraryContraction trialOf(const LibraryContraction &like) {
  LibraryContraction trial = like;
  trial.batch.clear();
  trial.rows = {kTrialSize, kTrialSize, 0, kTrialSize};
  trial.columns = {kTrialSize, 0, 1, 1};
  trial.contract = {kTrialSize, 1, kTrialSize, 0};
  return trial;
}

/// Whether all numbers are NaN; the others would be zero.
static bool areNan(const std::vector<uint8_t> &bytes, DType type) {
  size_t width = type == DType::f64 ? 8 : type == DType::f32 ? 4 : 2;
  for (size_t end = width; end <= bytes.size(); end += width)
    // NaNs of all types have these bits of the exponent, zeros have none.
    if ((bytes[end - 1] & 0x7C) != 0x7C)
      return false;
  return true;
}

namespace {
/// Runs a product whose sums are NaN and reads its result.
struct NanTrial {
  std::shared_ptr<const Gpu> gpu;
  const GpuContraction &contraction;
  const LibraryContraction &its;
  DType result;

  Status run(std::vector<uint8_t> &out) const {
    auto meter = std::make_shared<MemoryMeter>(1);
    std::unique_ptr<GpuMemory> memory;
    std::unique_ptr<GpuStream> stream;
    uint64_t arrays = uint64_t(its.resultArgument()) + 1,
             bytes = arrays * kTrialBytes + contraction.workspaceBytes();
    if (Status ok = GpuMemory::allocate(gpu, 0, bytes, "a trial of cuBLASLt",
                                        meter, memory);
        !ok)
      return ok;
    if (Status ok = GpuStream::create(gpu, stream); !ok)
      return ok;
    cuda::Address start = memory->place();
    std::vector<cuda::Address> at;
    for (uint64_t n = 0; n < arrays; ++n)
      at.push_back(start + n * kTrialBytes);
    const Driver &driver = gpu->driver();
    // The first operand is NaN, all others, and the result until it is
    // computed, are zero.
    cuda::Result set =
        driver.cuMemsetD8Async(at[0], 0xFF, kTrialBytes, stream->handle());
    if (set == cuda::Result::Success)
      set = driver.cuMemsetD8Async(at[1], 0, (arrays - 1) * kTrialBytes,
                                   stream->handle());
    if (Status ok = driver.check(set, "cuMemsetD8Async"); !ok)
      return ok;
    Status ok = contraction.launch(
        *stream, at,
        {start + arrays * kTrialBytes, contraction.workspaceBytes()});
    if (ok)
      ok = driver.check(driver.cuMemcpyDtoHAsync(out.data(), at.back(),
                                                 out.size(), stream->handle()),
                        "cuMemcpyDtoHAsync");
    // Enqueued work uses memory that this function frees at its end.
    Status done = stream->wait();
    return ok ? done : ok;
  }
};
} // namespace

static Status tryNan(const std::shared_ptr<const Gpu> &gpu,
                     const std::shared_ptr<CublasLtHandle> &handle,
                     const LibraryContraction &like,
                     GpuContraction::Types types) {
  LibraryContraction its = trialOf(like);
  std::unique_ptr<GpuContraction> contraction;
  if (Status ok = GpuContraction::prepare(handle, its, types, contraction); !ok)
    return ok;
  size_t width = types.result == DType::f64   ? 8
                 : types.result == DType::f32 ? 4
                                              : 2;
  std::vector<uint8_t> found(size_t(kTrialSize * kTrialSize) * width);
  if (Status ok = NanTrial{gpu, *contraction, its, types.result}.run(found);
      !ok)
    return ok;
  if (areNan(found, types.result))
    return {};
  return makeError(StatusCode::Incompatible, handle->library().title(),
                   ": relu makes NaN 0");
}

Status GpuLibraries::keepsNan(const LibraryContraction &contraction,
                              GpuContraction::Types types) {
  using Epilogue = plan::ContractionEpilogue;
  if (contraction.epilogue != Epilogue::relu &&
      contraction.epilogue != Epilogue::bias_relu)
    return {};
  Kind kind = {types.operand, types.result, contraction.compute,
               contraction.epilogue};
  auto found = tried.find(kind);
  if (found == tried.end())
    found = tried.emplace(kind, tryNan(gpu, handle, contraction, types)).first;
  return found->second;
}

void GpuLibraries::prepare(const std::string &kernel,
                           const LibraryContraction &contraction,
                           GpuContraction::Types types,
                           std::unique_ptr<GpuContraction> &out) {
  Status ok = open();
  if (ok)
    ok = keepsNan(contraction, types);
  if (ok)
    ok = GpuContraction::prepare(handle, contraction, types, out);
  if (!ok)
    note(ok.error(), kernel);
}

} // namespace weft::runtime
