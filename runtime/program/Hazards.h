//===- Hazards.h - what each step must wait for -----------------*- C++ -*-===//
//
// Steps that touch the same bytes, one of them writing, keep their order; all
// others may run side by side:
//
//   Hazards hazards;
//   hazards.add({{0, 64, true}});                      // step 0: {}
//   hazards.add({{64, 128, true}});                    // step 1: {}
//   hazards.add({{0, 64, false}, {128, 192, true}});   // step 2: {0}
//   hazards.add({{0, 192, true}});                     // step 3: {2, 1}
//
// Step 3 does not wait for step 0 itself, as step 2 does. Bytes are numbered as
// the caller likes: addresses of devices, so that the arrays of an arena that
// overlap, a donated input and its output, and ports with the same memory are
// all found.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_HAZARDS_H
#define WEFT_RUNTIME_PROGRAM_HAZARDS_H

#include "weft/runtime/program/Plan.h"

#include <map>

namespace weft::runtime {

/// Bytes that a step reads, or reads and writes.
struct BytesTouched {
  uint64_t begin, end;
  bool isWritten;
};

class Hazards {
public:
  /// Adds a step. Returns the earlier ones that it must wait for, without those
  /// for which one of them waits already.
  WEFT_EXPORT std::vector<uint32_t> add(std::span<const BytesTouched> touched);
  /// The steps for which no other waits.
  WEFT_EXPORT std::vector<uint32_t> last() const;

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// The bytes from the key to `end`: the step that wrote them last, and those
  /// that have read them since.
  struct Range {
    uint64_t end;
    uint32_t writer = kNone;
    std::vector<uint32_t> readers;
  };
  using Ranges = std::map<uint64_t, Range>;

  /// Divides a range at `place` if one contains it.
  void divide(uint64_t place);
  void touch(const BytesTouched &bytes, uint32_t step,
             std::vector<uint32_t> &found);
  /// Removes steps that another of them waits for.
  void reduce(std::vector<uint32_t> &steps);

  Ranges ranges;
  std::vector<std::vector<uint32_t>> before; ///< what each step waits for
  std::vector<uint32_t> seen; ///< the step for which each was visited last
};

/// A buffer that an instruction uses.
struct BufferUse {
  uint32_t buffer;
  bool isWritten;
};
/// The buffers of an instruction on one device: of a launch, a copy, or the
/// start of a collective; none for others. If a kernel does not say which of its
/// buffers it writes, it is any that is writable.
WEFT_EXPORT std::vector<BufferUse> buffersOf(const Plan &plan,
                                             const Instruction &instruction);

/// A straight piece of a plan: instructions first to end - 1, to which no jump
/// leads but to the first, and which do not jump.
struct StraightPiece {
  uint32_t first, end;
};
/// The pieces of a plan, in order; the jumps and the return are in none.
WEFT_EXPORT std::vector<StraightPiece> straightPieces(const Plan &plan);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_HAZARDS_H
