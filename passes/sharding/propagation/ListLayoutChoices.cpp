//===- ListLayoutChoices.cpp - the graph of layouts, as attributes ---------===//

#include "weft/dialects/weft/LayoutPrice.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/propagation/Annotations.h"
#include "weft/passes/sharding/propagation/LayoutPropagation.h"
#include "weft/passes/sharding/propagation/LayoutSearch.h"

namespace weft {
#define GEN_PASS_DEF_LISTLAYOUTCHOICESPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// The layouts of a choice: "[d,-] [d,-] -> [d,-]".
static std::string textOf(const Mesh &mesh, const OpSharding &sharding) {
  std::string text;
  for (const Layout &layout : sharding.operands)
    text += toCommandText(mesh, layout) + " ";
  text += "->";
  for (const Layout &layout : sharding.results)
    text += " " + toCommandText(mesh, layout);
  return text;
}

Attribute LayoutQuestion::describePiece(const PieceNode &piece,
                                        const std::vector<unsigned> &labels) {
  Builder builder(pieceOf(piece).op->getContext());
  llvm::SmallVector<Attribute> all;
  for (auto [label, choice] : llvm::enumerate(piece.list->choices)) {
    int64_t cost = choices.costs(piece.node)[label];
    NamedAttrList its;
    its.set("layouts", builder.getStringAttr(textOf(table.mesh(), choice)));
    its.set("picoseconds", builder.getI64IntegerAttr(
                               cost == kForbidden ? -1 : inPicoseconds(cost)));
    if (labels[piece.node] == label)
      its.set("chosen", builder.getUnitAttr());
    all.push_back(its.getDictionary(builder.getContext()));
  }
  return builder.getArrayAttr(all);
}

Attribute LayoutQuestion::describeMoves(const PieceNode &piece,
                                        unsigned tensor) {
  const OpWithRule &op = pieceOf(piece);
  Builder builder(op.op->getContext());
  ValueNode *value = find(op.value(tensor));
  // The price of a choice includes moving a result to a fixed layout.
  if (!value || (!op.isOperand(tensor) && value->fixed))
    return builder.getDenseI64ArrayAttr({});
  const ChoiceList::Tensor &own = piece.list->tensors[tensor];
  MoveKind kind = moveKindOf(piece, tensor, *value);
  bool isUse = op.isOperand(tensor);
  std::vector<int64_t> picoseconds;
  auto add = [&](unsigned from, unsigned to) {
    int64_t cost = costs.cost(*value->space, from, to, kind);
    picoseconds.push_back(cost == kForbidden ? -1 : inPicoseconds(cost));
  };
  if (isUse)
    for (unsigned label : value->layouts)
      for (unsigned place : own.placeOf)
        add(label, own.layouts[place]);
  else
    for (unsigned place : own.placeOf)
      for (unsigned label : value->layouts)
        add(own.layouts[place], label);
  return builder.getDenseI64ArrayAttr(picoseconds);
}

Attribute LayoutQuestion::describeValue(Value value,
                                        const std::vector<unsigned> &labels) {
  Builder builder(value.getContext());
  ValueNode *its = find(value);
  NamedAttrList text;
  if (!its || !its->node)
    return builder.getDictionaryAttr({});
  llvm::SmallVector<Attribute> layouts;
  for (unsigned layout : its->layouts)
    layouts.push_back(builder.getStringAttr(
        toCommandText(table.mesh(), its->space->layout(layout))));
  text.set("layouts", builder.getArrayAttr(layouts));
  text.set("chosen", layouts[labels[*its->node]]);
  if (its->fixed)
    text.set("fixed", builder.getStringAttr(toCommandText(
                          table.mesh(), its->space->layout(*its->fixed))));
  return text.getDictionary(builder.getContext());
}

void LayoutQuestion::describe(const std::vector<unsigned> &labels) {
  Builder builder(table.func().getContext());
  auto describeAll = [&](ValueRange all) {
    llvm::SmallVector<Attribute> texts;
    for (Value value : all)
      texts.push_back(describeValue(value, labels));
    return builder.getArrayAttr(texts);
  };
  table.func()->setAttr("weft.argument_labels",
                        describeAll(table.func().getArguments()));
  for (const OpWithRule &op : table.ops())
    if (op.op->getNumResults() > 0)
      op.op->setAttr("weft.labels", describeAll(op.op->getResults()));
  llvm::MapVector<Operation *, llvm::SmallVector<Attribute>> choicesOf, movesOf;
  for (const PieceNode &piece : pieces) {
    const OpWithRule &op = pieceOf(piece);
    choicesOf[op.op].push_back(describePiece(piece, labels));
    llvm::SmallVector<Attribute> moves;
    for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor)
      moves.push_back(describeMoves(piece, tensor));
    movesOf[op.op].push_back(builder.getArrayAttr(moves));
  }
  for (auto &[op, its] : choicesOf)
    op->setAttr("weft.choices", builder.getArrayAttr(its));
  for (auto &[op, its] : movesOf)
    op->setAttr("weft.moves", builder.getArrayAttr(its));
}

namespace {
struct ListLayoutChoices
    : weft::impl::ListLayoutChoicesPassBase<ListLayoutChoices> {
  using ListLayoutChoicesPassBase::ListLayoutChoicesPassBase;

  LogicalResult list(func::FuncOp function, MeshAttr mesh,
                     const TargetRates &rates) {
    LayoutTable table(function, mesh, rates);
    if (failed(Annotations(table).enter()))
      return failure();
    LayoutPropagation(table).run();
    LayoutSearch search(table);
    if (!search.describe())
      return function.emitError("too many devices or layouts to be listed at "
                                "once; annotate more tensors");
    auto attribute = Builder(function.getContext())
                         .getDenseI64ArrayAttr(
                             {search.proof()->price, search.proof()->bound});
    function->setAttr(kLayoutPriceAttr, attribute);
    return success();
  }

  void runOnOperation() override {
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh)
      return;
    const TargetRates *rates = ratesOf(target);
    if (!rates) {
      (void)emitUnknownTarget(getOperation(), target);
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(list(function, mesh, *rates)))
        return signalPassFailure();
  }
};
} // namespace
