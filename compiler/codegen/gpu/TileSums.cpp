//===- TileSums.cpp - tiles of sums whose operands are shared -------------===//

#include "weft/compiler/codegen/gpu/TileSums.h"

#include "weft/compiler/codegen/gpu/KernelWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

TileSums::TileSums(ElementEmitter &elements, nest::LoopsOp loops,
                   ArrayRef<Value> stored, ArrayRef<Value> pointers,
                   GridPlace grid)
    : elements(elements), builder(elements.builder), loc(elements.loc),
      loops(loops), walk(cast<nest::TilesAttr>(loops.getWalk())),
      sum(loops.getNestOp()), shape(*nest::productShape(sum)), stored(stored),
      pointers(pointers), grid(grid), shared(elements) {}

LogicalResult TileSums::emit(Operation *function, StringRef name) {
  shared.allocate(function, (name + ".shared").str(), sharedBytes(walk));
  lane = laneOf(elements, grid.thread);
  warp = warpOf(elements, grid.thread);
  auto isInMemory = [&](Value value) { return elements.isInMemory(value); };
  lhs.emplace(elements, shared, sum, walk, 0, grid.thread, isInMemory);
  rhs.emplace(elements, shared, sum, walk, 1, grid.thread, isInMemory);
  products.emplace(elements, shared, walk, shape.lhsType, warp, lane);
  enterTile(elements.openStridedLoop(
      grid.block, elements.constant(blocksOf(walk, shape)), grid.blocks));
  auto sums = addProducts();
  if (failed(sums) || failed(storeSums(*sums)))
    return failure();
  shared.barrier(); // The next tile's stages use the memory of the sums.
  elements.beginNest();
  return success();
}

/// Enters a tile, or a part of it: neighbouring blocks have tiles of the same
/// part, which read the same depths.
void TileSums::enterTile(Value tile) {
  ArrayRef<int64_t> block = walk.getBlock();
  int64_t down = llvm::divideCeil(shape.rows.size(), block[0]),
          across = llvm::divideCeil(shape.columns.size(), block[1]),
          each = stepsOfPart(walk, shape);
  SmallVector<Value> place = elements.positionsOf(
      tile, {walk.getParts(), shape.batch.size(), down, across});
  steps = elements.constant(each);
  firstStep = elements.constant(0);
  Value end = elements.constant(shape.depth.size());
  if (walk.getParts() > 1) {
    part = place[0];
    firstStep = elements.mul(part, each);
    Value left = arith::SubIOp::create(
        builder, loc,
        elements.constant(llvm::divideCeil(shape.depth.size(), block[2])),
        firstStep);
    steps = arith::MinUIOp::create(builder, loc, steps, left);
    end = arith::MinUIOp::create(
        builder, loc, end,
        elements.mul(elements.add(firstStep, steps), block[2]));
  }
  batch = elements.positionsOf(place[1], shape.batch.sizes);
  firstRow = elements.mul(place[2], block[0]);
  firstColumn = elements.mul(place[3], block[1]);
  lhs->enter(batch, firstRow, end);
  rhs->enter(batch, firstColumn, end);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The address of the stage of a step of the part.
Value TileSums::slotOf(Value step) {
  int64_t bytes = lhs->tile().bytes() + rhs->tile().bytes();
  Type i32 = builder.getI32Type();
  Value slot = arith::RemUIOp::create(builder, loc, elements.resized(step, i32),
                                      elements.constant(walk.getStages(), i32));
  return shared.at(shared.base(), builder.getI8Type(),
                   elements.mul(slot, bytes));
}

LogicalResult TileSums::copyStage(Value step) {
  Value stage = slotOf(step),
        depth = elements.mul(elements.add(firstStep, step), walk.getBlock()[2]);
  if (failed(lhs->copy(stage, depth)))
    return failure();
  Value next = shared.at(stage, builder.getI8Type(),
                         elements.constant(lhs->tile().bytes()));
  return rhs->copy(next, depth);
}

void TileSums::commit() {
  if (lhs->isAsync() || rhs->isAsync())
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
}

/// Waits for all of the thread's copies except those of the last `left` stages.
void TileSums::wait(unsigned left) {
  if (lhs->isAsync() || rhs->isAsync())
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, left);
}

