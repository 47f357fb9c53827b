//===- FindFixes.h - changes of annotations that save bytes -----*- C++ -*-===//
//
// Fixes are found by trying the changes that may concern a collective
// (LayoutChanges.h for a layout map, AnnotationChanges.h for a program's own
// annotations): the program is propagated, partitioned and counted again with
// each. Among changes under which a step sends fewer bytes, the change with
// the fewest bytes comes first, then the least memory on a device, then the
// fewest annotations:
//
//   add "d2/kernel": ["model", null]: a step sends 158,324 bytes instead of
//   165,324 and a device holds 6,144 bytes less
//
// The order of the trials is fixed: half of them go to as many collectives, one
// each; then a collective gets as many as its share of the bytes (of equal
// collectives in several layers, the first). Annotations whose change removes a
// collective are its causes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_FINDFIXES_H
#define WEFT_COMPILER_EXPLAIN_FINDFIXES_H

#include "weft/compiler/explain/Explain.h"

#include <functional>

namespace weft {

/// A possible change of the program's annotations.
struct Change {
  std::string text; ///< the change, for people; equal texts are one change
  /// The annotation that is removed or replaced: "d1/kernel": [null, "model"].
  /// Empty for a new annotation.
  std::string annotation;
  unsigned places = 1; ///< number of annotations that the change affects
  /// The cost of a step with the change; nothing if the program does not
  /// compile.
  std::function<std::optional<Explanation>()> recount;
};

/// The changes that may concern a collective, the most likely first.
using ChangesOf = std::function<std::vector<Change>(const CollectiveCost &)>;

struct FixLimits {
  size_t most = 10;              ///< largest number of trials
  std::optional<double> seconds; ///< no trial starts later; none: no limit
  /// Called before each trial, and after the last, with the number of trials
  /// done and of all trials.
  std::function<void(size_t done, size_t all)> progress;
};

/// Fills the `annotations` and `fix` of collectives, and `trials`, `fixes` and
/// `search`. `memory` is for the step without a change, counted as
/// recount() counts it.
void findFixes(Explanation &explanation, const ChangesOf &changesOf,
               const MemoryUse &memory, const FixLimits &limits);

/// The number of changes that take a few seconds to try, at most `most`; the
/// same on every machine.
size_t affordableChanges(const Explanation &explanation, size_t most);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_FINDFIXES_H
