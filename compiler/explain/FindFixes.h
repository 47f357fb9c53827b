//===- FindFixes.h - which annotation would remove a collective -*- C++ -*-===//
//
// The fix of a collective is found by trying the changes that may concern it
// (LayoutChanges.h for a layout map, AnnotationChanges.h for a program's own
// annotations): the program is propagated, partitioned and counted again with
// it. Among changes that remove the collective (none of its kind with a common
// axis moves the same thing), the one whose step sends the fewest bytes is the
// fix:
//
//   add "d2/kernel": ["model", null]: a step sends 158,324 bytes instead of
//   165,324 and a device holds ... bytes less
//
// Annotations whose change removes the collective are its causes.
//
// If the cheapest sends no fewer bytes, or none removes it, the fix says so in
// words; without possible changes there is no fix.
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
  /// Empty: a new one.
  std::string annotation;
  /// The cost of a step with the change; nothing if the program does not
  /// compile.
  std::function<std::optional<Explanation>()> recount;
};

/// The changes that may concern a collective, the most likely first.
using ChangesOf = std::function<std::vector<Change>(const CollectiveCost &)>;

/// Fills the `annotations` and `fix` of collectives. At most `budget` changes
/// are tried, those of the collectives with the most bytes first; a fix mentions
/// changes that were not tried.
void findFixes(Explanation &explanation, const ChangesOf &changesOf,
               unsigned budget);

/// The number of changes that take a few seconds to try, the same on every
/// machine.
unsigned affordableChanges(const Explanation &explanation);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_FINDFIXES_H