FailureOr<SmallVector<Value>> TileSums::addProducts() {
  int64_t ahead = walk.getStages() - 1;
  for (int64_t step = 0; step < ahead; ++step) {
    if (failed(copyStage(elements.constant(step))))
      return failure();
    commit();
  }
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0));
  SmallVector<Value> zeros(products->sums(), zero);
  auto sums = elements.loop(
      elements.constant(0), steps, elements.constant(1), zeros,
      [&](Value step, ValueRange sums) -> FailureOr<SmallVector<Value>> {
        wait(ahead - 1);
        shared.barrier();
        if (failed(copyStage(elements.add(step, elements.constant(ahead)))))
          return failure();
        commit();
        Value stage = slotOf(step);
        Value next = shared.at(stage, builder.getI8Type(),
                               elements.constant(lhs->tile().bytes()));
        return products->multiply(stage, next, sums);
      });
  wait(0);
  shared.barrier();
  return sums;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

LogicalResult TileSums::storeSums(ArrayRef<Value> sums) {
  Type f32 = builder.getF32Type();
  int64_t stride = patchStride(walk);
  Value patchOfWarp = shared.at(shared.base(), f32,
                                elements.mul(warp, nest::kPatchRows * stride));
  SmallVector<LaneSums> lanes = products->lanes();
  for (unsigned patch = 0; patch < products->patches(); ++patch) {
    if (patch > 0)
      shared.warpBarrier(); // All lanes have read the previous patch.
    for (const LaneSums &each : lanes)
      if (each.patch == patch) {
        Value at = elements.add(elements.mul(each.slot, stride), each.column);
        shared.store(shared.at(patchOfWarp, f32, at), f32,
                     sums.slice(each.first, each.count));
      }
    shared.warpBarrier();
    if (failed(storePatch(patch, patchOfWarp)))
      return failure();
  }
  return success();
}

/// Stores a patch; adjacent lanes take adjacent columns.
LogicalResult TileSums::storePatch(unsigned patch, Value from) {
  int64_t width = walk.getWarp()[1], stride = patchStride(walk);
  Type f32 = builder.getF32Type();
  return elements.loop(nest::kPatchRows * width / kWarpLanes, [&](Value round) {
    Value number = elements.add(elements.mul(round, kWarpLanes), lane);
    SmallVector<Value> place =
        elements.positionsOf(number, {nest::kPatchRows, width});
    Value at = elements.add(elements.mul(place[0], stride), place[1]);
    Value value = shared.load(shared.at(from, f32, at), f32, 1), exists;
    ElementIndex index =
        indexOf(products->rowOf(patch, place[0]), place[1], exists);
    return storeAt(index, value, exists);
  });
}

ElementIndex TileSums::indexOf(Value rowOfWarp, Value columnOfWarp,
                               Value &exists) {
  Value row = elements.add(elements.add(firstRow, products->firstRow()),
                           rowOfWarp),
        column = elements.add(
            elements.add(firstColumn, products->firstColumn()), columnOfWarp);
  row = elements.clampedToSize(row, shape.rows.size(), walk.getBlock()[0],
                               exists);
  column = elements.clampedToSize(column, shape.columns.size(),
                                  walk.getBlock()[1], exists);
  SmallVector<Value> position(typeOf(sum->getResult(0)).getRank());
  auto give = [&](const nest::JoinedDims &dims, ArrayRef<Value> digits) {
    for (auto [dim, digit] : llvm::zip_equal(dims.dims, digits))
      position[dim] = digit;
  };
  give(shape.batch, batch);
  give(shape.rows, elements.positionsOf(row, shape.rows.sizes));
  give(shape.columns, elements.positionsOf(column, shape.columns.sizes));
  ElementIndex index = elements.makeIndex(position, elements.depth());
  index.depth = elements.depth(); // also for ops on a scalar sum
  return index;
}

LogicalResult TileSums::storeAt(const ElementIndex &index, Value value,
                                Value exists) {
  RankedTensorType type = typeOf(sum->getResult(0));
  elements.setElement(sum->getResult(0), index, value);
  FailureOr<SmallVector<Value>> values = SmallVector<Value>{value};
  Value linear = elements.linearIndex(type.getShape(), index);
  if (part)
    linear = elements.add(elements.mul(part, type.getNumElements()), linear);
  else
    values = elements.storedElements(stored, index);
  if (failed(values))
    return failure();
  if (exists) {
    auto branch = scf::IfOp::create(builder, loc, exists);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  for (auto [root, stored, pointer] :
       llvm::zip_equal(stored, *values, pointers))
    elements.store(stored, pointer, typeOf(root).getElementType(), linear);
  elements.enterDepth(elements.depth());
  return success();
}

} // namespace weft::gpu
