//===- WalkRuns.h - kernels whose walk is written by hand -------*- C++ -*-===//
//
//   checkExact(kernelOf("%x: tensor<4xf32>", "tensor<4xf32>", "elements<flat>",
//                       "%0 = weft.neg %x ... nest.store %0 ..."));
//
// Small kernels get walks that usually only large ones have. The machine of
// gpu-testing.md runs them in at most two blocks; sums of integers are exact,
// so they must equal the interpreter's.
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
  std::string problem; ///< the machine's findings, or empty
  Tensor found, expected;
};
/// Runs a kernel on integers from -4 to 4, or reals from -1 to 1; `edit` may
/// change the PTX.
Run runKernel(const std::string &text, bool areWhole = true,
              llvm::function_ref<void(std::string &)> edit = {});
size_t differences(const Tensor &a, const Tensor &b);
/// Checks that there is no finding, and the results equal the interpreter's.
void checkExact(const std::string &text);
/// Number of occurrences of `word` in the text.
size_t countOf(const std::string &text, const std::string &word);
/// Checks that leaving out any line that begins with `word` is found by the
/// machine, or changes the result. Returns the number of such lines.
size_t checkNeeded(const std::string &text, const std::string &word);

} // namespace weft

#endif // WEFT_TEST_CUDA_WALKRUNS_H
