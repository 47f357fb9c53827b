//===- ClosestName.h - which name was meant ----------------------*- C++ -*-===//
//
// Suggestions for messages of compiler, runtime and command line.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_CLOSESTNAME_H
#define WEFT_RUNTIME_ABI_CLOSESTNAME_H

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// The number of inserted, removed or replaced letters between two names
/// (Levenshtein's distance).
inline size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// The known name that is closest to a misspelt one; empty if none differs in
/// at most a third of its letters.
inline std::string closestName(const std::string &name,
                               const std::set<std::string> &known) {
  size_t least = name.size() / 3 + 1;
  std::string out;
  for (const std::string &other : known)
    if (size_t distance = editDistance(name, other); distance < least) {
      least = distance;
      out = other;
    }
  return out;
}

/// "a, b" for the names a and b.
template <typename Names> std::string listOf(const Names &names) {
  std::string out;
  for (const std::string &name : names)
    out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// "did you mean NAME?" with the known name that is closest to a misspelt one;
/// `otherwise` if none is close.
inline std::string suggestion(const std::string &name,
                              const std::set<std::string> &known,
                              const std::string &otherwise) {
  std::string closest = closestName(name, known);
  return closest.empty() ? otherwise : "did you mean " + closest + "?";
}

} // namespace weft

#endif // WEFT_RUNTIME_ABI_CLOSESTNAME_H
