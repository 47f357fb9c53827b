//===- Explain.h - what a program communicates and holds ------*- C++ -*-===//
//
// Read off the finished plan, so that what is printed is what runs:
//
//   all_reduce   over batch   1,111,684 B   gradient of d1/kernel and 4 more
//
// Bytes are those one device sends in one occurrence, by the ring formula:
// all_reduce 2(p-1)/p n, all_gather and reduce_scatter (p-1)/p of the full
// array, all_to_all (p-1)/p of the local array; what the fullest device
// receives for permute and exchange.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_EXPLAIN_H
#define WEFT_COMPILER_EXPLAIN_EXPLAIN_H

#include "weft/dialects/plan/Plan.h"

#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace weft {

/// One communicating instruction.
struct CollectiveCost {
  std::string kind;  ///< all_reduce, ...
  std::vector<std::string> axes;
  int64_t bytes = 0; ///< sent by one device in one occurrence
  int64_t count = 1; ///< occurrences in a step
  std::string where; ///< layers
  std::string why;   ///< provenance, one line
};

/// Bytes on the fullest device.
struct MemoryUse {
  int64_t weights = 0, optimizer = 0, activations = 0, temporaries = 0,
          batch = 0;
  int64_t total() const {
    return weights + optimizer + activations + temporaries + batch;
  }
};

/// What became of one rule of a layout map.
struct RuleStatus {
  std::string key, status; ///< used, dead, shadowed
  std::vector<std::string> matches;
  std::string advice;      ///< closest paths of a dead rule
};

struct Explanation {
  std::vector<CollectiveCost> collectives;
  MemoryUse memory;
  std::vector<RuleStatus> rules;
  int64_t devices = 1;
};

Explanation explainProgram(plan::ProgramOp program);
llvm::json::Value toJson(const Explanation &explanation);
/// Tables of at most `width` columns.
std::string toText(const Explanation &explanation, unsigned width = 100);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_EXPLAIN_H
