//===- MoveCosts.cpp - costs of moves between the layouts of a shape -------===//

#include "weft/passes/sharding/propagation/MoveCosts.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/passes/sharding/FreeRegions.h"
#include "weft/passes/sharding/propagation/HeldMemory.h"

#include <set>
#include <string>

using namespace weft;
using namespace mlir;

static constexpr int64_t kCostsInPicosecond = 16;

int64_t weft::inPicoseconds(int64_t cost) { return cost / kCostsInPicosecond; }

int64_t weft::costOf(const Price &price, int64_t times) {
  constexpr int64_t kPicosecond = 1000, kMicrosecond = 1'000'000'000;
  int64_t moving = (price.moving + kPicosecond - 1) / kPicosecond;
  int64_t messages = std::min<int64_t>(price.waiting / kMicrosecond, 7);
  return saturatingMultiply(
      saturatingAdd(saturatingMultiply(moving, kCostsInPicosecond),
                    2 * messages),
      times);
}

unsigned LayoutSpace::number(const Layout &layout) {
  auto known = std::find(layouts.begin(), layouts.end(), layout);
  if (known != layouts.end())
    return known - layouts.begin();
  layouts.push_back(layout);
  return layouts.size() - 1;
}

LayoutSpace &MoveCosts::spaceOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  FixedLayoutsOpInterface region = freeRegionAround(value);
  LayoutSpace *&space = spaceOfShape[{region ? region.getOperation() : nullptr,
                                      bytesOf(type.getElementType()),
                                      std::vector<int64_t>(type.getShape())}];
  if (!space)
    space = &spaces.emplace_back(value);
  return *space;
}

size_t MoveCosts::numPairs() const {
  // Shapes with as many dimensions share plans.
  std::map<std::pair<Region, size_t>, std::set<std::string>> layouts;
  for (const auto &[key, space] : spaceOfShape) {
    const auto &[region, bytes, shape] = key;
    for (const Layout &layout : space->layouts)
      layouts[{region, shape.size()}].insert(
          toString(pricing.onMesh(), layout));
  }
  size_t pairs = 0;
  for (const auto &[kind, own] : layouts)
    pairs += own.size() * own.size();
  return pairs;
}

Price MoveCosts::price(LayoutSpace &space, unsigned from, unsigned to) {
  auto [known, fresh] = space.prices.try_emplace({from, to});
  if (!fresh)
    return known->second;
  const Layout &before = space.layout(from), &after = space.layout(to);
  constexpr size_t kFewAxes = 2;
  known->second = pricing.onMesh().axes.size() > kFewAxes
                      ? pricing.moveInProportion(space.value, before, after)
                      : pricing.move(space.value, before, after);
  return known->second;
}

int64_t MoveCosts::cost(LayoutSpace &space, unsigned from, unsigned to,
                        const MoveKind &kind) {
  if (from == to)
    return 0;
  if (kind.keepsSums && space.layout(to).isPartial() &&
      !samePartial(space.layout(from), space.layout(to)))
    return kForbidden;
  int64_t cost = costOf(price(space, from, to), kind.times);
  if (kind.original)
    cost = std::min(cost, costOf(price(space, *kind.original, to), kind.times));
  if (kind.original && to == *kind.original)
    return cost;
  return saturatingAdd(cost, heldCost(space, to, kind.heldShare));
}

int64_t MoveCosts::heldCost(const LayoutSpace &space, unsigned layout,
                            int64_t share) const {
  if (share == 0 || ofByte == 0)
    return 0;
  int64_t bytes =
      HeldMemory::bytesOf(cast<RankedTensorType>(space.value.getType()),
                          space.layout(layout)) *
      share / HeldMemory::kQuarters;
  constexpr double kMost = 1e17;
  return costOf({int64_t(std::min(double(bytes) * ofByte, kMost)), 0, 0}, 1);
}

std::shared_ptr<const PairCosts>
MoveCosts::tableOf(LayoutSpace &space, const std::vector<unsigned> &from,
                   const std::vector<unsigned> &to, const MoveKind &kind) {
  auto &known = tables[{&space, from, to, kind}];
  if (known)
    return known;
  auto table = std::make_shared<PairCosts>(from.size(), to.size());
  for (unsigned row = 0; row < from.size(); ++row)
    for (unsigned column = 0; column < to.size(); ++column)
      table->at(row, column) = cost(space, from[row], to[column], kind);
  known = table;
  return known;
}
