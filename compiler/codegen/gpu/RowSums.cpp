//===- RowSums.cpp - rows that lanes share, with their reductions ---------===//
//
//   %0 = weft.reduce max %x dims [1]       #nest.rows<dims = 1, lanes = 256, held = 8, side = 4>
//
//   for row = block; row < rows; row += blocks of the grid
//     x0 to x7 = x[row, 4 * thread], ... and x[row, 1024 + 4 * thread], ...
//     m = max of x0 to x7                        in registers, read once
//     for distance in 16, 8, 4, 2, 1
//       m = max of m and the m of lane ^ distance
//     m of each warp to shared memory, from where all threads combine them
//
// If 32 lanes share a row, each warp takes a row. The elements of a lane, and
// the order in which they are combined, depend on shapes and the walk, not on
// the grid.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/gpu/GpuKernelEmitter.h"
#include "weft/compiler/codegen/gpu/Placement.h"
#include "weft/dialects/nest/RowWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

/// The most bytes that a number has: a complex number of f64.
constexpr int64_t kNumberBytes = 16;

/// Opens the loop over rows; a single row needs no loop, as every warp computes
/// and writes the same.
void GpuKernelEmitter::openRow() {
  Value thread = threadInBlock(), first = blockInGrid(), step = blocksOfGrid();
  lane = thread;
  if (rows.getLanes() == kWarpLanes) {
    lane = laneOf(elements, thread);
    Value warp = warpOf(elements, thread);
    first = elements.add(elements.mul(first, kBlockWarps), warp);
    step = elements.mul(step, kBlockWarps);
  }
  row = shape.empty()
            ? elements.constant(0)
            : elements.openStridedLoop(
                  first, elements.constant(ShapedType::getNumElements(shape)),
                  step);
  rowDepth = elements.depth();
  rowDims = elements.positionsOf(row, shape);
}

LogicalResult GpuKernelEmitter::emitRows(nest::RowsAttr walk) {
  rows = walk;
  auto reduces = llvm::to_vector(loops.getBody().getOps<ReduceOp>());
  bool isOfBlock = walk.getLanes() > kWarpLanes;
  if (isOfBlock)
    shared.allocate(builder.getInsertionBlock()->getParentOp(),
                    (kernel.getName() + ".shared").str(),
                    reduces.size() * kBlockWarps * kNumberBytes);
  openRow();
  for (ReduceOp op : reduces)
    if (failed(emitRowReduce(op)))
      return failure();
  if (failed(storeRowElements()))
    return failure();
  llvm::MapVector<ArrayRef<int64_t>, SmallVector<unsigned>> ofShape;
  for (auto [i, result] : llvm::enumerate(stored))
    if (typeOf(result).getShape() != ArrayRef<int64_t>(shape))
      ofShape[typeOf(result).getShape()].push_back(i);
  for (auto &entry : ofShape)
    if (failed(rows.getHeld() ? storeHeld(entry.second)
                              : storeRowColumns(entry.second)))
      return failure();
  elements.enterDepth(rowDepth);
  if (isOfBlock)
    shared.barrier(); // The next row's sums use the same memory.
  elements.beginNest();
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

ArrayRef<GpuKernelEmitter::HeldColumns>
GpuKernelEmitter::heldColumns(ArrayRef<int64_t> columns) {
  auto &found = held[SmallVector<int64_t>(columns)];
  // A row without columns is treated as one column.
  int64_t count = ShapedType::getNumElements(columns),
          side = nest::columnsSideBySide(rows, columns),
          lanes = rows.getLanes();
  if (!found.empty())
    return found;
  elements.enterDepth(rowDepth);
  int64_t rounds = llvm::divideCeil(count, lanes * side);
  Placement place(
      {{kRound, rounds}, {kLane, lanes}, {kRegister, side}},
      {{{kRound, 1, rounds}, {kLane, 1, lanes}, {kRegister, 1, side}}});
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t begin = place.at(0, kRound, round);
    Value exists, first = elements.add(place.at(elements, 0, {{kLane, lane}}),
                                       elements.constant(begin));
    if (begin + lanes * side > count) {
      exists = isBelow(first, count);
      first = arith::MinUIOp::create(builder, loc, first,
                                     elements.constant(count - side));
    }
    found.push_back(
        {first, exists, neighboursOf(rowDims, first, columns, side, false)});
  }
  return found;
}

SmallVector<GpuKernelEmitter::HeldColumns>
GpuKernelEmitter::columnsFrom(Value first, ArrayRef<int64_t> columns,
                              int64_t number, bool mayEnd, unsigned depth) {
  int64_t count = ShapedType::getNumElements(columns);
  SmallVector<HeldColumns> all;
  for (int64_t i = 0; i < number; ++i) {
    elements.enterDepth(depth);
    HeldColumns &each = all.emplace_back();
    each.first =
        i ? elements.add(first, elements.constant(i * rows.getLanes())) : first;
    if (mayEnd) {
      each.exists = isBelow(each.first, count);
      each.first = arith::MinUIOp::create(builder, loc, each.first,
                                          elements.constant(count - 1));
    }
    SmallVector<Value> dims(rowDims);
    llvm::append_range(dims, elements.positionsOf(each.first, columns));
    each.all.push_back(elements.makeIndex(dims, depth));
  }
  return all;
}

