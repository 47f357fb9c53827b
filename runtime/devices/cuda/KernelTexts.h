//===- KernelTexts.h - the runtime's own kernels ----------------*- C++ -*-===//
//
// PTX texts, generated from kernels/*.cpp when Weft is built: move, pick, and
// reduce-TYPE for each element type, each with one kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_KERNELTEXTS_H
#define WEFT_RUNTIME_DEVICES_CUDA_KERNELTEXTS_H

#include <span>

namespace weft::runtime {

struct KernelText {
  const char *name, *text;
};
std::span<const KernelText> kernelTexts();

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_KERNELTEXTS_H
