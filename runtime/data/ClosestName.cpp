//===- ClosestName.cpp - which name was meant -----------------------------===//

#include "weft/runtime/data/ClosestName.h"

#include <algorithm>
#include <utility>
#include <vector>

size_t weft::editDistance(const std::string &a, const std::string &b) {
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

std::string weft::closestName(const std::string &name,
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
