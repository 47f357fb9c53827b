//===- StructuredBlocks.cpp - loop nests on one device's block ------------===//

#include "weft/passes/upstream/StructuredBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace weft;

/// The start of the device's block along a loop (an index): the coordinate
/// times the block's size.
static Value blockStart(OpBuilder &builder, Location loc,
                        const LocalPlacement &placement, unsigned loop,
                        int64_t block) {
  Value coordinate = placement.coordinate(builder, loc, loop);
  Value number =
      tensor::ExtractOp::create(builder, loc, coordinate, ValueRange{});
  number =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  Value size = arith::ConstantIndexOp::create(builder, loc, block);
  return arith::MulIOp::create(builder, loc, number, size);
}

static int64_t blockOf(const ShardingRule &rule,
                       const LocalPlacement &placement, unsigned loop) {
  return shardSize(rule.factors[loop].size, placement.shards(loop));
}

static bool isUneven(const ShardingRule &rule, const LocalPlacement &placement,
                     unsigned loop) {
  return rule.factors[loop].size % placement.shards(loop) != 0;
}

bool weft::hasPadding(const ShardingRule &rule, unsigned loops,
                      const LocalPlacement &placement) {
  return llvm::any_of(llvm::seq(loops), [&](unsigned loop) {
    return isUneven(rule, placement, loop);
  });
}

bool weft::isHarmless(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    return isSpeculatable(&op) && isMemoryEffectFree(&op);
  });
}

//===----------------------------------------------------------------------===//
// Positions and padding
//===----------------------------------------------------------------------===//

static void offsetPositions(linalg::LinalgOp loops, const ShardingRule &rule,
                            const LocalPlacement &placement) {
  OpBuilder builder(loops);
  llvm::SmallDenseMap<unsigned, Value> starts;
  loops->walk([&](linalg::IndexOp index) {
    unsigned loop = index.getDim();
    if (placement.shards(loop) == 1)
      return;
    Value &start = starts[loop];
    if (!start)
      start = blockStart(builder, index.getLoc(), placement, loop,
                         blockOf(rule, placement, loop));
    OpBuilder inside(index->getContext());
    inside.setInsertionPointAfter(index);
    Value global = arith::AddIOp::create(inside, index.getLoc(), index, start);
    index.getResult().replaceAllUsesExcept(global, global.getDefiningOp());
  });
}

/// Builds, inside the body, the condition that this iteration is not padding.
static Value buildValid(linalg::GenericOp loops, const ShardingRule &rule,
                        const LocalPlacement &placement,
                        ArrayRef<unsigned> guarded) {
  Location loc = loops.getLoc();
  OpBuilder outside(loops);
  OpBuilder inside = OpBuilder::atBlockBegin(loops.getBody());
  Value all;
  for (unsigned loop : guarded) {
    Value start = blockStart(outside, loc, placement, loop,
                             blockOf(rule, placement, loop));
    Value size =
        arith::ConstantIndexOp::create(outside, loc, rule.factors[loop].size);
    Value extent = arith::SubIOp::create(outside, loc, size, start);
    Value index = linalg::IndexOp::create(inside, loc, loop);
    Value valid = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt,
                                        index, extent);
    all = all ? arith::AndIOp::create(inside, loc, all, valid).getResult()
              : valid;
  }
  return all;
}

