//===- FindFixes.h - which annotation would remove a collective -*- C++ -*-===//
//
// Every change that may concern it (LayoutChanges.h of a layout map,
// AnnotationChanges.h of a program's own annotations) is tried: the program is
// propagated, partitioned and counted again under it. Of those under which the collective
// is gone (none of its kind and axes moves the same thing), the one whose step
// sends the fewest bytes is the fix:
//
//   add "d2/kernel": ["model", null]: a step sends 158,324 bytes instead of
//   165,324
//
// Annotations whose change makes the collective go are those it comes from.
//
// Where the cheapest sends no fewer bytes, or none removes it, the fix says so
// in words; without anything to change there is none.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_FINDFIXES_H
#define WEFT_COMPILER_EXPLAIN_FINDFIXES_H

#include "weft/compiler/explain/Explain.h"

#include <functional>

namespace weft {

/// Another annotation of the program.
struct Change {
  std::string text; ///< what a person would do; equal texts are one change
  /// The annotation that is removed: "d1/kernel": [null, "model"]. Empty: a new one.
  std::string annotation;
  /// The cost of a step with the change; nothing if the program does not compile.
  std::function<std::optional<Explanation>()> recount;
};

/// The changes that may concern a collective, the likeliest first.
using ChangesOf = std::function<std::vector<Change>(const CollectiveCost &)>;

/// Fills the `fix` of every collective. At most `budget` changes are tried,
/// those of the collectives with the most bytes first; a fix that knows of
/// changes that were not tried says so.
void findFixes(Explanation &explanation, const ChangesOf &changesOf,
               unsigned budget);

/// How many changes take a few seconds to try, the same on every machine.
unsigned affordableChanges(const Explanation &explanation);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_FINDFIXES_H
