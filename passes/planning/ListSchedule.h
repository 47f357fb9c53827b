//===- ListSchedule.h - an order in which links are busy --------*- C++ -*-===//
//
// A straight piece of a step: instructions, what each needs, how long it takes,
// and the buffers that it uses. The backward pass of a layer:
//
//   0  dx        1 us                       0  dx
//   1  sum dx    2 us, over a link, of 0    1  sum dx starts
//   2  dw        3 us                       2  dw
//   3  next      1 us, of 1                    wait for 1
//                                           3  next
//   in order: 7 us, 2 of them exposed       5 us, nothing exposed
//
// A collective starts as soon as its operands are there and its memory fits,
// but one that takes memory not long before its first use. Where the device
// would wait, later instructions that fit are done first. With
// Preference::Path, those come first from which the longest way leads to the
// end; with Preference::Order, those that are first in the program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_LISTSCHEDULE_H
#define WEFT_PASSES_PLANNING_LISTSCHEDULE_H

#include "weft/passes/planning/StepClock.h"

#include <cstdint>
#include <vector>

namespace weft {

struct ScheduledNode {
  double seconds = 0;
  bool isSent = false;                   ///< a collective, which links carry
  llvm::SmallVector<unsigned, 2> axes;   ///< whose links a collective uses
  llvm::SmallVector<unsigned, 4> before; ///< earlier nodes that it needs
  llvm::SmallVector<unsigned, 4> buffers;
};

struct ScheduledBuffer {
  int64_t bytes = 0;
  bool isLiveBefore = false; ///< in use at the start of the piece
  bool isLiveAfter = false;  ///< in use at the end of the piece
};

/// A straight piece; its nodes are in the program's order.
struct StraightSteps {
  std::vector<ScheduledNode> nodes;
  std::vector<ScheduledBuffer> buffers;
};

struct ListSchedule {
  std::vector<unsigned> order; ///< nodes; a collective where it starts
  double seconds = 0;
  int64_t peak = 0; ///< the most bytes of the piece's buffers at once
};

/// The piece in its order, where each collective is awaited at once.
ListSchedule asWritten(const StraightSteps &steps);

enum class Preference { Order, Path };
/// Reorders the piece; at most `bytes` are live, as far as the program's order
/// does not need more.
ListSchedule findOverlap(const StraightSteps &steps, Preference preference,
                         int64_t bytes);

} // namespace weft

#endif // WEFT_PASSES_PLANNING_LISTSCHEDULE_H