/// Combines the lane's columns with a value, in order.
FailureOr<Value> GpuKernelEmitter::reduceColumns(ReduceOp op,
                                                 ArrayRef<HeldColumns> columns,
                                                 Value from) {
  Type input = typeOf(op.getInput()).getElementType(),
       element = typeOf(op.getResult()).getElementType();
  for (const HeldColumns &each : columns)
    for (const ElementIndex &index : each.all) {
      FailureOr<Value> value = elements.element(op.getInput(), index);
      if (failed(value))
        return failure();
      elements.enterDepth(index.depth);
      Value next = extendScalar(builder, loc, input, element, *value);
      if (each.exists)
        next = arith::SelectOp::create(
            builder, loc, each.exists, next,
            emitNeutral(builder, loc, op.getKind(), element));
      from = emitCombine(builder, loc, op.getKind(), element, from, next);
    }
  return from;
}

/// Reduces the lane's columns that are in registers.
FailureOr<Value> GpuKernelEmitter::reduceHeld(ReduceOp op) {
  elements.enterDepth(rowDepth);
  Value neutral = emitNeutral(builder, loc, op.getKind(),
                              typeOf(op.getResult()).getElementType());
  return reduceColumns(
      op,
      heldColumns(typeOf(op.getInput()).getShape().drop_front(shape.size())),
      neutral);
}

/// Reduces the lane's columns in a loop that reads several of them at once, and
/// then those that are left.
FailureOr<Value> GpuKernelEmitter::reduceAgain(ReduceOp op) {
  ArrayRef<int64_t> columns =
      typeOf(op.getInput()).getShape().drop_front(shape.size());
  elements.enterDepth(rowDepth);
  Value sum = emitNeutral(builder, loc, op.getKind(),
                          typeOf(op.getResult()).getElementType());
  int64_t count = ShapedType::getNumElements(columns),
          step = rows.getLanes() * rows.getTogether(),
          whole = count / step * step;
  if (whole > 0) {
    auto most = elements.loop(
        lane, elements.constant(whole), elements.constant(step), sum,
        [&](Value first, ValueRange sums) -> FailureOr<SmallVector<Value>> {
          FailureOr<Value> next =
              reduceColumns(op,
                            columnsFrom(first, columns, rows.getTogether(),
                                        false, rowDepth + 1),
                            sums[0]);
          if (failed(next))
            return failure();
          return SmallVector<Value>{*next};
        });
    if (failed(most))
      return failure();
    sum = most->front();
  }
  if (whole == count)
    return sum;
  Value first = elements.add(lane, elements.constant(whole));
  return reduceColumns(
      op,
      columnsFrom(first, columns,
                  llvm::divideCeil(count - whole, rows.getLanes()), true,
                  rowDepth),
      sum);
}

LogicalResult GpuKernelEmitter::emitRowReduce(ReduceOp op) {
  FailureOr<Value> ofLane = rows.getHeld() ? reduceHeld(op) : reduceAgain(op);
  if (failed(ofLane))
    return failure();
  elements.setElementOfNest(op.getResult(), combineLanes(op, *ofLane));
  return success();
}

/// The value of the lane at this distance. Shuffles exchange 32 bits.
Value GpuKernelEmitter::otherLane(Value value, int64_t distance) {
  Type type = value.getType(), i32 = builder.getI32Type();
  if (isa<ComplexType>(type)) {
    ComplexEmitter c{builder, loc};
    return c.make(otherLane(c.re(value), distance),
                  otherLane(c.im(value), distance));
  }
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(n));
  };
  if (type == i32 || type.isF32())
    return mlir::gpu::ShuffleOp::create(builder, loc, value, number(distance),
                                        number(kWarpLanes),
                                        mlir::gpu::ShuffleMode::XOR)
        .getShuffleResult();
  unsigned width = type.getIntOrFloatBitWidth();
  Type bits = builder.getIntegerType(width);
  if (type != bits)
    return arith::BitcastOp::create(
        builder, loc, type,
        otherLane(arith::BitcastOp::create(builder, loc, bits, value),
                  distance));
  if (width < 32)
    return arith::TruncIOp::create(
        builder, loc, bits,
        otherLane(arith::ExtUIOp::create(builder, loc, i32, value), distance));
  Value half = elements.constant(32);
  Value high = arith::ShRUIOp::create(builder, loc, value, half);
  auto exchanged = [&](Value wide) -> Value {
    Value narrow = arith::TruncIOp::create(builder, loc, i32, wide);
    return arith::ExtUIOp::create(builder, loc, bits,
                                  otherLane(narrow, distance));
  };
  Value low = exchanged(value);
  return arith::OrIOp::create(
      builder, loc, low,
      arith::ShLIOp::create(builder, loc, exchanged(high), half));
}

