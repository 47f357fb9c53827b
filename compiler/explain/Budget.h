//===- Budget.h - limits on a program's costs -------------------*- C++ -*-===//
//
//   module attributes {weft.expect = "all_reduce=1, bytes<=14336"}
//   weft compile prog.mlir --expect "all_gather<=0, memory<=64MiB"
//
// A budget is limits, separated by commas: SUBJECT, one of = == <= <, and a
// number (4e6, 64MiB, 1_000). Subjects, of one step:
//
//   collectives        their number
//   bytes              bytes that one device sends (Explain.h's formulas)
//   memory             bytes on the fullest device
//   all_reduce ...     number of collectives of one kind
//   all_reduce.bytes   bytes that one device sends in them
//   gap                what other layouts may save at most, as a part of the
//                      price: gap<=0.01
//
// `weft.memory = 67108864 : i64`, the bytes of a device, is the limit on memory
// that the compiler also works towards (weft-fit-memory).
//
// A program outside of its limits does not compile: the error names the limit,
// the three counted collectives that send most, with their lines, and the
// cheapest change of annotation, if the caller can search for one.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_BUDGET_H
#define WEFT_COMPILER_EXPLAIN_BUDGET_H

#include "weft/compiler/explain/Explain.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace weft {

inline constexpr llvm::StringLiteral kExpectAttr = "weft.expect";

/// Parses 14336, 1_000, 4e6, 64MiB, 2.5MB; nothing for other texts.
std::optional<double> parseQuantity(llvm::StringRef text);

/// The quantity without its fraction, or the greatest integer if it is greater.
int64_t wholeQuantity(double quantity);

struct Limit {
  enum class Relation { Exactly, AtMost, Below };
  std::string text; ///< the text as written: all_reduce<=2
  std::string subject;
  Relation relation = Relation::AtMost;
  double value = 0; ///< a gap is in kGapParts

  bool holds(int64_t cost) const;
};

/// The limits of a text, or nothing and the error.
std::optional<std::vector<Limit>> parseBudget(llvm::StringRef text,
                                              std::string &error);

/// The cost of a program in the limit's subject. Covers all subjects of
/// parseBudget.
int64_t costOf(const Limit &limit, const Explanation &explanation);

/// The text of such a cost: 14,336, or 0.0123 for a gap.
std::string costText(const Limit &limit, int64_t cost);

/// A limit, its source, and the cost of the step.
struct LimitStatus {
  Limit limit;
  std::string source; ///< weft.expect, weft.memory, --expect
  int64_t cost = 0;
  bool holds() const { return limit.holds(cost); }
};

/// The limits of the module's budget and of `more`. A text with an invalid
/// limit is left out, as checkBudget() reports it.
std::vector<LimitStatus> limitsOf(mlir::ModuleOp module,
                                  llvm::ArrayRef<std::string> more,
                                  const Explanation &explanation);

/// The collectives that a limit counts, those that send most first; none for
/// memory.
std::vector<const CollectiveCost *> spenders(const Limit &limit,
                                             const Explanation &explanation);

/// A function that fills the `fix` of the collectives (FindFixes.h).
using FixSearch = std::function<void(Explanation &)>;

/// Checks the module's programs, at stage `plan`, against the module's budget
/// and `more`. Emits an error for each limit that does not hold, or for the
/// first invalid text.
llvm::LogicalResult checkBudget(mlir::ModuleOp module,
                                llvm::ArrayRef<std::string> more = {},
                                const FixSearch &findFixes = {});

/// The pass weft-check-budget: checks the module's own budget.
std::unique_ptr<mlir::Pass> createCheckBudgetPass();
void registerCheckBudgetPass();

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_BUDGET_H
