//===- CollectiveRows.h - equal collectives of several layers ---*- C++ -*-===//
//
// The collectives
//
//   all_reduce  model  960  block_0/dense/output  output of block_0 is summed
//   all_reduce  model  960  block_1/dense/output  output of block_1 is summed
//
// are one row of a report, with a count and the bytes of both:
//
//   all_reduce  model  2 x 960  1,920  block_*/dense/output
//                                      output of block_* is summed
//
// A number in a name is a layer's: digits behind a letter or one of _ [ / . -.
// Other numbers, as in "dimension 1" and "4 shards", make rows different.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_COLLECTIVEROWS_H
#define WEFT_COMPILER_EXPLAIN_COLLECTIVEROWS_H

#include "weft/compiler/explain/Explain.h"

namespace weft {

/// Collectives that differ in the numbers of layers only.
struct CollectiveRow {
  std::vector<size_t> members; ///< indices, ascending
  int64_t count = 0;           ///< occurrences in a step
  int64_t bytes = 0;           ///< of all of them
  /// As in CollectiveCost, with * for numbers that differ.
  std::vector<std::string> where;
  std::string reason;
  std::vector<std::string> lines, annotations;
};

/// The rows, in the order of their first collectives. `isComplete`: one for each
/// collective.
std::vector<CollectiveRow> collectiveRows(const Explanation &explanation,
                                          bool isComplete = false);

/// The text with * for the numbers of layers.
std::string withoutLayerNumbers(llvm::StringRef text);
/// The texts, which are equal without the numbers of layers, as one: * for each
/// number that differs.
std::string mergedName(llvm::ArrayRef<std::string> texts);
/// The texts, in their order; of those that are equal without the numbers of
/// layers, one.
std::vector<std::string> mergedNames(llvm::ArrayRef<std::string> texts);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_COLLECTIVEROWS_H
