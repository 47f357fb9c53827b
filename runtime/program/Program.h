//===- Program.h - a loaded program -----------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_PROGRAM_H
#define WEFT_RUNTIME_PROGRAM_PROGRAM_H

#include "weft/runtime/program/Plan.h"

#include <span>

namespace weft::runtime {

/// Plan and kernels of one .weft file. Shared by the caller's handle, its
/// buffers and the runtimes that have run it.
class Program {
public:
  /// `image` is not kept.
  static Error load(std::span<const uint8_t> image,
                    std::shared_ptr<const Program> &out);
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  const Plan &plan() const { return contents; }
  /// Of the file's bytes.
  uint64_t hash() const { return fileHash; }
  const void *planBytes() const { return bytes.get(); }
  weft_kernel_fn kernel(uint32_t index) const { return kernels[index]; }
  /// The same in parts, and the most parts that pay: null and 1 where the
  /// kernel is not worth sharing.
  struct Parts {
    weft_kernel_part_fn run = nullptr;
    int64_t most = 1;
  };
  const Parts &kernelParts(uint32_t index) const { return parts[index]; }

private:
  Program() = default;
  Error readPlanBytes(std::span<const uint8_t> plan);
  Error loadKernels(std::span<const uint8_t> elf);

  struct FreeBytes {
    void operator()(uint8_t *p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, FreeBytes>
      bytes; ///< the FlatBuffer, 64-byte aligned
  Plan contents;
  uint64_t fileHash = 0;
  std::vector<weft_kernel_fn> kernels;
  std::vector<Parts> parts;
  void *library = nullptr;
};

} // namespace weft::runtime

struct weft_program {
  std::shared_ptr<const weft::runtime::Program> program;
};

#endif // WEFT_RUNTIME_PROGRAM_PROGRAM_H