Value GpuKernelEmitter::combineLanes(ReduceOp op, Value value) {
  Type elementType = typeOf(op.getResult()).getElementType();
  for (int64_t distance = kWarpLanes / 2; distance > 0; distance /= 2)
    value = emitCombine(builder, loc, op.getKind(), elementType, value,
                        otherLane(value, distance));
  if (rows.getLanes() == kWarpLanes)
    return value;
  // The memory of this reduction. No two share memory, so that one barrier is
  // sufficient.
  Value place =
      shared.at(shared.base(), builder.getI8Type(),
                elements.constant(rowReduces++ * kBlockWarps * kNumberBytes));
  Value warp = warpOf(elements, lane);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            laneOf(elements, lane), elements.constant(0));
  auto branch = scf::IfOp::create(builder, loc, isFirst);
  builder.setInsertionPointToStart(branch.thenBlock());
  elements.store(value, place, elementType, warp);
  elements.enterDepth(rowDepth);
  shared.barrier();
  value = elements.load(place, elementType, elements.constant(0));
  for (int64_t i = 1; i < kBlockWarps; ++i)
    value =
        emitCombine(builder, loc, op.getKind(), elementType, value,
                    elements.load(place, elementType, elements.constant(i)));
  return value;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult GpuKernelEmitter::storeRowElements() {
  SmallVector<std::pair<unsigned, Value>> values;
  for (auto [i, result] : llvm::enumerate(stored)) {
    if (typeOf(result).getShape() != ArrayRef<int64_t>(shape))
      continue;
    FailureOr<Value> value =
        elements.element(result, elements.makeIndex(rowDims, rowDepth));
    if (failed(value))
      return failure();
    values.emplace_back(i, *value);
  }
  if (values.empty())
    return success();
  elements.enterDepth(rowDepth);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      lane, elements.constant(0));
  auto branch = scf::IfOp::create(builder, loc, first);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (auto [i, value] : values)
    elements.store(value, resultPointers[i], typeOf(stored[i]).getElementType(),
                   row);
  elements.enterDepth(rowDepth);
  return success();
}

/// Stores columns that the lane computes in a loop, several at once, and then
/// those that are left.
LogicalResult GpuKernelEmitter::storeRowColumns(ArrayRef<unsigned> results) {
  ArrayRef<int64_t> columns =
      typeOf(stored[results[0]]).getShape().drop_front(shape.size());
  elements.enterDepth(rowDepth);
  int64_t count = ShapedType::getNumElements(columns),
          step = rows.getLanes() * rows.getTogether(),
          whole = count / step * step;
  if (whole > 0 &&
      failed(elements.loop(lane, elements.constant(whole),
                           elements.constant(step), [&](Value first) {
                             return storeColumns(
                                 results,
                                 columnsFrom(first, columns, rows.getTogether(),
                                             false, rowDepth + 1));
                           })))
    return failure();
  if (whole == count)
    return success();
  Value first = elements.add(lane, elements.constant(whole));
  return storeColumns(
      results, columnsFrom(first, columns,
                           llvm::divideCeil(count - whole, rows.getLanes()),
                           true, rowDepth));
}

/// Stores columns that are in registers.
LogicalResult GpuKernelEmitter::storeHeld(ArrayRef<unsigned> results) {
  ArrayRef<int64_t> columns =
      typeOf(stored[results[0]]).getShape().drop_front(shape.size());
  for (const HeldColumns &each : heldColumns(columns))
    if (failed(storeColumns(results, each)))
      return failure();
  return success();
}

LogicalResult GpuKernelEmitter::storeColumns(ArrayRef<unsigned> results,
                                             ArrayRef<HeldColumns> columns) {
  int64_t count = ShapedType::getNumElements(
      typeOf(stored[results[0]]).getShape().drop_front(shape.size()));
  unsigned depth = elements.depth();
  // All values come before the first store, which later loads could not pass.
  SmallVector<SmallVector<SmallVector<Value>>> all;
  for (const HeldColumns &each : columns) {
    auto &values = all.emplace_back(results.size());
    for (const ElementIndex &index : each.all)
      for (auto [i, of] : llvm::zip_equal(results, values)) {
        FailureOr<Value> value = elements.element(stored[i], index);
        if (failed(value))
          return failure();
        of.push_back(*value);
      }
  }
  for (auto [each, values] : llvm::zip_equal(columns, all)) {
    elements.enterDepth(depth);
    Value linear = elements.add(elements.mul(row, count), each.first);
    OpBuilder::InsertionGuard guard(builder);
    if (each.exists) {
      auto branch = scf::IfOp::create(builder, loc, each.exists);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    for (auto [i, of] : llvm::zip_equal(results, values))
      elements.storeNeighbours(of, resultPointers[i],
                               typeOf(stored[i]).getElementType(), linear);
  }
  return success();
}

} // namespace weft::gpu
