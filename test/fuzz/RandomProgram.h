//===- RandomProgram.h - straight-line programs from a seed ----*- C++ -*-===//

#ifndef WEFT_TEST_FUZZ_RANDOMPROGRAM_H
#define WEFT_TEST_FUZZ_RANDOMPROGRAM_H

#include <cstdint>
#include <string>

namespace weft {

struct ProgramOptions {
  unsigned ops = 8;
};

/// The text of a module with one entry function @main on a random mesh of up
/// to 8 devices, with layouts on its arguments and sizes that often do not
/// divide. Its float values are integers below 2^22 in size where the inputs
/// are integers in [-4, 4], so that every order of additions is exact.
std::string randomProgram(uint64_t seed, const ProgramOptions &options = {});

} // namespace weft

#endif // WEFT_TEST_FUZZ_RANDOMPROGRAM_H
