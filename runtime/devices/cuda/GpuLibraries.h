//===- GpuLibraries.h - NVIDIA's libraries on one GPU -----------*- C++ -*-===//
//
// The libraries of one GPU. Each is opened for the first program that uses it,
// and stays for all programs. Whatever a library answers, a program runs: its
// own code computes what the library does not, and a note says why.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPULIBRARIES_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPULIBRARIES_H

#include "weft/runtime/devices/cuda/GpuContraction.h"
#include "weft/runtime/devices/cuda/LibraryNotes.h"

#include <optional>

namespace weft::runtime {

class GpuLibraries {
public:
  GpuLibraries(std::shared_ptr<const Gpu> gpu,
               std::shared_ptr<LibraryNotes> notes)
      : gpu(std::move(gpu)), notes(std::move(notes)) {}

  /// Prepares a kernel's contraction by cuBLASLt. `out` stays null if the
  /// program's own code computes it.
  void prepare(const std::string &kernel, const LibraryContraction &contraction,
               GpuContraction::Types types,
               std::unique_ptr<GpuContraction> &out);
  /// Notes that a kernel runs the program's own code because of an error.
  void note(const Error &error, const std::string &kernel) const {
    notes->add(error.message.text(), kernel);
  }
  /// Opens cuBLASLt once; later calls return the same.
  Status open();
  /// Whether a library's relu keeps NaN, as the program's own code does: asked
  /// once for each kind of product.
  Status keepsNan(const LibraryContraction &contraction,
                  GpuContraction::Types types);

private:
  /// What a library's epilogue may depend on.
  using Kind = std::tuple<DType, DType, plan::ContractionCompute,
                          plan::ContractionEpilogue>;
  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<LibraryNotes> notes;
  std::optional<Status> opened;
  std::shared_ptr<CublasLtHandle> handle;
  std::map<Kind, Status> tried; ///< the results of keepsNan()
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPULIBRARIES_H
