//===- BufferExchange.cpp - loops whose rounds exchange buffers -----------===//

#include "weft/passes/planning/BufferExchange.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace weft;

BufferExchange::BufferExchange(llvm::ArrayRef<CarriedPlaces> carried,
                               llvm::function_ref<bool(Place)> mayExchange) {
  llvm::DenseSet<std::pair<unsigned, unsigned>> targets;
  auto isMoved = [&](const CarriedPlaces &value) {
    return value.bytes >= kLeastBytes && value.before != value.after &&
           mayExchange(value.before) && mayExchange(value.after);
  };
  // A value that stays is no target of another value.
  for (const CarriedPlaces &value : carried)
    if (value.before == value.after)
      targets.insert(value.before.key());
  for (const CarriedPlaces &value : carried)
    if (isMoved(value) && targets.insert(value.after.key()).second)
      next[value.before.key()] = value.after;
  // A chain is closed: the first place replaces the last.
  llvm::SmallVector<std::pair<Place, Place>> ends;
  for (const CarriedPlaces &value : carried) {
    if (!next.count(value.before.key()) || targets.count(value.before.key()))
      continue;
    Place last = value.before;
    for (auto it = next.find(last.key()); it != next.end();
         it = next.find(last.key()))
      last = it->second;
    ends.push_back({last, value.before});
  }
  for (auto [last, first] : ends)
    next[last.key()] = first;
  for (const auto &[key, place] : next) {
    unsigned length = 1;
    for (Place at = place; at.key() != key; at = after(at, 1))
      ++length;
    period = std::lcm(period, length);
  }
  if (period > kMostRounds) {
    next.clear();
    period = 1;
  }
}

Place BufferExchange::after(Place place, unsigned round) const {
  for (; round > 0; --round)
    if (auto it = next.find(place.key()); it != next.end())
      place = it->second;
  return place;
}

llvm::SmallVector<Place> BufferExchange::places() const {
  return llvm::map_to_vector(next, [](const auto &it) { return it.second; });
}
