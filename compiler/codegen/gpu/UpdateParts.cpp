//===- UpdateParts.cpp - warps that own parts of a result -----------------===//

#include "weft/compiler/codegen/gpu/UpdateParts.h"

#include "weft/compiler/codegen/elements/IndexedElements.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/gpu/KernelWalk.h"
#include "weft/compiler/codegen/gpu/Placement.h"
#include "weft/dialects/weft/UpdatedOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

UpdateParts::UpdateParts(ElementEmitter &elements, nest::LoopsOp loops,
                         Value pointer, GridPlace grid)
    : elements(elements), builder(elements.builder), loc(elements.loc),
      op(cast<ScatterOp>(loops.getNestOp())),
      walk(cast<nest::UpdatesAttr>(loops.getWalk())), shape(op),
      type(typeOf(op.getResult())), pointer(pointer), grid(grid),
      shared(elements), positions(nest::positionsOfPart(walk, op)),
      window(nest::countOf(op.getResult(), shape.window)) {}

LogicalResult UpdateParts::emit() {
  elements.place(op.getResult(), pointer);
  openTasks();
  if (!updatesInPlace(op)) {
    if (failed(copyInput()))
      return failure();
    shared.warpBarrier(); // Lanes change elements that other lanes copied.
  }
  int64_t count = nest::countOf(op.getUpdates(), shape.ordered),
          groups = walk.getTogether(), step = groups * kWarpLanes;
  Value begin = elements.openStridedLoop(
      elements.constant(0), elements.constant(count), elements.constant(step));
  SmallVector<Found> all;
  for (int64_t group = 0; group < groups; ++group) {
    FailureOr<Found> found =
        find(elements.add(begin, elements.constant(group * kWarpLanes)),
             count % step != 0);
    if (failed(found))
      return failure();
    all.push_back(*found);
  }
  // All votes come after the loads, and before the first loop.
  elements.enterDepth(elements.depth());
  SmallVector<Value> lanes;
  Value everyone =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(-1));
  for (const Found &found : all)
    lanes.push_back(NVVM::VoteSyncOp::create(builder, loc, builder.getI32Type(),
                                             everyone, found.isMine,
                                             NVVM::VoteSyncKind::ballot));
  for (auto [found, those] : llvm::zip_equal(all, lanes))
    if (failed(apply(found, those)))
      return failure();
  elements.beginNest();
  return success();
}

void UpdateParts::openTasks() {
  lane = laneOf(elements, grid.thread);
  Value warp = warpOf(elements, grid.thread);
  Value task = elements.openStridedLoop(
      elements.add(elements.mul(grid.block, kBlockWarps), warp),
      elements.constant(nest::warpsOf(walk, op)),
      elements.mul(grid.blocks, kBlockWarps));
  SmallVector<int64_t> sizes = nest::sizesOf(op.getResult(), shape.batch);
  int64_t total = nest::countOf(op.getResult(), shape.shared);
  sizes.push_back(walk.getParts());
  sizes.push_back(llvm::divideCeil(window, walk.getWidth()));
  SmallVector<Value> at = elements.positionsOf(task, sizes);
  firstInWindow = elements.mul(at.pop_back_val(), walk.getWidth());
  firstPosition = elements.mul(at.pop_back_val(), positions);
  batch = at;
  positionCount = elements.constant(positions);
  if (total % positions != 0)
    positionCount = arith::MinSIOp::create(
        builder, loc, positionCount,
        arith::SubIOp::create(builder, loc, elements.constant(total),
                              firstPosition));
}

SmallVector<ElementIndex>
UpdateParts::neighbours(bool isOfUpdates, Value position, Value inWindow) {
  Value value = isOfUpdates ? op.getUpdates() : op.getResult();
  ArrayRef<int64_t> others = isOfUpdates ? shape.ordered : shape.shared,
                    ofBatch = isOfUpdates ? shape.updatesBatch : shape.batch,
                    ofWindow = isOfUpdates ? shape.updatesWindow : shape.window;
  SmallVector<Value> first(typeOf(value).getRank());
  auto put = [&](ArrayRef<int64_t> dims, ArrayRef<Value> values) {
    for (auto [dim, each] : llvm::zip_equal(dims, values))
      first[dim] = each;
  };
  put(ofBatch, batch);
  put(others, elements.positionsOf(position, nest::sizesOf(value, others)));
  put(ofWindow, elements.positionsOf(inWindow, nest::sizesOf(value, ofWindow)));
  SmallVector<ElementIndex> all;
  SmallVector<Value> adjacent;
  for (int64_t i = 0; i < walk.getSide(); ++i) {
    SmallVector<Value> at(first);
    if (i > 0)
      at[ofWindow.back()] =
          elements.add(at[ofWindow.back()], elements.constant(i));
    if (!at.empty())
      adjacent.push_back(at.back());
    all.push_back(elements.makeIndex(at, elements.depth()));
  }
  if (walk.getSide() > 1 && ofWindow.back() + 1 == int64_t(first.size()))
    elements.addNeighbours(adjacent);
  return all;
}

Value UpdateParts::inWindow(Value distance, Value &exists) {
  Value at = elements.add(firstInWindow, distance);
  if (window % walk.getWidth() == 0)
    return at;
  Value is = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at,
                                   elements.constant(window));
  exists =
      exists ? arith::AndIOp::create(builder, loc, exists, is).getResult() : is;
  return arith::MinUIOp::create(builder, loc, at,
                                elements.constant(window - walk.getSide()));
}

