//===- MergeMoves.cpp - moving ops and movements between layouts ----------===//
//
// %s = weft.slice %x [3:4, 0:62], rows over "a", columns over "b"
// %r = weft.reshard %s : [{"a"}, {"b"}] -> [{}, {"a"}]
//
// is one movement: each device receives the elements of its part of the row from
// the devices that have them in %x. Chains grow from their end towards operands
// as long as the chain alone reads them; the part of a chain that saves most
// becomes one `weft.move` between layouts.
//
//===----------------------------------------------------------------------===//

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/sharding/LocalBlocks.h"
#include "weft/passes/sharding/LocalMessages.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/ReshardCost.h"
#include "weft/passes/sharding/optimization/MovingChain.h"

#include "weft/dialects/weft/Ports.h"

namespace weft {
#define GEN_PASS_DEF_MERGEMOVESPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// What a device receives is found device by device.
static constexpr int64_t kMostDevices = 512;

namespace {
/// A chain and what it sends now.
struct PricedChain {
  MovingChain chain;
  Price now;
  unsigned movements = 0; ///< steps between layouts, or that send something
  int64_t elements = 0;   ///< elements of the largest value that is sent

  explicit PricedChain(MovingChain chain) : chain(std::move(chain)) {}
  void add(Operation *op, const Price &price);
  /// Whether one movement may send less: two movements do not pass one value on,
  /// or the chain reads a part of what is sent. (It is no bound: counting what a
  /// movement sends looks at each device.)
  bool maySave() const;
};

class MoveMerger {
public:
  explicit MoveMerger(const Mesh &mesh [[clang::lifetimebound]])
      : mesh(mesh), cost(mesh) {}
  void run(Block &block);
  unsigned merged = 0;

private:
  /// The price of all that an op sends now.
  Price priceOf(Operation *op);
  /// The move that a chain would be, built in front of its end; null if there
  /// is none.
  MoveOp build(MovingChain chain) const;
  bool merge(Operation *end);

  const Mesh &mesh;
  ReshardCost cost;
};
} // namespace

/// Whether a value is laid out by axes of the whole mesh, without summands.
static bool isPlain(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  LayoutAttr layout = type ? getLayout(type) : LayoutAttr();
  return layout && !layout.getLayout().isPartial() &&
         layout.getLayout().part.empty();
}

/// Whether an op of a chain is a movement between layouts.
static bool isBetweenLayouts(Operation *op) {
  return !isa<ShardingRuleOpInterface>(op);
}

/// The boxes of an op of a chain.
static std::optional<MovedBoxes> boxesOfStep(Operation *op) {
  if (!op || op->getNumResults() != 1 || !isPlain(op->getResult(0)) ||
      !llvm::all_of(op->getOperands(), isPlain))
    return std::nullopt;
  auto moves = dyn_cast<MovedBoxesOpInterface>(op);
  return moves ? moves.getMovedParts() : std::nullopt;
}

static OpSharding shardingNow(Operation *op) {
  OpSharding now;
  now.axes = OpBlocks(*op).axes;
  for (Value operand : op->getOperands())
    now.operands.push_back(layoutIn(operand));
  for (Value result : op->getResults())
    now.results.push_back(layoutIn(result));
  return now;
}

Price MoveMerger::priceOf(Operation *op) {
  if (isBetweenLayouts(op))
    return cost.between(op->getOperand(0), layoutIn(op->getOperand(0)),
                        layoutIn(op->getResult(0)));
  return LocalMessages(mesh).ofAll(OpWithRule::get(op), shardingNow(op));
}

/// Whether axes of two layouts that overlap are equal, so that they are digits
/// of one group.
static bool haveEqualDigits(const Layout &a, const Layout &b) {
  for (const SubAxes &some : a.dims)
    for (const SubAxis &one : some)
      for (const SubAxes &others : b.dims)
        for (const SubAxis &other : others)
          if (overlaps(one, other) && one != other)
            return false;
  return true;
}

MoveOp MoveMerger::build(MovingChain chain) const {
  Layout to = layoutIn(chain.end());
  if (!llvm::all_of(chain.operands, [&](Value operand) {
        return haveEqualDigits(layoutIn(operand), to);
      }))
    return {};
  OpBuilder builder(chain.ops.front());
  MoveOp move =
      chain.buildMove(builder, cast<RankedTensorType>(chain.end().getType()),
                      [&](OpBuilder &inner, ValueRange from) {
                        return chain.buildOps(inner, from);
                      });
  move.setResharding(true);
  return move;
}

void PricedChain::add(Operation *op, const Price &price) {
  now = now + price;
  bool moves = price.bytes > 0;
  movements += moves || isBetweenLayouts(op);
  if (moves)
    elements = std::max(
        elements,
        cast<RankedTensorType>(op->getResult(0).getType()).getNumElements());
}

bool PricedChain::maySave() const {
  int64_t read = 0;
  for (const MovedBox &box : chain.boxes)
    read = saturatingAdd(read, box.elementsRead());
  return now.bytes > 0 && (movements > 1 || read < elements);
}

/// The boxes of a value's op if it can be a step of the chain: the chain's ops
/// alone read it, and a move that may take the place of some of them.
static std::optional<MovedBoxes> boxesBefore(const MovingChain &chain,
                                             Operation *move, Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != chain.ops.front()->getBlock() ||
      !llvm::all_of(def->getUsers(), [&](Operation *user) {
        return user == move || chain.ops.contains(user);
      }))
    return std::nullopt;
  return boxesOfStep(def);
}

