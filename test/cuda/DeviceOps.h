//===- DeviceOps.h - programs of kernels on the PTX machine -----*- C++ -*-===//
//
//   DeviceOps ops(module);               // each function becomes kernels for sm_80
//   REQUIRE(ops.refusal() == "");
//   ops.run("softmax", inputs, found)    // "" or the findings
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_DEVICEOPS_H
#define WEFT_TEST_CUDA_DEVICEOPS_H

#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/passes/interpret/Interpret.h"
#include "weft/test/cuda/machine/Launch.h"

#include <list>

namespace weft {

/// Compiles and runs functions whose ops are calls of kernels, constants and a
/// return.
class DeviceOps {
public:
  /// Outlines, if that is not done yet, chooses nests and compiles; the module
  /// is changed. `edit` may change the PTX.
  explicit DeviceOps(mlir::ModuleOp module, bool isOutlined = false,
                     llvm::function_ref<void(std::string &)> edit = {});
  /// Limits launches to `most` blocks, which then take several tiles each.
  void setMostBlocks(uint32_t most) { mostBlocks = most; }
  /// The reason why the module has no code, or empty.
  const std::string &refusal() const { return why; }
  /// Whether the function has code without loops that a runtime must execute.
  bool isStraight(const std::string &function) const;
  /// Runs a function and sets the elements of `found`, which has a tensor of
  /// each result's type. Returns the machine's findings, or empty.
  std::string run(const std::string &function, const Tensors &inputs,
                  Tensors &found);
  /// Runs one kernel.
  std::string runKernel(const std::string &kernel, const Tensors &inputs,
                        Tensors &found);

private:
  struct Buffer {
    uint64_t address = 0;
    std::vector<uint8_t> bytes;
  };
  Buffer &addBuffer(const std::string &name, std::vector<uint8_t> bytes,
                    bool isWritten);
  /// Drops all memory.
  void clear();
  Buffer &addTensor(const std::string &name, const Tensor &tensor);
  /// Launches a function of the module.
  std::string launch(const DeviceLaunch &function,
                     const std::vector<uint64_t> &pointers);
  /// Launches a kernel, and makes the results.
  std::string launch(const std::string &kernel,
                     llvm::ArrayRef<Buffer *> arguments, mlir::TypeRange types,
                     llvm::SmallVectorImpl<Buffer *> &results);

  mlir::ModuleOp module;
  CompiledKernels code;
  ptx::Module kernels;
  std::string why;
  uint64_t numLaunches = 0;
  uint32_t mostBlocks = UINT32_MAX;
  // The state of the current run:
  ptx::Memory memory;
  std::list<Buffer> buffers;
  uint64_t next = 0;
  std::vector<uint64_t> dataAddresses;
};

} // namespace weft

#endif // WEFT_TEST_CUDA_DEVICEOPS_H
