//===- Timeline.h - a step, instruction by instruction ----------*- C++ -*-===//
//
// The instructions of a plan in program order, each with the bytes of the arena
// whose value is still needed while it runs:
//
//   0  dot_8x50x10            d2/output   forward    400 kept    320 temporary
//   1  all_reduce over model  d2/output   forward    400 kept    320 temporary
//   2  dot_50x8x10            d2/output   backward   400 kept  2,320 temporary
//
// Weights, optimizer, batch and results are held from start to end. The part of
// the arena that holds no value at the peak is unused space between buffers.
// The sum of all these is a device's bytes in Explain.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_TIMELINE_H
#define WEFT_COMPILER_EXPLAIN_TIMELINE_H

#include "weft/compiler/explain/Explain.h"

namespace weft {

enum class StepPhase { Forward, Backward, Update };

/// An instruction and the memory in use while it runs.
struct Moment {
  std::string what;               ///< the kernel, or the instruction's kind
  std::vector<std::string> where; ///< paths of variables and layers
  StepPhase phase = StepPhase::Forward;
  /// The index of the instruction among the explanation's collectives.
  std::optional<size_t> collective;
  int64_t kept = 0; ///< bytes of the arena that are kept for the gradients
  int64_t temporaries = 0; ///< other bytes of the arena that are in use
  int64_t inUse() const { return kept + temporaries; }
};

/// A buffer of the arena.
struct Resident {
  std::string where, type; ///< d2/output, 8x10 float32
  int64_t bytes = 0;
  size_t first = 0, last = 0; ///< moments of its first and last use
  bool isKept = false;
};

struct Timeline {
  std::vector<Moment> moments;
  int64_t results = 0; ///< results of the step; part of MemoryUse::activations
  int64_t arena = 0;
  size_t peak = 0;     ///< the first moment with the most bytes in use
  bool trains = false; ///< whether the step has a backward part
  /// Values in use at the peak, the largest first.
  std::vector<Resident> atPeak;

  /// Bytes of the arena that are not in use at the peak.
  int64_t unused() const {
    return arena - (moments.empty() ? 0 : moments[peak].inUse());
  }
};

Timeline timelineOf(plan::ProgramOp program);

/// NumPy's name of a type: "float32", "bool", "complex64".
std::string elementName(mlir::Type elementType);
/// The text of a shape: "8x10", "scalar".
std::string shapeName(llvm::ArrayRef<int64_t> shape);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_TIMELINE_H
