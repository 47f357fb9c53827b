//===- ClosestName.h - which name was meant ----------------------*- C++ -*-===//
//
// Suggestions for messages of compiler, runtime and command line.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CLOSESTNAME_H
#define WEFT_BASE_CLOSESTNAME_H

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// The number of inserted, removed, replaced or swapped letters between two
/// names (optimal string alignment): 1 between adma and adam.
size_t editDistance(const std::string &a, const std::string &b);

/// The known name that is closest to a misspelt name; empty if none differs in
/// at most a third of its letters.
std::string closestName(const std::string &name,
                        const std::set<std::string> &known);

/// "a, b" for the names a and b.
template <typename Names> std::string listOf(const Names &names) {
  std::string out;
  for (const std::string &name : names)
    out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// "a, b and 3 others" for many names.
std::string someOf(const std::vector<std::string> &names);

/// "did you mean NAME?" with the known name closest to a misspelt name;
/// `otherwise` if none is close.
std::string suggestion(const std::string &name,
                       const std::set<std::string> &known,
                       const std::string &otherwise);

} // namespace weft

#endif // WEFT_BASE_CLOSESTNAME_H
