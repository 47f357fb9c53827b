//===- Explain.h - communication and memory of a program --------*- C++ -*-===//
//
// An explanation is computed from the finished plan, so it describes the
// program that runs:
//
//   all_reduce   model   4 x 960   3,840   block_*/dense/output
//     why  output of block_* is summed over "model"
//
//   Changes of one annotation that save bytes, the best first (9 of 9 tried):
//
//     fix  change "block_.*/kernel" from [null, "model"] to ["model", null]: a
//          step sends 1,920 bytes instead of 5,760
//          all_reduce block_*/dense/output is gone
//
// Bytes are those that one device sends in one occurrence: by the formulas of
// RingTraffic.h for all_reduce, all_gather, reduce_scatter and all_to_all; for
// fetch, permute, collective_permute and exchange those of the device that
// sends most; for pick those of the result; for host_call none. `weft fit
// --stats` counts the same while running.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_EXPLAIN_H
#define WEFT_COMPILER_EXPLAIN_EXPLAIN_H

#include "weft/compiler/explain/StepTimes.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/layout/CollectiveMethods.h"
#include "weft/layout/MeshPart.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// An instruction that communicates.
struct CollectiveCost {
  std::string kind; ///< all_reduce, ...
  MeshPart part;    ///< the devices that take part
  std::vector<std::string> axes;
  int64_t bytes = 0; ///< bytes that one device sends in an occurrence
  int64_t count = 1; ///< occurrences in a step
  /// The bytes of all occurrences, at most INT64_MAX.
  int64_t totalBytes() const;
  /// The tensors that move, by the paths of variables and layers: d1/kernel.
  std::vector<std::string> where;
  std::string reason; ///< provenance: clauses, separated by "; "
  /// Lines of the script or program from which the collective comes, if known:
  /// train.py:12.
  std::vector<std::string> lines;
  /// Annotations without which the collective disappears (FindFixes.h).
  std::vector<std::string> annotations;
  /// The best change of annotation that removes or shrinks the collective, with
  /// the bytes saved (FindFixes.h); nothing if no change tried saves bytes.
  std::optional<std::string> fix;
  /// How GPUs carry it out, by CollectiveMode, with a device a GPU:
  /// "ncclAllReduce".
  std::array<std::string, 4> methods;
};

/// Memory of the device that holds the most bytes.
struct MemoryUse {
  int64_t weights = 0, optimizer = 0;
  /// Bytes that the forward part keeps for the gradients, and the step's
  /// results.
  int64_t activations = 0;
  int64_t temporaries = 0; ///< other bytes of the arena
  int64_t batch = 0;       ///< inputs, labels, sample weights
  /// Whether arguments have roles. Programs of JAX have none: all of their
  /// arguments that are not donated, also parameters, are in `batch`, which is
  /// then shown as "arguments".
  bool hasRoles = false;
  int64_t total() const {
    return weights + optimizer + activations + temporaries + batch;
  }
  llvm::StringRef batchName() const { return hasRoles ? "batch" : "arguments"; }
  llvm::StringRef batchNote() const {
    return hasRoles ? "inputs and labels" : "not donated";
  }
};

/// The use of one rule of a layout map.
struct RuleStatus {
  std::string key, status; ///< used, dead, shadowed
  std::vector<std::string> matches;
  std::string advice; ///< closest paths of a dead rule
};

/// A change of annotations with the step's costs under it.
struct Fix {
  std::string change; ///< for people: remove "d2/output": ["data", null]
  std::string effect; ///< a step sends 12 bytes instead of 14
  int64_t bytes = 0;  ///< bytes that a step sends under the change
  /// The most bytes on a device under the change, counted by ScheduledCost.h.
  int64_t memory = 0;
  unsigned places = 1; ///< number of annotations that the change affects
  /// Indices of collectives that the change removes or makes smaller.
  std::vector<size_t> removed, shrunk;
};

struct Explanation;
/// A change that was compiled, and the costs of the step with the change.
struct Trial {
  Fix fix;
  std::shared_ptr<const Explanation> under;
};
/// Orders fixes: fewer bytes, then less memory, then fewer annotations.
bool isBetter(const Fix &a, const Fix &b);

/// The changes that were tried, out of all that may concern a collective.
struct FixSearchSummary {
  size_t tried = 0, known = 0;
  bool isOutOfTime = false; ///< a limit on the time ended the search
};

/// The price of layouts that were chosen by price, in picoseconds, and the bytes
/// by which no other choice sends less (dialects/weft/LayoutPrice.h).
struct PricedLayouts {
  int64_t price = 0, mostSaved = 0;
};
inline constexpr int64_t kGapParts = 10'000;

struct Explanation {
  /// What other layouts may save at most, in kGapParts of the bytes that a step
  /// sends, rounded up: all, where it is not known.
  int64_t gap() const;
  /// The bytes that a step sends at least, whichever layouts are chosen for
  /// values that nobody annotated; 0 where that is not known.
  int64_t leastBytes() const;

  std::string step;    ///< train, evaluate, predict, ...
  std::string devices; ///< "8 devices, data=2 x model=4"
  std::vector<CollectiveCost> collectives;
  MemoryUse memory;
  std::vector<StepTimes> times; ///< times of each class of devices, by prices
  /// How GPUs exchange data; nothing for programs of CPUs.
  std::optional<CollectiveMode> mode;
  std::optional<PricedLayouts> layouts; ///< nothing: no op was in conflict
  bool layoutsUnproved = false;         ///< conflicts were resolved one by one
  std::vector<RuleStatus> rules;
  int64_t instructions = 0;  ///< ops of the plan, with ports and buffers
  std::vector<Fix> fixes;    ///< changes that save bytes, the best first
  std::vector<Trial> trials; ///< all changes tried, in their order
  std::optional<FixSearchSummary> search; ///< none if no fixes were searched

  /// Bytes that the busiest device sends in a step, and the collectives of a
  /// device, each at most INT64_MAX.
  int64_t totalBytes() const;
  int64_t totalCount() const;
};

/// The cost of one instruction.
CollectiveCost explainCollective(plan::StartOp op, const Mesh &mesh);
/// Adds an argument to the category of its role.
void addArgument(int64_t bytes, llvm::StringRef role, bool isDonated,
                 MemoryUse &memory);
Explanation explainProgram(plan::ProgramOp program);
/// Explains the first program of a module at stage `plan`.
Explanation explainProgram(mlir::ModuleOp module);
llvm::json::Value toJson(const Explanation &explanation);

struct TextOptions {
  unsigned width = 96; ///< columns; longer names exceed the width
  /// Whether each collective has a row, without a limit on lines; otherwise
  /// equal rows are joined (CollectiveRows.h), and there are at most `lines`.
  bool isComplete = false;
  unsigned lines = 60;
};
std::string toText(const Explanation &explanation,
                   const TextOptions &options = {});

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_EXPLAIN_H
