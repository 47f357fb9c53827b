//===- LayoutSearch.h - the cheapest layouts that were found --------*- C++ -*-===//
//
//   Annotations(table).enter();
//   LayoutPropagation(table).run();
//   std::vector<OpSharding> shardings = LayoutSearch(table).run();
//
// If propagation leaves an op in conflict, its layouts depend on the order of
// the ops. Then there are two proposals:
//
//   LayoutQuestion        all layouts at once, by message passing
//   ConflictResolution    one conflict after another, each with what follows;
//                         for small functions, and for those that have too many
//                         devices or layouts to be solved
//
// A question that message passing did not solve exactly gives two of its own.
// Each is assigned to a copy of the function, and all movements and repeated
// work in it are priced, each as often as it is run. The one that sends fewer
// bytes is taken.
//
// A sort of 64 numbers takes one device less time than the message that would
// divide it. In a function of which all work takes one device less time than a
// message, work decides between equal layouts only.
//
// Where memory is weighed, the question is solved in any case and decides alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTSEARCH_H
#define WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTSEARCH_H

#include "weft/passes/sharding/propagation/ChooseSharding.h"
#include "weft/passes/sharding/propagation/LayoutQuestion.h"
#include "weft/passes/sharding/propagation/LayoutTable.h"

namespace weft {

class LayoutSearch {
public:
  explicit LayoutSearch(LayoutTable &table [[clang::lifetimebound]])
      : table(table) {}

  /// Lets run() weigh memory: what a held byte costs in 1024ths of a moved one.
  void weighMemory(int64_t weight) { memoryWeight = weight; }
  /// Lets run() find the cheapest layouts in which the value has another one.
  void ask(mlir::Value value) { asked.push_back(value); }
  /// Changes the layouts of free values of the table where that is cheaper, and
  /// returns the sharding of each of its ops.
  std::vector<OpSharding> run();
  /// Adds the graph of the layouts to the function as attributes; false if it has
  /// too many devices or layouts.
  bool describe();
  /// The number of ops whose tensors want an axis for two factors, or other axes
  /// for one, in the layouts of propagation.
  unsigned conflicts() const { return numConflicts; }

  /// The price and the bound of the layouts' graph, in picoseconds, if they were
  /// chosen by price (dialects/weft/LayoutPrice.h).
  struct Proof {
    int64_t price = 0, bound = 0;
  };
  std::optional<Proof> proof() const { return found; }
  /// Another layout of a value, and the price of the graph's cheapest layouts
  /// with it that were found, in picoseconds.
  struct Alternative {
    Layout chosen, layout;
    int64_t price = 0;
  };
  /// For the values that were asked for, in their order; nothing for one whose
  /// layout is not that of the graph's cheapest, or can be no other.
  llvm::ArrayRef<std::optional<Alternative>> alternatives() const {
    return others;
  }
  /// Whether an op was in conflict and no price of all layouts was found.
  bool isUnproved() const { return unproved; }

private:
  /// What the ops run with, and the layouts of the table for that.
  struct Proposal {
    std::vector<OpSharding> shardings;
    LayoutTable::Entries layouts;
    Price price;
  };
  /// The layouts of all ops at once; none if there are too many. The table stays.
  std::optional<Proposal> solve();
  /// What labels of a question give, and its price.
  Proposal proposalOf(LayoutQuestion &question,
                      const std::vector<unsigned> &labels);
  /// What a held byte costs on the slowest link.
  WeighedMemory weighed(const HeldMemory &held) const;
  /// The rates at which layouts are solved.
  TargetRates ratesToSolve() const;
  /// Finds the alternatives to a solution.
  void compare(const LayoutQuestion &question, const Solution &solution);
  void take(const Proposal &solved);
  /// Drops alternatives to layouts that were not taken.
  void dropOthers();
  Price priceOf(const std::vector<OpSharding> &shardings) const;

  LayoutTable &table;
  std::vector<OpSharding> start; ///< each op by itself
  unsigned numConflicts = 0;
  int64_t memoryWeight = 0;
  std::optional<Proof> found;
  bool unproved = false;
  std::vector<mlir::Value> asked;
  std::vector<std::optional<Alternative>> others; ///< one for each of `asked`
};

/// The error for a target without rates.
mlir::LogicalResult emitUnknownTarget(mlir::Operation *op,
                                      llvm::StringRef target);

/// The price of all movements of the table's function under its layouts, and of
/// the work beside that of `start`, each as often as it is run. Nothing is
/// changed.
Price priceAssigned(const LayoutTable &table,
                    const std::vector<OpSharding> &shardings,
                    const std::vector<OpSharding> &start);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTSEARCH_H
