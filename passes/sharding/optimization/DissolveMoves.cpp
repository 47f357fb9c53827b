//===- DissolveMoves.cpp - moves of whole dimensions as ops ---------------===//

#include "weft/passes/sharding/LocalBlocks.h"
#include "weft/passes/sharding/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace weft {
#define GEN_PASS_DEF_DISSOLVEMOVESPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// Whether a dimension is sharded along which elements move.
static bool isShardedWhereItMoves(MoveOp op) {
  OpBlocks blocks(*op);
  return llvm::any_of(
      llvm::zip_equal(blocks.ruled.rule.factors, blocks.axes), [](auto pair) {
        const auto &[factor, axes] = pair;
        return factor.kind == FactorKind::Shift && !axes.empty();
      });
}

/// The value in another layout: for a constant of equal elements another one.
static Value inLayout(OpBuilder &builder, Value value, LayoutAttr layout) {
  if (getLayout(value.getType()) == layout)
    return value;
  auto type = withLayout(cast<RankedTensorType>(value.getType()), layout);
  SplatElementsAttr data;
  if (layout.getLayout().isPartial() || !matchPattern(value, m_Constant(&data)))
    return ReshardOp::create(builder, value.getLoc(), type, value,
                             StringAttr());
  Operation *copy = builder.clone(*value.getDefiningOp());
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Gives an op, whose operands have layouts, those of its rule: operands that
/// its region made of constants follow the others. Summands pass the op.
static void layOut(Operation &op, MeshAttr mesh, const Layout &summands) {
  OpBlocks blocks(op);
  const ShardingRule &rule = blocks.ruled.rule;
  auto layoutOf = [&](const TensorFactors &tensor, bool passesSummands) {
    Layout layout = projectToTensor(mesh.getMesh(), rule, tensor, blocks.axes);
    if (passesSummands) {
      layout.partial = summands.partial;
      layout.reduce = summands.reduce;
    }
    layout.part = summands.part;
    return LayoutAttr::get(mesh, layout);
  };
  OpBuilder builder(&op);
  bool isSource = op.getNumOperands() == 0;
  for (auto [index, tensor] : llvm::enumerate(rule.operands)) {
    bool passes = index < rule.linearity.size() &&
                  rule.linearity[index] != Linearity::None;
    op.setOperand(index, inLayout(builder, op.getOperand(index),
                                  layoutOf(tensor, passes)));
  }
  Value result = op.getResult(0);
  result.setType(withLayout(cast<RankedTensorType>(result.getType()),
                            layoutOf(rule.results[0], !isSource)));
}

/// Puts the ops that a move was made of in its place.
static void dissolve(MoveOp op) {
  OpBuilder builder(op);
  IRMapping mapping;
  Block &body = op.getBody().front();
  mapping.map(body.getArguments(), op.getInputs());
  LayoutAttr layout = getLayout(op.getType());
  Operation *before = op->getPrevNode();
  for (Operation &inner : body.without_terminator()) {
    Operation *made = builder.clone(inner, mapping);
    if (layout)
      layOut(*made, layout.getMesh(), layout.getLayout());
  }
  Value result = mapping.lookup(body.getTerminator()->getOperand(0));
  if (result.getType() == op.getType()) {
    op.getResult().replaceAllUsesWith(result);
    op.erase();
    return;
  }
  // The ops pass on other shards than the move: it stays.
  while (op->getPrevNode() != before)
    op->getPrevNode()->erase();
}

namespace {
struct DissolveMoves : weft::impl::DissolveMovesPassBase<DissolveMoves> {
  void runOnOperation() override {
    SmallVector<MoveOp> moves;
    getOperation().walk([&](MoveOp op) { moves.push_back(op); });
    for (MoveOp op : moves)
      if (!isShardedWhereItMoves(op))
        dissolve(op);
  }
};
} // namespace
