//===- Descriptors.cpp - handles and descriptors --------------------------===//

#include "weft/test/cuda/cublaslt/Objects.h"
#include "weft/test/cuda/driver/LibraryCalls.h"

#include <cstdlib>

namespace weft::fake {

Objects &Objects::get() {
  static auto *objects = new Objects;
  return *objects;
}

uint64_t setting(const char *name) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : 0;
}

uint64_t scramble(uint64_t state) {
  state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
  state = (state ^ state >> 27) * 0x94d049bb133111eb;
  return state ^ state >> 31;
}

/// Refuses every third call, by chance, with any status.
static Status refuse(uint64_t seed) {
  constexpr Status all[] = {
      Status::NotInitialized, Status::AllocFailed,  Status::InvalidValue,
      Status::ArchMismatch,   Status::MappingError, Status::ExecutionFailed,
      Status::InternalError,  Status::NotSupported, Status::LicenseError};
  static uint64_t calls = 0;
  uint64_t chance = scramble(seed * 0x9e3779b97f4a7c15 + ++calls);
  return chance % 3 ? Status::Success : all[(chance >> 8) % std::size(all)];
}

Status begin(const char *function) {
  if (uint64_t seed = setting("FAKE_CUBLASLT_REFUSE"))
    if (Status status = refuse(seed); status != Status::Success)
      return status;
  cuda::Result result = fakeCudaBegin(function);
  if (result == cuda::Result::Success)
    return Status::Success;
  int number = int(result);
  bool isOwn = number < 100 && number != 0;
  return isOwn ? Status(number) : Status::ExecutionFailed;
}

/// Runs at the end of the process, before the driver's own function.
__attribute__((destructor)) static void endProcess() {
  const Objects &all = Objects::get();
  size_t descriptors =
      all.operations.size() + all.layouts.size() + all.preferences.size();
  if (!all.handles.empty() || descriptors)
    fakeCudaReport("at the end " + std::to_string(all.handles.size()) +
                   " handles and " + std::to_string(descriptors) +
                   " descriptors of cuBLASLt are not destroyed");
}

template <class Object>
static Status create(std::set<const void *> &all, Object **out, Object object) {
  *out = new Object(object);
  all.insert(*out);
  return Status::Success;
}

template <class Object>
static Status destroy(std::set<const void *> &all, Object *object) {
  if (!all.erase(object)) {
    fakeCudaReport("an object of cuBLASLt that does not exist, or no more, is "
                   "destroyed");
    return Status::InvalidValue;
  }
  delete object;
  return Status::Success;
}

template <class Value>
static Status read(Value &to, const void *value, size_t bytes) {
  if (!value || bytes != sizeof to)
    return Status::InvalidValue;
  std::memcpy(&to, value, sizeof to);
  return Status::Success;
}

} // namespace weft::fake

using namespace weft::fake;

size_t cublasLtGetVersion() { return 130100; }

const char *cublasLtGetStatusName(Status status) {
  switch (status) {
  case Status::InvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case Status::NotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  case Status::ExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  default:
    return "CUBLAS_STATUS_OF_THE_FAKE";
  }
}

Status cublasLtCreate(Handle *handle) {
  Status status = begin(__func__);
  if (status != Status::Success)
    return status;
  return create(Objects::get().handles, handle, {fakeCudaContext()});
}
Status cublasLtDestroy(Handle handle) {
  return destroy(Objects::get().handles, handle);
}

Status cublasLtMatmulDescCreate(weft::cublaslt::Operation *operation,
                                Compute compute, Type scale) {
  return create(Objects::get().operations, operation, {compute, scale});
}
Status cublasLtMatmulDescDestroy(weft::cublaslt::Operation operation) {
  return destroy(Objects::get().operations, operation);
}
Status cublasLtMatmulDescSetAttribute(weft::cublaslt::Operation operation,
                                      OperationAttribute attribute,
                                      const void *value, size_t bytes) {
  switch (attribute) {
  case OperationAttribute::TransposeA:
    return read(operation->transposeA, value, bytes);
  case OperationAttribute::TransposeB:
    return read(operation->transposeB, value, bytes);
  case OperationAttribute::Epilogue:
    return read(operation->epilogue, value, bytes);
  case OperationAttribute::BiasPointer:
    return read(operation->bias, value, bytes);
  }
  return Status::InvalidValue;
}

Status cublasLtMatrixLayoutCreate(Layout *layout, Type type, uint64_t rows,
                                  uint64_t columns, int64_t leading) {
  return create(Objects::get().layouts, layout, {type, rows, columns, leading});
}
Status cublasLtMatrixLayoutDestroy(Layout layout) {
  return destroy(Objects::get().layouts, layout);
}
Status cublasLtMatrixLayoutSetAttribute(Layout layout,
                                        LayoutAttribute attribute,
                                        const void *value, size_t bytes) {
  switch (attribute) {
  case LayoutAttribute::BatchCount:
    return read(layout->batchCount, value, bytes);
  case LayoutAttribute::BatchStride:
    return read(layout->batchStride, value, bytes);
  }
  return Status::InvalidValue;
}

Status cublasLtMatmulPreferenceCreate(Preference *preference) {
  return create(Objects::get().preferences, preference, {});
}
Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  return destroy(Objects::get().preferences, preference);
}
Status cublasLtMatmulPreferenceSetAttribute(Preference preference,
                                            PreferenceAttribute attribute,
                                            const void *value, size_t bytes) {
  using A = PreferenceAttribute;
  switch (attribute) {
  case A::MaxWorkspaceBytes:
    return read(preference->workspace, value, bytes);
  case A::ReductionSchemes:
    return read(preference->schemes, value, bytes);
  case A::MinAlignmentA:
  case A::MinAlignmentB:
  case A::MinAlignmentC:
  case A::MinAlignmentD:
    return read(preference->alignment[int(attribute) - int(A::MinAlignmentA)],
                value, bytes);
  }
  return Status::InvalidValue;
}
