//===- DissolveMoves.cpp - moves of whole dimensions as ops ---------------===//

#include "weft/passes/sharding/LocalBlocks.h"
#include "weft/passes/sharding/Passes.h"

#include "mlir/IR/IRMapping.h"

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

/// Gives the result of an op, whose operands have layouts, the layout that
/// follows by its rule. Summands pass it.
static void layOut(Operation &op, MeshAttr mesh, const Layout &summands) {
  for (Value result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Layout layout = Layout::replicated(type.getRank());
    if (op.getNumOperands() != 0) {
      OpBlocks blocks(op);
      layout = projectToTensor(mesh.getMesh(), blocks.ruled.rule,
                               blocks.ruled.rule.results[0], blocks.axes);
      layout.partial = summands.partial;
      layout.reduce = summands.reduce;
    }
    layout.part = summands.part;
    result.setType(withLayout(type, LayoutAttr::get(mesh, layout)));
  }
}

/// Puts the ops that a move was made of in its place.
static void dissolve(MoveOp op) {
  OpBuilder builder(op);
  IRMapping mapping;
  Block &body = op.getBody().front();
  mapping.map(body.getArguments(), op.getInputs());
  LayoutAttr layout = getLayout(op.getType());
  SmallVector<Operation *> made;
  for (Operation &inner : body.without_terminator()) {
    made.push_back(builder.clone(inner, mapping));
    if (layout)
      layOut(*made.back(), layout.getMesh(), layout.getLayout());
  }
  Value result = mapping.lookup(body.getTerminator()->getOperand(0));
  if (result.getType() == op.getType()) {
    op.getResult().replaceAllUsesWith(result);
    op.erase();
    return;
  }
  // The ops pass on other shards than the move: it stays.
  for (Operation *inner : llvm::reverse(made))
    inner->erase();
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
