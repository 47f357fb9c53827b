//===- WalkRuns.h - kernels whose walk is written by hand -------*- C++ -*-===//
//
//   checkExact(kernelOf("%x: tensor<4xf32>", "tensor<4xf32>", "elements<flat>",
//                       "%0 = weft.neg %x ... nest.store %0 ..."));
//
// Small kernels get walks that only large ones have. The machine of
// gpu-testing.md runs them, two blocks at most; sums of whole numbers are exact,
// so that the interpreter's must be equal.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_WALKRUNS_H
#define WEFT_TEST_CUDA_WALKRUNS_H

#include "weft/test/cuda/DeviceOps.h"

namespace weft {

/// A kernel of one nest for sm_80: arguments, result, walk, body with its
/// nest.store.
std::string kernelOf(const std::string &arguments, const std::string &result,
                     const std::string &walk, const std::string &body);

struct Run {
  std::string problem; ///< what the machine found, or empty
  Tensor found, expected;
};
/// On whole numbers from -4 to 4, or reals from -1 to 1; `edit` may change the
/// PTX.
Run runKernel(const std::string &text, bool areWhole = true,
              llvm::function_ref<void(std::string &)> edit = {});
size_t differences(const Tensor &a, const Tensor &b);
/// No finding, and the interpreter's results.
void checkExact(const std::string &text);
/// Number of occurrences of `word` in the text.
size_t countOf(const std::string &text, const std::string &word);
/// Each line that begins with `word` is left out once: the machine finds it, or
/// the result differs. Returns how many there are.
size_t checkNeeded(const std::string &text, const std::string &word);

} // namespace weft

#endif // WEFT_TEST_CUDA_WALKRUNS_H