void UpdateParts::storeIf(Value exists, ArrayRef<Value> values,
                          const ElementIndex &at) {
  elements.enterDepth(elements.depth());
  Value linear = elements.linearIndex(type.getShape(), at);
  OpBuilder::InsertionGuard guard(builder);
  if (exists) {
    auto branch = scf::IfOp::create(builder, loc, exists);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  elements.storeNeighbours(values, pointer, type.getElementType(), linear);
}

//===----------------------------------------------------------------------===//
// The input
//===----------------------------------------------------------------------===//

LogicalResult UpdateParts::copyAt(Value position, Value distance) {
  Value exists, at = inWindow(distance, exists);
  position = elements.add(firstPosition, position);
  SmallVector<ElementIndex> all = neighbours(false, position, at);
  SmallVector<Value> values;
  for (const ElementIndex &index : all) {
    FailureOr<Value> value = elements.element(op.getInput(), index);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  storeIf(exists, values, all.front());
  return success();
}

/// Copies the warp's elements so that neighbouring lanes write neighbours.
LogicalResult UpdateParts::copyInput() {
  Value step = elements.constant(kWarpLanes);
  if (!shape.isWindowLast)
    return elements.loop(walk.getWidth(), [&](Value distance) {
      return elements.loop(lane, positionCount, step, [&](Value position) {
        return copyAt(position, distance);
      });
    });
  int64_t vectors = walk.getWidth() / walk.getSide();
  return elements.loop(
      lane, elements.mul(positionCount, vectors), step, [&](Value at) {
        Value each = elements.constant(vectors);
        Value position = arith::DivUIOp::create(builder, loc, at, each);
        Value distance = arith::RemUIOp::create(builder, loc, at, each);
        return copyAt(position, elements.mul(distance, walk.getSide()));
      });
}

//===----------------------------------------------------------------------===//
// The updates
//===----------------------------------------------------------------------===//

FailureOr<UpdateParts::Found> UpdateParts::find(Value first, bool mayEnd) {
  elements.enterDepth(elements.depth());
  int64_t count = nest::countOf(op.getUpdates(), shape.ordered);
  Value update = elements.add(first, lane), exists;
  if (mayEnd)
    update = elements.clampedToSize(update, count, count + 1, exists);
  // The window has no part in an update's position.
  ElementIndex index = neighbours(true, update, elements.constant(0)).front();
  FailureOr<BlockPosition> at = positionInTensor(
      elements, op.getBlocks(), op.getIndices(), index, /*clamped=*/false);
  if (failed(at))
    return failure();
  elements.enterDepth(elements.depth());
  Value position = elements.constant(0);
  for (int64_t dim : shape.shared)
    position = elements.add(elements.mul(position, type.getDimSize(dim)),
                            at->dims[dim]);
  position = arith::SubIOp::create(builder, loc, position, firstPosition);
  Value isMine = arith::AndIOp::create(
      builder, loc, at->inside,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position,
                            positionCount));
  if (exists)
    isMine = arith::AndIOp::create(builder, loc, isMine, exists);
  return Found{
      first,
      arith::TruncIOp::create(builder, loc, builder.getI32Type(), position),
      isMine};
}

/// Takes the updates of the lanes one after the other; all lanes of the warp
/// share the elements of one.
LogicalResult UpdateParts::apply(const Found &found, Value all) {
  elements.enterDepth(elements.depth());
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto wide = [&](Value value) -> Value {
    return arith::ExtUIOp::create(builder, loc, i64, value);
  };
  auto number = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  Value count = wide(LLVM::CtPopOp::create(builder, loc, i32, all).getRes());
  return elements.loop(
      elements.constant(0), count, elements.constant(1), all,
      [&](Value, ValueRange bits) -> FailureOr<SmallVector<Value>> {
        Value left = bits[0];
        Value of = LLVM::CountTrailingZerosOp::create(builder, loc, i32, left,
                                                      /*is_zero_poison=*/true);
        Value next = arith::AndIOp::create(
            builder, loc, left,
            arith::SubIOp::create(builder, loc, left, number(1)));
        Value position = mlir::gpu::ShuffleOp::create(
                             builder, loc, found.position, of,
                             number(kWarpLanes), mlir::gpu::ShuffleMode::IDX)
                             .getShuffleResult();
        if (failed(combine(elements.add(found.first, wide(of)),
                           elements.add(firstPosition, wide(position)))))
          return failure();
        return SmallVector<Value>{next};
      });
}

LogicalResult UpdateParts::combine(Value update, Value position) {
  Value exists, distance = elements.mul(lane, walk.getSide());
  if (walk.getWidth() < kWarpLanes * walk.getSide())
    exists =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, distance,
                              elements.constant(walk.getWidth()));
  if (exists)
    distance = arith::MinUIOp::create(
        builder, loc, distance,
        elements.constant(walk.getWidth() - walk.getSide()));
  Value at = inWindow(distance, exists);
  SmallVector<ElementIndex> from = neighbours(true, update, at),
                            to = neighbours(false, position, at);
  std::optional<ReduceKind> kind = reductionOf(op.getKind());
  SmallVector<Value> values;
  for (auto [source, target] : llvm::zip_equal(from, to)) {
    FailureOr<Value> next = elements.element(op.getUpdates(), source);
    if (failed(next))
      return failure();
    if (kind) {
      FailureOr<Value> old = elements.element(op.getResult(), target);
      if (failed(old))
        return failure();
      elements.enterDepth(elements.depth());
      next =
          emitCombine(builder, loc, *kind, type.getElementType(), *old, *next);
    }
    values.push_back(*next);
  }
  storeIf(exists, values, to.front());
  return success();
}

} // namespace weft::gpu
