//===- TileStaging.cpp - an operand's way to shared memory ----------------===//

#include "weft/compiler/codegen/gpu/TileStaging.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/gpu/KernelWalk.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

TileStaging::TileStaging(ElementEmitter &elements, SharedMemory &shared,
                         Operation *sum, nest::TilesAttr walk, unsigned operand,
                         Value thread, nest::IsInMemory isInMemory)
    : elements(elements), builder(elements.builder), loc(elements.loc),
      shared(shared), sum(sum), shape(*nest::productShape(sum)),
      staging(stagingOf(walk, operand)),
      operandTile(nest::tileOperand(walk, operand)), operand(operand),
      threads(placeThreads()), thread(thread) {
  bool isHalf = walk.getUnit() == nest::Multiplier::Half;
  element = isHalf ? shape.typeOf(operand) : builder.getF32Type();
  if (isAsync())
    paths = nest::operandPaths(sum, operand, isInMemory);
  index = isAsync() && isNarrow() ? builder.getI32Type() : builder.getI64Type();
}

/// Gives each thread a run of a line: lines are rows with runs along the depth,
/// or depths with runs along the rows.
Placement TileStaging::placeThreads() {
  run = std::max<int64_t>(staging.getBytes() / operandTile.elementBytes, 1);
  bool isDeep = staging.getAlong() == nest::Along::Depth;
  int64_t perLine = (isDeep ? operandTile.depth : operandTile.rows) / run,
          lines = isDeep ? operandTile.rows : operandTile.depth,
          linesAtOnce = kBlockThreads / perLine;
  rounds = llvm::divideCeil(lines, linesAtOnce);
  taking = std::min(kBlockThreads, lines * perLine);
  SubAxes line{{kRound, 1, rounds}, {kThread, 1, linesAtOnce}},
      along{{kThread, linesAtOnce, perLine}, {kRegister, 1, run}};
  return Placement(
      {{kRound, rounds}, {kThread, linesAtOnce * perLine}, {kRegister, run}},
      isDeep ? std::vector{line, along} : std::vector{along, line});
}

/// Whether 32 bits hold all positions and offsets, those in tiles past the end
/// included.
bool TileStaging::isNarrow() const {
  int64_t most = std::numeric_limits<int32_t>::max() / 2;
  return typeOf(paths->root).getNumElements() < most &&
         shape.depth.size() < most && shape.rowsOf(operand).size() < most;
}

TileStaging::Place TileStaging::placeOf(Value round) {
  std::pair<PlacementAxis, Value> at[] = {
      {kRound, round}, {kThread, elements.resized(thread, round.getType())}};
  return {threads.at(elements, 0, at), threads.at(elements, 1, at)};
}

/// The position, at most that of the last run of `size` positions.
Value TileStaging::clamped(Value position, int64_t size, int64_t run) {
  return arith::MinUIOp::create(
      builder, loc, position,
      elements.constant(size - run, position.getType()));
}

Value TileStaging::isBefore(Value position, Value limit) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                               position, limit);
}
Value TileStaging::isBelow(Value position, int64_t size) {
  return isBefore(position, elements.constant(size, position.getType()));
}

Value TileStaging::offsetOf(const nest::DotPath &path, Value position) {
  SmallVector<int64_t> sizes;
  for (const nest::DotPath::Step &step : path.steps)
    sizes.push_back(step.size);
  Value offset = elements.constant(0, position.getType());
  for (auto [digit, step] :
       llvm::zip_equal(elements.positionsOf(position, sizes), path.steps))
    offset = elements.add(offset, elements.mul(digit, step.stride));
  return offset;
}

Value TileStaging::inStage(Value stage, const Place &place) {
  auto [outer, inner] = operandTile.isDepthInner
                            ? std::pair(place.row, place.depth)
                            : std::pair(place.depth, place.row);
  return shared.at(
      stage, storageType(element),
      elements.add(elements.mul(outer, operandTile.stride), inner));
}

template <typename Emit> void TileStaging::ifTaking(Emit emit) {
  if (taking == kBlockThreads)
    return emit();
  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, loc, isBelow(thread, taking));
  builder.setInsertionPointToStart(branch.thenBlock());
  emit();
}

void TileStaging::enter(ArrayRef<Value> digits, Value row, Value endOfDepth) {
  batch.assign(digits.begin(), digits.end());
  firstRow = elements.resized(row, index);
  end = elements.resized(endOfDepth, index);
  if (!isAsync())
    return;
  Value offset = number(paths->first), linear;
  for (auto [digit, size] : llvm::zip_equal(batch, shape.batch.sizes)) {
    Value narrow = elements.resized(digit, index);
    linear = linear ? elements.add(elements.mul(linear, size), narrow) : narrow;
  }
  if (linear)
    offset = elements.add(offset, offsetOf(paths->batch, linear));
  auto global = LLVM::LLVMPointerType::get(
      builder.getContext(), unsigned(NVVM::NVVMMemorySpace::Global));
  pointer = LLVM::AddrSpaceCastOp::create(builder, loc, global,
                                          elements.memoryOf(paths->root));
  // With bounds, the offset may be before the tensor and is added later.
  front = offset;
  if (paths->bounds.empty())
    pointer = shared.at(pointer, storageType(element), offset);
  int64_t rows = shape.rowsOf(operand).size();
  bool isDeep = staging.getAlong() == nest::Along::Depth;
  rowOffsets.clear();
  rowDigits.clear();
  for (int64_t round = 0; round < (isDeep ? rounds : 1); ++round) {
    Value at = elements.add(firstRow, placeOf(number(round)).row);
    if (rows % operandTile.rows != 0)
      at = clamped(at, rows, isDeep ? 1 : run);
    rowOffsets.push_back(offsetOf(paths->rows, at));
    if (!paths->bounds.empty())
      rowDigits.push_back(
          elements.positionsOf(at, shape.rowsOf(operand).sizes));
  }
}

