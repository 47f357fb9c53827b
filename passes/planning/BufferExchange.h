//===- BufferExchange.h - loops whose rounds exchange buffers ---*- C++ -*-===//
//
//   %r:2 = weft.while(%a, %b) ... do {
//   ^bb0(%u, %v):
//     %w = call @change(%u)        // in %u's buffer
//     weft.yield %v, %w }
//
// In the next iteration %u is the value in %v's buffer, and %v in %u's.
// Nothing is copied: the plan has the body twice, and the second body has the
// two buffers exchanged.
//
//   iteration   0     1     2
//   %u is in    A     B     A
//   %v is in    B     A     B
//
// The same holds for a loop whose body computes a new value while the old value
// is still read: the carried value alternates between two buffers.
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

/// A carried value of a loop: its place at the start of an iteration, and the
/// place of the value that an iteration yields for it.
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
  /// copy at the end of an iteration. `mayExchange` says whether a place holds
  /// nothing but values of the loop while the loop runs.
  BufferExchange(llvm::ArrayRef<CarriedPlaces> carried,
                 llvm::function_ref<bool(Place)> mayExchange);

  /// The number of iterations after which all places are those of the first
  /// iteration again, which is the number of bodies in the plan.
  unsigned rounds() const { return period; }
  /// The place that replaces `place` in the body of iteration `round`.
  Place after(Place place, unsigned round) const;
  llvm::SmallVector<Place> places() const;

private:
  llvm::DenseMap<std::pair<unsigned, unsigned>, Place> next;
  unsigned period = 1;
};

} // namespace weft

#endif // WEFT_PASSES_PLANNING_BUFFEREXCHANGE_H
