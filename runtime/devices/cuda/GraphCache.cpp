#include "weft/runtime/devices/cuda/GraphCache.h"

#include <algorithm>

namespace weft::runtime {

GraphCache::Entry &GraphCache::find(uint32_t first, const Places &places) {
  std::list<Entry> &entries = pieces[first];
  auto known = std::ranges::find(entries, places, &Entry::places);
  if (known == entries.end()) {
    if (entries.size() == kMostSets)
      entries.pop_back();
    known = entries.insert(entries.begin(), Entry());
    known->places = places;
  }
  entries.splice(entries.begin(), entries, known);
  return entries.front();
}

} // namespace weft::runtime