Value TileStaging::isInBounds(size_t round, Value depth, Value exists,
                              Value &offset) {
  SmallVector<Value> terms = elements.positionsOf(depth, shape.depth.sizes);
  for (const nest::OperandPaths::Bound &bound : paths->bounds) {
    Value at = elements.add(
        elements.add(elements.mul(rowDigits[round][bound.row], bound.stride),
                     elements.mul(terms[bound.term], bound.dilation)),
        number(-bound.low));
    Value is = isBelow(at, (bound.size - 1) * bound.base + 1);
    exists = arith::AndIOp::create(builder, loc, exists, is);
    if (bound.base == 1)
      continue;
    Value base = number(bound.base);
    is = isBelow(arith::RemUIOp::create(builder, loc, at, base), 1);
    exists = arith::AndIOp::create(builder, loc, exists, is);
    Value place = arith::DivUIOp::create(builder, loc, at, base);
    offset = elements.add(offset, elements.mul(place, bound.step));
  }
  return exists;
}

/// Copies runs of adjacent elements asynchronously.
void TileStaging::copyRuns(Value stage, Value firstDepth) {
  int64_t bytes = staging.getBytes();
  Type i32 = builder.getI32Type();
  for (int64_t round = 0; round < rounds; ++round) {
    Place place = placeOf(number(round));
    Value depth =
        elements.add(elements.resized(firstDepth, index), place.depth);
    size_t row = std::min<size_t>(round, rowOffsets.size() - 1);
    Value exists = isBefore(depth, end), offset = offsetOf(paths->depth, depth);
    bool isBounded = !paths->bounds.empty();
    if (isBounded) {
      exists = isInBounds(row, depth, exists, offset);
      offset = elements.add(elements.add(front, rowOffsets[row]), offset);
    }
    offset = arith::SelectOp::create(builder, loc, exists, offset, number(0));
    if (!isBounded)
      offset = elements.add(offset, rowOffsets[row]);
    Value from = shared.at(pointer, storageType(element), offset);
    Value count = arith::SelectOp::create(builder, loc, exists,
                                          elements.constant(bytes, i32),
                                          elements.constant(0, i32));
    NVVM::CpAsyncOp::create(builder, loc, inStage(stage, place), from, bytes,
                            bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                        : NVVM::LoadCacheModifierKind::CA,
                            count);
  }
}

FailureOr<Value> TileStaging::factorAt(Value row, Value depth) {
  int64_t rank = typeOf(sum->getResult(0)).getRank();
  SmallVector<Value> position(rank, elements.constant(0));
  for (auto [dim, digit] : llvm::zip_equal(shape.batch.dims, batch))
    position[dim] = digit;
  const nest::JoinedDims &rows = shape.rowsOf(operand);
  for (auto [dim, digit] :
       llvm::zip_equal(rows.dims, elements.positionsOf(row, rows.sizes)))
    position[dim] = digit;
  return cast<TermCodeOpInterface>(sum).emitFactor(
      elements, operand, position,
      elements.positionsOf(depth, shape.depth.sizes));
}

/// Copies elements one by one; elements that are in no view of memory are
/// computed.
LogicalResult TileStaging::copyElements(Value stage, Value firstDepth) {
  auto copyRound = [&](Value round) -> LogicalResult {
    Place place = placeOf(round);
    Value row = elements.add(firstRow, place.row),
          depth = elements.add(firstDepth, place.depth);
    Value exists = isBefore(depth, end);
    FailureOr<Value> value =
        factorAt(clamped(row, shape.rowsOf(operand).size(), 1),
                 clamped(depth, shape.depth.size(), 1));
    if (failed(value))
      return failure();
    Value number =
        extendScalar(builder, loc, shape.typeOf(operand), element, *value);
    number = arith::SelectOp::create(builder, loc, exists, number,
                                     zeroOf(elements, element));
    ifTaking([&] {
      elements.store(number, inStage(stage, place), element,
                     elements.constant(0));
    });
    return success();
  };
  return rounds == 1 ? copyRound(elements.constant(0))
                     : elements.loop(rounds, copyRound);
}

LogicalResult TileStaging::copy(Value stage, Value firstDepth) {
  if (!isAsync())
    return copyElements(stage, firstDepth);
  ifTaking([&] { copyRuns(stage, firstDepth); });
  return success();
}

} // namespace weft::gpu
