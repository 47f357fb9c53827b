//===- Budget.h - limits on a program's costs -------------------*- C++ -*-===//
//
//   module attributes {weft.expect = "all_reduce=1, bytes<=14336"}
//   weft compile prog.mlir --expect "all_gather<=0, memory<=64MiB"
//
// Limits with commas between: SUBJECT, one of = <= <, and a number (4e6, 64MiB,
// 1_000). Subjects, of one step:
//
//   collectives        how many there are
//   bytes              what one device sends (Explain.h's formulas)
//   memory             bytes on the fullest device
//   all_reduce ...     collectives of that kind
//   all_reduce.bytes   what they send
//
// `weft.memory = 67108864 : i64`, the bytes of a device, is the limit on memory
// that the compiler also works towards (weft-fit-memory).
//
// A program that costs more does not compile: the error names the limit, the
// collectives behind it with their lines, and the cheapest change of
// annotation, if the caller can search for one.
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

struct Limit {
  enum class Relation { Exactly, AtMost, Below };
  std::string text; ///< as it was written: all_reduce<=2
  std::string subject;
  Relation relation = Relation::AtMost;
  double value = 0;

  bool holds(int64_t cost) const;
};

/// The limits of a text, or nothing and the error.
std::optional<std::vector<Limit>> parseBudget(llvm::StringRef text,
                                              std::string &error);

/// The cost of a program in the limit's subject. Exhaustive over parseBudget's
/// subjects.
int64_t costOf(const Limit &limit, const Explanation &explanation);

/// A limit, its source, and the cost of the step.
struct LimitStatus {
  Limit limit;
  std::string source; ///< weft.expect, weft.memory, --expect
  int64_t cost = 0;
  bool holds() const { return limit.holds(cost); }
};

/// The limits of the module's budget and of `more`; invalid ones are left out,
/// as checkBudget() reports them.
std::vector<LimitStatus> limitsOf(mlir::ModuleOp module,
                                  llvm::ArrayRef<std::string> more,
                                  const Explanation &explanation);

/// The collectives that a limit counts, those that send most first.
std::vector<const CollectiveCost *> spenders(const Limit &limit,
                                             const Explanation &explanation);

/// Fills the `fix` of the collectives, if the caller can (FindFixes.h).
using FixSearch = std::function<void(Explanation &)>;

/// Checks the module's programs, at stage `plan`, against the module's budget
/// and `more`. Emits an error for each limit that is exceeded.
llvm::LogicalResult checkBudget(mlir::ModuleOp module,
                                llvm::ArrayRef<std::string> more = {},
                                const FixSearch &findFixes = {});

/// The pass weft-check-budget: checks the module's own budget.
std::unique_ptr<mlir::Pass> createCheckBudgetPass();
void registerCheckBudgetPass();

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_BUDGET_H
