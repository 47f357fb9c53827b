//===- ClosestName.cpp - which name was meant -----------------------------===//

#include "weft/base/ClosestName.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weft {

size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1), before, last;
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min(
          {last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      bool isSwapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (isSwapped)
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string closestName(const std::string &name,
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

std::string someOf(const std::vector<std::string> &names) {
  constexpr size_t most = 8;
  std::vector<std::string> first(
      names.begin(), names.begin() + ptrdiff_t(std::min(most, names.size())));
  return listOf(first) +
         (names.size() > most
              ? " and " + std::to_string(names.size() - most) + " others"
              : "");
}

std::string suggestion(const std::string &name,
                       const std::set<std::string> &known,
                       const std::string &otherwise) {
  std::string closest = closestName(name, known);
  return closest.empty() ? otherwise : "did you mean " + closest + "?";
}

} // namespace weft
