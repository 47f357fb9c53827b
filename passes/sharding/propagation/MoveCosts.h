//===- MoveCosts.h - costs of moves between the layouts of a shape --*- C++ -*-===//
//
// The layers of a model have tensors of few shapes, and each shape few layouts.
// All values of one shape, element and region share a space, in which layouts
// have numbers and each pair is priced once:
//
//   LayoutSpace &space = costs.spaceOf(%x);
//   unsigned from = space.number(layout), to = space.number(other);
//   costs.tableOf(space, {from}, {to}, {.times = 1})
//
// A cost is the price of a move in picoseconds of bytes in flight, times 16, and
// two for each microsecond of latency, at most 14: messages decide between
// equal prices only.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_MOVECOSTS_H
#define WEFT_PASSES_SHARDING_PROPAGATION_MOVECOSTS_H

#include "weft/passes/sharding/propagation/ChooseSharding.h"
#include "weft/passes/sharding/solver/ChoiceGraph.h"

#include "llvm/ADT/DenseMap.h"

#include <list>
#include <map>

namespace weft {

/// The cost of a price that is paid this many times.
int64_t costOf(const Price &price, int64_t times);
/// The picoseconds of a cost.
int64_t inPicoseconds(int64_t cost);

/// The layouts of the values of one shape, element type and region.
class LayoutSpace {
public:
  explicit LayoutSpace(mlir::Value value) : value(value) {}
  /// The number of a layout, which may be new.
  unsigned number(const Layout &layout);
  const Layout &layout(unsigned number) const { return layouts[number]; }

private:
  friend class MoveCosts;
  mlir::Value value; ///< one of the space, for its type and region
  std::vector<Layout> layouts;
  llvm::DenseMap<std::pair<unsigned, unsigned>, Price> prices;
};

/// The restrictions on a move between two layouts, and how often it is made.
struct MoveKind {
  int64_t times = 1;
  /// Whether a partial `to` layout is only reached from one with the same
  /// partial axes, as summands are not made for an op that may pass them on.
  bool keepsSums = false;
  /// A layout that the value has as well, or none: the cheaper move counts.
  std::optional<unsigned> original = std::nullopt;
  /// The share of the moved copy in what a device holds (HeldMemory.h).
  int64_t heldShare = 0;
  auto operator<=>(const MoveKind &) const = default;
};

class MoveCosts {
public:
  explicit MoveCosts(ShardingPrices &pricing [[clang::lifetimebound]])
      : pricing(pricing) {}

  LayoutSpace &spaceOf(mlir::Value value);
  int64_t cost(LayoutSpace &space, unsigned from, unsigned to,
               const MoveKind &kind);
  /// The costs between rows and columns of layouts; equal ones are one table.
  std::shared_ptr<const PairCosts> tableOf(LayoutSpace &space,
                                           const std::vector<unsigned> &from,
                                           const std::vector<unsigned> &to,
                                           const MoveKind &kind);
  /// Sets what a byte costs that a device holds when it is fullest.
  void weighMemory(double femtosecondsOfByte) { ofByte = femtosecondsOfByte; }
  /// The cost of holding a value of the space in a layout.
  int64_t heldCost(const LayoutSpace &space, unsigned layout,
                   int64_t share) const;
  /// The pairs of layouts that may be planned at most: for 32 layers of a
  /// transformer 4,000 on two axes, 140,000 on three.
  size_t numPairs() const;

private:
  Price price(LayoutSpace &space, unsigned from, unsigned to);

  ShardingPrices &pricing;
  double ofByte = 0;
  std::list<LayoutSpace> spaces;
  using Region = mlir::Operation *;
  std::map<std::tuple<Region, int64_t, std::vector<int64_t>>, LayoutSpace *>
      spaceOfShape;
  std::map<std::tuple<LayoutSpace *, std::vector<unsigned>,
                      std::vector<unsigned>, MoveKind>,
           std::shared_ptr<const PairCosts>>
      tables;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_MOVECOSTS_H
