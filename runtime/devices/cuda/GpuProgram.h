//===- GpuProgram.h - a program with its code on GPUs -----------*- C++ -*-===//
//
// The modules and constants of a plan, loaded once on each GPU that has a
// device of its mesh, and the coordinates of each device, which kernels take as
// their last argument.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPUPROGRAM_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPUPROGRAM_H

#include "weft/runtime/devices/cuda/GpuCollectives.h"
#include "weft/runtime/devices/cuda/GpuContraction.h"
#include "weft/runtime/devices/cuda/GraphCache.h"

namespace weft::runtime {
/// The code of a kernel: of a contraction, that of its fallback; of a sequence,
/// its first.
const DeviceKernel &codeOf(const Plan &plan, uint32_t kernel);

class GpuProgram final : public PreparedProgram {
public:
  /// `ownership` is that of the mesh.
  GpuProgram(std::shared_ptr<const Program> program, Ownership ownership)
      : owner(std::move(program)), owners(std::move(ownership)) {}

  /// Prepares the program. `shares` has one for each position of the mesh. An
  /// error names a kernel that GPUs cannot run.
  Status prepare(const std::vector<GpuShare> &shares,
                 const std::shared_ptr<MemoryMeter> &meter);

  const std::shared_ptr<const Program> &program() const override {
    return owner;
  }
  const Ownership &ownership() const { return owners; }
  /// The function of a kernel on the device at a position of the mesh.
  const GpuFunction &launch(int64_t position, uint32_t kernel) const {
    return images.at(gpuOf[size_t(position)]).launches[kernel];
  }
  /// The library call that computes the kernel there; null if its code does.
  const GpuContraction *contraction(int64_t position, uint32_t kernel) const {
    const auto &its = images.at(gpuOf[size_t(position)]).contractions[kernel];
    return its && !its->hasFailed() ? its.get() : nullptr;
  }
  /// The libraries of the device's GPU.
  const GpuLibraries &libraries(int64_t position) const {
    return *images.at(gpuOf[size_t(position)]).libraries;
  }
  /// The bytes of workspace that library calls need on each stream.
  uint64_t workspaceBytes() const;
  cuda::Address constants(int64_t position) const {
    return images.at(gpuOf[size_t(position)]).constants->place();
  }
  cuda::Address coordinates(int64_t position) const {
    return places[size_t(position)]->place();
  }
  GpuCollectives &collectives() { return meetings; }
  const GpuCollectives &collectives() const { return meetings; }
  GraphCache &graphs() { return graphCache; }
  /// The end of the straight piece that has an instruction; the instruction
  /// itself if it jumps or returns.
  uint32_t pieceEnd(uint32_t first) const { return pieceEnds[first]; }

private:
  /// The modules, functions and constants of the program on one GPU.
  struct Image {
    std::shared_ptr<Gpu> gpu;
    std::shared_ptr<GpuLibraries> libraries;
    std::vector<std::unique_ptr<GpuModule>> modules;
    std::vector<GpuFunction> launches; ///< indexed by kernel
    std::vector<std::unique_ptr<GpuContraction>> contractions; ///< by kernel
    std::unique_ptr<GpuMemory> constants;
  };

  Status checkSupported() const;
  Status checkCollective(uint32_t instruction) const;
  /// Refuses collectives between processes to which devices may come a different
  /// number of times, as processes make their calls in one order.
  Status checkOrder() const;
  Status load(Image &image, const GpuShare &share,
              const std::shared_ptr<MemoryMeter> &meter);
  Status loadKernels(Image &image);
  Status loadContractions(Image &image);
  Status typesOf(uint32_t kernel, GpuContraction::Types &out) const;
  Status placeCoordinates(const std::vector<GpuShare> &shares,
                          const std::shared_ptr<MemoryMeter> &meter);

  std::shared_ptr<const Program> owner;
  Ownership owners;
  std::map<const Gpu *, Image> images;
  /// By position; null for devices of other processes.
  std::vector<const Gpu *> gpuOf;
  std::vector<std::unique_ptr<GpuMemory>> places; ///< coordinates, by position
  GpuCollectives meetings;
  std::vector<uint32_t> pieceEnds; ///< indexed by instruction
  GraphCache graphCache; ///< last, as graphs use modules, constants and tables
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPUPROGRAM_H
