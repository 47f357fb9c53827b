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
// Digits after a letter or one of _ [ / . - are the number of a layer.
// Other numbers, as in "dimension 1" and "4 shards", make rows different.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_COLLECTIVEROWS_H
#define WEFT_COMPILER_EXPLAIN_COLLECTIVEROWS_H

#include "weft/compiler/explain/Explain.h"

namespace weft {

/// Collectives that differ only in the numbers of layers.
struct CollectiveRow {
  std::vector<size_t> members; ///< indices, ascending
  int64_t count = 0;           ///< occurrences in a step
  int64_t bytes = 0;           ///< bytes of all these collectives
  /// Texts as in CollectiveCost, with * for numbers that differ.
  std::vector<std::string> where;
  std::string reason;
  std::vector<std::string> lines, annotations;
};

/// The rows, ordered by their first collectives. With `isComplete` each
/// collective has a row.
std::vector<CollectiveRow> collectiveRows(const Explanation &explanation,
                                          bool isComplete = false);

/// The text with * for the numbers of layers.
std::string withoutLayerNumbers(llvm::StringRef text);
/// Joins texts that are equal without the numbers of layers: * replaces each
/// number that differs.
std::string mergedName(llvm::ArrayRef<std::string> texts);
/// The texts in their order; texts that are equal without the numbers of
/// layers appear once.
std::vector<std::string> mergedNames(llvm::ArrayRef<std::string> texts);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_COLLECTIVEROWS_H
