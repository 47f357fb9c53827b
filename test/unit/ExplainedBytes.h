//===- ExplainedBytes.h - a plan's first collective, explained --*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_EXPLAINEDBYTES_H
#define WEFT_TEST_UNIT_EXPLAINEDBYTES_H

#include <cstdint>
#include <string>

/// Returns the bytes that `weft explain` reports for the only collective of a
/// plan in MLIR's text; -1 for a text that is no plan of one collective.
int64_t explainedBytes(const std::string &plan);

#endif // WEFT_TEST_UNIT_EXPLAINEDBYTES_H
