//===- GpuContraction.h - a contraction by cuBLASLt -------------*- C++ -*-===//
//
// The library stores matrices by columns, a plan stores results by rows. So the
// library computes the transposed result, from transposed operands in reverse
// order.
//
//   result[i, j] = sum over k of lhs[i, k] * rhs[k, j]     rows, columns
//   D (columns x rows) = A (columns x contract) * B (contract x rows)
//   A = rhs, B = lhs, a bias of columns is one of D's rows
//
// Everything without addresses is prepared once; partial sums are never added
// atomically, so that each run gives the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUCONTRACTION_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUCONTRACTION_H

#include "weft/runtime/devices/cuda/CublasLt.h"
#include "weft/runtime/program/Plan.h"

#include <atomic>

namespace weft::runtime {

/// Memory that calls on a stream may use while they run.
struct Workspace {
  cuda::Address address = 0;
  uint64_t bytes = 0;
};

class GpuContraction {
public:
  struct Types {
    DType operand, result;
  };
  /// Prepares a contraction. `out` stays null if the library cannot address
  /// its operands; the error says why it does not compute it on this GPU.
  static Status prepare(std::shared_ptr<const CublasLtHandle> handle,
                        const LibraryContraction &contraction, Types types,
                        std::unique_ptr<GpuContraction> &out);
  ~GpuContraction();
  GpuContraction(const GpuContraction &) = delete;
  GpuContraction &operator=(const GpuContraction &) = delete;

  /// Whether a launch has failed; the program's own code then runs instead.
  bool hasFailed() const { return failed; }
  void setFailed() const { failed = true; }
  /// Bytes of workspace that a launch needs.
  uint64_t workspaceBytes() const { return heuristic.workspaceBytes; }
  /// Launches the contraction. `buffers`: lhs, rhs, the bias if the epilogue
  /// has one, result.
  Status launch(const GpuStream &stream,
                const std::vector<cuda::Address> &buffers,
                const Workspace &workspace) const;

private:
  GpuContraction(std::shared_ptr<const CublasLtHandle> handle,
                 const LibraryContraction &contraction, Types types)
      : handle(std::move(handle)), contraction(contraction), types(types) {}
  const CublasLt &library() const { return handle->library(); }
  Status createOperation();
  Status createLayouts(bool &fits);
  Status createLayout(cublaslt::Layout &out, DType type, uint64_t rows,
                      uint64_t columns, int64_t leading, int64_t batchStride);
  Status choose();
  Status set(cublaslt::OperationAttribute attribute, const auto &value) const;

  std::shared_ptr<const CublasLtHandle> handle;
  LibraryContraction contraction;
  Types types;
  cublaslt::Operation operation = nullptr;
  cublaslt::Layout a = nullptr, b = nullptr, d = nullptr;
  cublaslt::Heuristic heuristic = {};
  mutable std::atomic<bool> failed = false;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUCONTRACTION_H
