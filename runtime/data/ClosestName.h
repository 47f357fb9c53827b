//===- ClosestName.h - which name was meant ----------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DATA_CLOSESTNAME_H
#define WEFT_RUNTIME_DATA_CLOSESTNAME_H

#include <cstddef>
#include <set>
#include <string>

namespace weft {

/// Letters that are put in, taken out or replaced between two names
/// (Levenshtein's distance).
size_t editDistance(const std::string &a, const std::string &b);

/// The known name that is closest to a misspelt one; empty where none is like it:
/// a third of its letters may differ.
std::string closestName(const std::string &name,
                        const std::set<std::string> &known);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_CLOSESTNAME_H