/// Moves the whole body into a condition; if it is false, the outputs keep
/// their values.
static void skipBody(linalg::GenericOp loops, Value valid) {
  Block *body = loops.getBody();
  Operation *yield = body->getTerminator();
  // linalg.index is allowed only directly in the body.
  for (linalg::IndexOp index :
       llvm::make_early_inc_range(body->getOps<linalg::IndexOp>()))
    index->moveBefore(&body->front());
  OpBuilder builder(yield);
  ValueRange kept = loops.getRegionOutputArgs();
  auto branch =
      scf::IfOp::create(builder, loops.getLoc(), kept.getTypes(), valid,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  Block *then = branch.thenBlock();
  then->getOperations().splice(then->begin(), body->getOperations(),
                               std::next(valid.getDefiningOp()->getIterator()),
                               branch->getIterator());
  OpBuilder end = OpBuilder::atBlockEnd(then);
  scf::YieldOp::create(end, loops.getLoc(), yield->getOperands());
  end = OpBuilder::atBlockEnd(branch.elseBlock());
  scf::YieldOp::create(end, loops.getLoc(), kept);
  yield->setOperands(branch.getResults());
}

/// Keeps a reduction's accumulator in iterations of padding.
static void keepOutputs(linalg::GenericOp loops, Value valid) {
  Operation *yield = loops.getBody()->getTerminator();
  OpBuilder builder(yield);
  for (auto [index, output] : llvm::enumerate(loops.getRegionOutputArgs()))
    yield->setOperand(
        index, arith::SelectOp::create(builder, loops.getLoc(), valid,
                                       yield->getOperand(index), output));
}

void weft::guardPadding(linalg::GenericOp loops, const ShardingRule &rule,
                        const LocalPlacement &placement) {
  bool harmless = isHarmless(*loops.getBody());
  SmallVector<unsigned> guarded;
  for (auto [loop, kind] : llvm::enumerate(loops.getIteratorTypesArray()))
    if (isUneven(rule, placement, loop) &&
        (!harmless || kind == utils::IteratorType::reduction))
      guarded.push_back(loop);
  if (guarded.empty())
    return;
  Value valid = buildValid(loops, rule, placement, guarded);
  if (harmless)
    keepOutputs(loops, valid);
  else
    skipBody(loops, valid);
}

Value weft::maskedBlock(OpBuilder &builder, Value block, unsigned dim,
                        const ShardingRule &rule, unsigned factor,
                        const LocalPlacement &placement) {
  if (!isUneven(rule, placement, factor))
    return block;
  Location loc = block.getLoc();
  auto type = cast<RankedTensorType>(block.getType());
  Value start = blockStart(builder, loc, placement, factor,
                           blockOf(rule, placement, factor));
  Value size =
      arith::ConstantIndexOp::create(builder, loc, rule.factors[factor].size);
  Value extent = arith::SubIOp::create(builder, loc, size, start);
  Value neutral = arith::ConstantOp::create(
      builder, loc,
      neutralElement(rule.factors[factor].reduce, type.getElementType()));
  Value room = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inside, Location at, ValueRange elements) {
    Value index = linalg::IndexOp::create(inside, at, dim);
    Value valid = arith::CmpIOp::create(inside, at, arith::CmpIPredicate::slt,
                                        index, extent);
    Value kept =
        arith::SelectOp::create(inside, at, valid, elements[0], neutral);
    linalg::YieldOp::create(inside, at, kept);
  };
  return linalg::GenericOp::create(builder, loc, type, block, room, maps, kinds,
                                   body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Local ops
//===----------------------------------------------------------------------===//

/// Replaces a named op by an equal linalg.generic.
static linalg::GenericOp generalised(linalg::LinalgOp op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return generic;
  OpBuilder builder(op);
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getDpsInputs(),
      ValueRange(op.getDpsInits()), op.getIndexingMapsArray(),
      op.getIteratorTypesArray());
  generic.getRegion().takeBody(op->getRegion(0));
  op->replaceAllUsesWith(generic->getResults());
  op->erase();
  return generic;
}

SmallVector<Value> weft::buildStructuredBlock(OpBuilder &builder,
                                              linalg::LinalgOp op,
                                              const ShardingRule &rule,
                                              ValueRange operands,
                                              TypeRange resultTypes,
                                              const LocalPlacement &placement) {
  Operation *copy = clone(builder, op, resultTypes, operands);
  auto local = cast<linalg::LinalgOp>(copy);
  unsigned loops = rule.factors.size();
  offsetPositions(local, rule, placement);
  bool reduces = llvm::any_of(llvm::seq(loops), [&](unsigned loop) {
    return isUneven(rule, placement, loop) &&
           rule.factors[loop].kind == FactorKind::Reduce;
  });
  if (reduces ||
      (hasPadding(rule, loops, placement) && !isHarmless(*local.getBlock()))) {
    linalg::GenericOp generic = generalised(local);
    guardPadding(generic, rule, placement);
    copy = generic;
  }
  return SmallVector<Value>(copy->getResults());
}

linalg::GenericOp weft::elementwiseLoops(OpBuilder &builder, Operation *op,
                                         ValueRange operands,
                                         TypeRange resultTypes) {
  Location loc = op->getLoc();
  SmallVector<Value> inputs, outputs;
  for (Value operand : operands)
    if (isa<RankedTensorType>(operand.getType()))
      inputs.push_back(operand);
  for (Type type : resultTypes) {
    auto tensor = cast<RankedTensorType>(type);
    outputs.push_back(tensor::EmptyOp::create(builder, loc, tensor.getShape(),
                                              tensor.getElementType()));
  }
  int64_t rank = cast<RankedTensorType>(resultTypes[0]).getRank();
  SmallVector<AffineMap> maps(inputs.size() + outputs.size(),
                              builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inside, Location at, ValueRange elements) {
    SmallVector<Value> scalars;
    unsigned next = 0;
    for (Value operand : operands)
      scalars.push_back(isa<RankedTensorType>(operand.getType())
                            ? elements[next++]
                            : operand);
    SmallVector<Type> types = llvm::map_to_vector(
        resultTypes, [](Type type) { return getElementTypeOrSelf(type); });
    Operation *scalar = clone(inside, op, types, scalars);
    linalg::YieldOp::create(inside, at, scalar->getResults());
  };
  return linalg::GenericOp::create(builder, loc, resultTypes, inputs, outputs,
                                   maps, kinds, body);
}
