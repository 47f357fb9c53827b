//===- Explain.h - communication and memory of a program --------*- C++ -*-===//
//
// An explanation is computed from the finished plan, so it describes the
// program that runs:
//
//   all_reduce   model   3,840   d2/output
//     why  output of d2 is summed over "model"
//     fix  no cheaper layout found; closest alternative: add "d2/output":
//          [["data", "model"], null]: a step sends 105,684 bytes instead of
//          105,648 and a device holds 128 bytes less
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

#include "weft/dialects/plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// An instruction that communicates.
struct CollectiveCost {
  std::string kind; ///< all_reduce, ...
  std::vector<std::string> axes;
  int64_t bytes = 0; ///< sent by one device in one occurrence
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
  /// The cheapest change of annotation that removes it (FindFixes.h).
  std::optional<std::string> fix;
};

/// Bytes on the device that holds most.
struct MemoryUse {
  int64_t weights = 0, optimizer = 0;
  /// Bytes that the forward part keeps for the gradients, and the step's
  /// results.
  int64_t activations = 0;
  int64_t temporaries = 0; ///< the rest of the arena
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

struct Explanation {
  std::string step;    ///< train, evaluate, predict, ...
  std::string devices; ///< "8 devices, data=2 x model=4"
  std::vector<CollectiveCost> collectives;
  MemoryUse memory;
  std::vector<RuleStatus> rules;
  int64_t instructions = 0; ///< of the plan, ports and buffers included

  /// Bytes that one step sends, and its collectives, each at most INT64_MAX.
  int64_t totalBytes() const;
  int64_t totalCount() const;
};

Explanation explainProgram(plan::ProgramOp program);
/// Explains the first program of a module at stage `plan`.
Explanation explainProgram(mlir::ModuleOp module);
llvm::json::Value toJson(const Explanation &explanation);
/// Formats tables of at most `width` columns, except for longer names.
std::string toText(const Explanation &explanation, unsigned width = 96);
/// The text of a number with groups: 1234567 as 1,234,567.
std::string groupedDigits(int64_t value);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_EXPLAIN_H
