#include "weft/runtime/devices/cuda/GraphCache.h"

#include <algorithm>

namespace weft::runtime {

Status GraphCache::find(uint32_t first, const Places &places,
                        const GpuStream &stream, Entry *&out) {
  std::list<Entry> &entries = pieces[first];
  auto known = std::ranges::find(entries, places, &Entry::places);
  if (known == entries.end()) {
    if (entries.size() == kMostSets) {
      if (entries.back().graph)
        if (Status ok = stream.wait(); !ok)
          return ok;
      entries.pop_back();
    }
    known = entries.insert(entries.begin(), Entry());
    known->places = places;
  }
  entries.splice(entries.begin(), entries, known);
  out = &entries.front();
  return {};
}

} // namespace weft::runtime
