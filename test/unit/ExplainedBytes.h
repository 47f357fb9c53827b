//===- ExplainedBytes.h - bytes of a plan's only collective -----*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_EXPLAINEDBYTES_H
#define WEFT_TEST_UNIT_EXPLAINEDBYTES_H

#include <cstdint>
#include <string>

/// Returns the bytes that `weft explain` reports for the only collective of a
/// plan in MLIR's text; -1 if the text is not a plan with one collective.
int64_t explainedBytes(const std::string &plan);

#endif // WEFT_TEST_UNIT_EXPLAINEDBYTES_H