bool MoveMerger::merge(Operation *end) {
  std::optional<MovedBoxes> boxes = boxesOfStep(end);
  if (!boxes || boxes->empty())
    return false;
  PricedChain priced(MovingChain(end, *boxes));
  MovingChain &chain = priced.chain;
  Price saved;
  MoveOp best;
  for (unsigned i = 0; i < chain.operands.size(); ++i) {
    std::optional<MovedBoxes> inner =
        boxesBefore(chain, best, chain.operands[i]);
    std::optional<MovingChain> longer;
    if (inner)
      longer = chain.with(i, *inner);
    if (!longer)
      continue;
    if (chain.ops.size() == 1)
      priced.add(end, priceOf(end));
    Operation *def = chain.operands[i].getDefiningOp();
    priced.add(def, priceOf(def));
    chain = std::move(*longer);
    i = unsigned(-1);
    MoveOp move = priced.maySave() ? build(chain) : MoveOp();
    if (!move)
      continue;
    // Fewer messages do not justify more bytes.
    Price after = priceOf(move), saves = priced.now - after;
    if (after.bytes <= priced.now.bytes && movesLess(after, priced.now) &&
        movesLess(saved, saves)) {
      if (best)
        best.erase();
      best = move;
      saved = saves;
    } else {
      move.erase();
    }
  }
  if (!best)
    return false;
  end->getResult(0).replaceAllUsesWith(best.getResult());
  for (Operation *op : chain.ops)
    if (op->use_empty())
      op->erase();
  return true;
}

void MoveMerger::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    merged += merge(&op);
}

namespace {
struct MergeMoves : weft::impl::MergeMovesPassBase<MergeMoves> {
  void runOnOperation() override {
    if (failed(verifyLaidOut(*this, getOperation())))
      return signalPassFailure();
    auto attr = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!attr || attr.getMesh().size() == 1 ||
        attr.getMesh().size() > kMostDevices)
      return;
    const Mesh mesh = attr.getMesh();
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      // Regions of ops with a rule have no layouts.
      if (!isa<ShardingRuleOpInterface>(block->getParentOp()))
        blocks.push_back(block);
    });
    MoveMerger merger(mesh);
    for (Block *block : blocks)
      merger.run(*block);
    numMerged = merger.merged;
  }
};
} // namespace
