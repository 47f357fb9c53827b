//===- RandomPipelines.h - pipelines from a seed ----------------*- C++ -*-===//

#ifndef WEFT_TEST_FUZZ_RANDOMPIPELINES_H
#define WEFT_TEST_FUZZ_RANDOMPIPELINES_H

#include <cstdint>
#include <string>

namespace weft {

/// The text of a module whose @main is a step of training, or a forward pass, in
/// stages on up to 8 devices: random layers, layouts, microbatches and schedule.
/// Its numbers are exact for integers in [-4, 4], in each order of additions.
std::string randomPipeline(uint64_t seed);

} // namespace weft

#endif // WEFT_TEST_FUZZ_RANDOMPIPELINES_H
