//===- Launch.h - runs a kernel ---------------------------------*- C++ -*-===//
//
//   Module module;
//   std::string error = parseModule(text, module);
//   Launch launch{.module = &module, .kernel = module.find("softmax"), ...};
//   Findings findings;
//   Outcome outcome = run(launch, memory, findings);
//
// Blocks and warps take turns in an order that the seed determines: a kernel
// whose result depends on it has a bug. One thread runs them, so that a seed
// always gives the same order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_MACHINE_LAUNCH_H
#define WEFT_TEST_CUDA_MACHINE_LAUNCH_H

#include "weft/test/cuda/machine/Code.h"
#include "weft/test/cuda/machine/Memory.h"

#include <set>

namespace weft::ptx {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// The fault that ends a launch, as a driver reports it.
enum class Fault : uint8_t { None, Address, Misaligned, Trap, Launch, Endless };

struct Launch {
  const Module *module = nullptr;
  const Kernel *kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamicShared = 0;
  std::vector<uint8_t> parameters;     ///< as Kernel::parameters place them
  std::vector<uint64_t> dataAddresses; ///< addresses of Module::data
  uint64_t seed = 0;                   ///< 0: blocks in order
  /// The most instructions of a warp; more count as an endless loop.
  uint64_t budget = uint64_t(1) << 28;
};

/// Texts with the kernel, the line, the block and the thread; one a line of
/// PTX.
class Findings {
public:
  static constexpr size_t kMost = 20;
  std::vector<std::string> texts;
  /// Whether this is the first text of this kind at this line.
  bool isNew(const std::string &kernel, uint32_t line, std::string_view kind);

private:
  std::set<std::string> known;
};

struct Outcome {
  Fault fault = Fault::None;
  uint64_t instructions = 0; ///< instructions of warps
  Footprint footprint;
};

/// The error if the launch is impossible: too many threads, wrong parameters.
std::string checkLaunch(const Launch &launch);
Outcome run(const Launch &launch, Memory &memory, Findings &findings);

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_LAUNCH_H
