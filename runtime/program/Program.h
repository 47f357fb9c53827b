//===- Program.h - a loaded program -----------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_PROGRAM_H
#define WEFT_RUNTIME_PROGRAM_PROGRAM_H

#include "weft/runtime/program/Plan.h"

#include <mutex>
#include <span>

namespace weft::runtime {

/// Plan and kernels of one .weft file. Shared by the caller's handle, its
/// buffers and the runtimes that have run it. The plan is read with the file;
/// the code is mapped before the first run.
class Program {
public:
  /// Loads a program. `image` is not kept; its code is copied until prepare().
  static Status load(std::span<const uint8_t> image,
                     std::shared_ptr<const Program> &out);
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// Loads the kernels of the host, once; on any thread. Those of devices are
  /// loaded by each DeviceSet.
  Status prepare() const;

  const Plan &plan() const { return contents; }
  /// The hash of the file's bytes.
  uint64_t hash() const { return fileHash; }
  const void *planBytes() const { return bytes.get(); }
  uint64_t codeBytes() const { return codeSize; }
  /// The mesh, layouts of ports and axes of collectives as text, made once, as
  /// strings of the C ABI are valid as long as the program.
  struct Texts {
    std::string mesh;
    std::vector<std::string> inputLayouts, outputLayouts, axes;
  };
  const Texts &texts() const;
  /// A kernel of a prepared program of the host; null for a builtin.
  weft_kernel_fn kernel(uint32_t index) const { return kernels[index]; }
  /// The function for the shares of a kernel, and the most shares that pay off;
  /// null and 1 if the kernel is not worth sharing.
  struct SharedKernel {
    weft_kernel_share_fn run = nullptr;
    int64_t most = 1;
  };
  const SharedKernel &sharedKernel(uint32_t index) const {
    return sharedKernels[index];
  }

private:
  Program() = default;
  Status readPlanBytes(std::span<const uint8_t> plan);
  Status loadKernels() const;

  struct FreeBytes {
    void operator()(uint8_t *p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, FreeBytes>
      bytes; ///< the FlatBuffer, 64-byte aligned
  Plan contents;
  uint64_t fileHash = 0, features = 0, codeSize = 0;
  mutable std::mutex preparing;
  mutable std::vector<uint8_t> code; ///< the ELF image, until it is loaded
  mutable std::vector<weft_kernel_fn> kernels;
  mutable std::vector<SharedKernel> sharedKernels;
  mutable void *library = nullptr;
  mutable std::once_flag textsMade;
  mutable Texts madeTexts;
};

} // namespace weft::runtime

struct weft_program {
  std::shared_ptr<const weft::runtime::Program> program;
};

#endif // WEFT_RUNTIME_PROGRAM_PROGRAM_H
