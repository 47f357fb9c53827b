#include "weft/runtime/devices/cuda/GraphCache.h"

#include <algorithm>

namespace weft::runtime {

Status GraphCache::find(Piece piece, const Places &places,
                        const GpuStream &stream, Entry *&out) {
  std::list<Entry> &entries = pieces[piece];
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
