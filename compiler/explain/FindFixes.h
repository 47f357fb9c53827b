//===- FindFixes.h - which annotation would remove a collective -*- C++ -*-===//
//
// Every change of LayoutChanges.h is tried: the program is propagated,
// partitioned and counted again under it. Of those under which the collective
// is gone (none of its kind and axes moves the same thing), the one whose step
// sends the fewest bytes is the fix:
//
//   add "d2/kernel": ["model", null]: a step sends 158,324 bytes instead of
//   165,324
//
// Where the cheapest sends no fewer bytes, or none removes it, the fix says so
// in words; without anything to change there is none.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_FINDFIXES_H
#define WEFT_COMPILER_EXPLAIN_FINDFIXES_H

#include "weft/compiler/explain/LayoutChanges.h"

#include <functional>

namespace weft {

/// What the step costs under another distribution; nothing where it does not
/// compile.
using Recount =
    std::function<std::optional<Explanation>(const keras::Distribution &)>;

/// Fills the `fix` of every collective. At most `budget` changes are tried,
/// those of the collectives with the most bytes first; a fix that knows of
/// changes that were not tried says so.
void findFixes(Explanation &explanation, const LayoutChanges &changes,
               const keras::Distribution &distribution, const Recount &recount,
               unsigned budget);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_FINDFIXES_H
