//===- BufferExchange.h - loops whose rounds exchange buffers ---*- C++ -*-===//
//
//   %r:2 = weft.while(%a, %b) ... do {
//   ^bb0(%u, %v):
//     %w = call @change(%u)        // in %u's buffer
//     weft.yield %v, %w }
//
// In the next round, %u is the value in %v's buffer, and the other way around.
// Nothing is copied: the plan has the body twice, and in the second one each of
// the two buffers stands where the first one has the other.
//
//   round       0     1     2
//   %u is in    A     B     A
//   %v is in    B     A     B
//
// So does a loop whose body computes a new value while the old one is still
// read: the carried value is in its own buffer and in the new value's by turns.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_BUFFEREXCHANGE_H
#define WEFT_PASSES_PLANNING_BUFFEREXCHANGE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

enum class PlaceKind { Argument, Result, Arena, Constant };
/// The memory of a value: the number of an argument, a result, an arena buffer
/// or a constant.
struct Place {
  PlaceKind kind = PlaceKind::Arena;
  unsigned index = 0;
  bool operator==(const Place &) const = default;
  std::pair<unsigned, unsigned> key() const {
    return {static_cast<unsigned>(kind), index};
  }
};

/// A carried value of a loop: its place at the start of a round, and the place
/// of the value that a round yields for it.
struct CarriedPlaces {
  Place before, after;
  int64_t bytes = 0;
};

/// A permutation of places.
class BufferExchange {
public:
  /// The least bytes of a carried value whose copy costs more than a launch.
  static constexpr int64_t kLeastBytes = 16 * 1024;
  /// The most bodies of a loop in the plan.
  static constexpr unsigned kMostRounds = 4;

  BufferExchange() = default;
  /// Finds the exchange in which as many carried values as possible need no
  /// copy at the end of a round. `mayExchange` says whether a place holds
  /// nothing but values of the loop while the loop runs.
  BufferExchange(llvm::ArrayRef<CarriedPlaces> carried,
                 llvm::function_ref<bool(Place)> mayExchange);

  /// The number of rounds until all places are again those of the first round,
  /// which is the number of bodies in the plan.
  unsigned rounds() const { return period; }
  /// What a body has, `round` rounds later, where the first one has `place`.
  Place after(Place place, unsigned round) const;
  llvm::SmallVector<Place> places() const;

private:
  llvm::DenseMap<std::pair<unsigned, unsigned>, Place> next;
  unsigned period = 1;
};

} // namespace weft

#endif // WEFT_PASSES_PLANNING_BUFFEREXCHANGE_H
