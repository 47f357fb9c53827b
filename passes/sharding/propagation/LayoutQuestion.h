//===- LayoutQuestion.h - the layouts of a program as one graph -----*- C++ -*-===//
//
//   LayoutQuestion question(table, pricing, shardings);   as they are so far
//   Solution solution = solve(question.graph(), question.start());
//   question.apply(solution.labels, shardings);
//
// Every op is a node whose labels are its choices (OpChoices.h), with the cost
// of its work and of what it fetches and sends itself. Every value is a node
// whose labels are layouts: the one to which its producer's result is brought,
// and from which each of its uses starts. An edge costs the move between what
// an op produces or requires and the value's layout. Worked example, a weight
// [data, model] that two dots require as [-, model]:
//
//   weight   [data, model]: 0, [-, model]: one gather     a copy of what is fixed
//   dots     from [-, model]: 0, from [data, model]: a gather each
//
// so that the cheapest labels gather once.
//
// Fixed: annotated values, arguments, groups, what the function returns without
// an annotation, and what an op that states layouts passes into and out of its
// region. A value that a loop
// carries is one node; it gives up no axes. Constraints, the return and the
// ends of regions add costs to the labels of the values that they use.
//
// Where memory is weighed, labels of values and copies for uses cost what a device
// holds of them when it is fullest.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTQUESTION_H
#define WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTQUESTION_H

#include "weft/passes/sharding/propagation/HeldMemory.h"
#include "weft/passes/sharding/propagation/OpChoices.h"
#include "weft/passes/sharding/solver/Solve.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// What devices hold, and what a byte of it costs; nothing by default.
struct WeighedMemory {
  const HeldMemory *held = nullptr;
  double femtosecondsOfByte = 0;
};

class LayoutQuestion {
public:
  /// The question of a table; `now` has the sharding of each of its ops.
  LayoutQuestion(LayoutTable &table [[clang::lifetimebound]],
                 ShardingPrices &pricing [[clang::lifetimebound]],
                 llvm::ArrayRef<OpSharding> now,
                 const WeighedMemory &memory = {});

  const ChoiceGraph &graph() const { return choices; }
  /// Whether there are too many layouts to price the moves between them; then
  /// there is no graph.
  bool isTooLarge() const { return tooLarge; }
  /// The labels of the table and of the shardings that the question was made of.
  const std::vector<unsigned> &start() const { return first; }
  /// The layout of a label of a free value; nothing if the value is fixed or has
  /// no node.
  std::optional<Layout> layoutIn(const std::vector<unsigned> &labels,
                                 mlir::Value value) const;
  /// The graph without the labels of a free value that give it the layout that
  /// it has in `labels`; nothing if no other is left. `labels` gets one that is.
  std::optional<ChoiceGraph> without(std::vector<unsigned> &labels,
                                     mlir::Value value) const;
  /// A value that got another layout, and the one that it had.
  struct Change {
    mlir::Value value;
    Layout before;
  };
  using Changes = std::vector<Change>;
  /// Gives free values and ops the layouts of the labels, and values the copies
  /// from which their uses start.
  Changes apply(const std::vector<unsigned> &labels,
                std::vector<OpSharding> &shardings);

  /// Adds the graph to the function as attributes (ListLayoutChoices.cpp).
  void describe(const std::vector<unsigned> &labels);

private:
  struct ValueNode {
    LayoutSpace *space = nullptr;
    std::vector<unsigned> layouts; ///< one for each label
    /// The layout of a fixed value; its labels are further copies.
    std::optional<unsigned> fixed;
    unsigned uses = 0;
    std::optional<unsigned> node;
  };
  struct PieceNode {
    unsigned op = 0, piece = 0, node = 0;
    const ChoiceList *list = nullptr;
  };

  bool isRuled(unsigned op) const;
  void findSeenOutside();
  bool isFixed(mlir::Value leader) const;
  /// The value's node; null for sources and what is no ranked tensor.
  ValueNode *find(mlir::Value value);
  void listChoices(unsigned op, const OpSharding &now);
  void listLayouts(const PieceNode &piece);
  void addLayout(ValueNode &value, mlir::Value leader, unsigned layout);
  bool mayHave(mlir::Value leader, const Layout &layout) const;
  void listFlow(unsigned op);
  /// Gives values that become one another, as what a loop's condition passes on,
  /// each other's labels.
  void shareLayouts();

  void addValue(mlir::Value value);
  void addPiece(PieceNode &node);
  void addOp(unsigned op, size_t &piece);
  void addEdges(const PieceNode &piece);
  MoveKind moveKindOf(const PieceNode &piece, unsigned tensor,
                      const ValueNode &value) const;
  void addUse(const PieceNode &piece, unsigned tensor);
  void addResult(const PieceNode &piece, unsigned tensor);
  /// Adds the costs of bringing an operand to a layout that is stated.
  void addStated(mlir::Value value, const Layout &wanted, int64_t times);
  void addBorder(unsigned op);
  void addFlow(mlir::OpOperand &operand, mlir::Value target, int64_t times);
  mlir::Attribute describePiece(const PieceNode &piece,
                                const std::vector<unsigned> &labels);
  mlir::Attribute describeMoves(const PieceNode &piece, unsigned tensor);
  mlir::Attribute describeValue(mlir::Value value,
                                const std::vector<unsigned> &labels);
  const OpWithRule &pieceOf(const PieceNode &piece) const {
    return table.ops()[piece.op].pieces()[piece.piece];
  }

  LayoutTable &table;
  WeighedMemory memory;
  MoveCosts costs;
  OpChoices opChoices;
  ChoiceGraph choices;
  llvm::DenseSet<mlir::Value> seenOutside;
  std::vector<unsigned> first;
  /// Nodes stay where they are while others are added.
  llvm::MapVector<mlir::Value, std::unique_ptr<ValueNode>> values;
  std::vector<PieceNode> pieces;
  bool tooLarge = false;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTQUESTION_H
