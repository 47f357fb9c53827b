//===- MovedElements.cpp - elements that come from another position -------===//

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/coll/Coll.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

static FailureOr<Value> broadcastElement(ElementEmitter &e, BroadcastOp op,
                                         const ElementIndex &index) {
  SmallVector<Value> dims;
  for (int64_t dim : op.getDims())
    dims.push_back(index.dims[dim]);
  // The depth at which the loops over the operand's dimensions are open.
  unsigned known = 0;
  for (Value dim : dims)
    known = std::max(known, e.depthOf(dim, index.depth));
  return e.element(op.getInput(),
                   e.makeIndex(dims, std::min(index.depth, known)));
}

static FailureOr<Value> transposedElement(ElementEmitter &e, TransposeOp op,
                                          const ElementIndex &index) {
  SmallVector<Value> dims(index.dims.size());
  for (auto [i, from] : llvm::enumerate(op.getPermutation()))
    dims[from] = index.dims[i];
  return e.element(op.getInput(), e.makeIndex(dims, index.depth));
}

static FailureOr<Value> slicedElement(ElementEmitter &e, SliceOp op,
                                      const ElementIndex &index) {
  SmallVector<Value> dims;
  for (auto [i, dim] : llvm::enumerate(index.dims))
    dims.push_back(
        e.add(e.mul(dim, op.getStride()[i]), e.constant(op.getStart()[i])));
  return e.element(op.getInput(), e.makeIndex(dims, index.depth));
}

static FailureOr<Value> reversedElement(ElementEmitter &e, ReverseOp op,
                                        const ElementIndex &index) {
  SmallVector<Value> dims(index.dims.begin(), index.dims.end());
  for (int64_t dim : op.getDims()) {
    Value last = e.constant(typeOf(op.getInput()).getDimSize(dim) - 1);
    dims[dim] = arith::SubIOp::create(e.builder, e.loc, last, dims[dim]);
  }
  return e.element(op.getInput(), e.makeIndex(dims, index.depth));
}

/// The device's block of a tensor.
static FailureOr<Value> blockElement(ElementEmitter &e, coll::SliceOp op,
                                     const ElementIndex &index) {
  SmallVector<Value> dims(index.dims.begin(), index.dims.end());
  int64_t dim = op.getDim();
  Value start = e.mul(e.coordinate(op.getGroup()),
                      typeOf(op.getResult()).getDimSize(dim));
  Value last = e.constant(typeOf(op.getInput()).getDimSize(dim) - 1);
  // Positions past the end are padding, for which any element is allowed.
  dims[dim] =
      arith::MinSIOp::create(e.builder, e.loc, e.add(dims[dim], start), last);
  return e.element(op.getInput(), e.makeIndex(dims, index.depth));
}

static FailureOr<Value> reshapedElement(ElementEmitter &e, ReshapeOp op,
                                        const ElementIndex &index) {
  if (index.linear)
    return e.element(op.getInput(), index);
  return e.element(op.getInput(),
                   e.reshaped(index, typeOf(op.getResult()).getShape(),
                              typeOf(op.getInput()).getShape()));
}

static FailureOr<Value> paddedElement(ElementEmitter &e, PadOp op,
                                      const ElementIndex &index) {
  RankedTensorType type = typeOf(op.getInput());
  Value outside =
      emitNeutral(e.builder, e.loc, ReduceKind::Sum, type.getElementType());
  if (op.getValue()) {
    FailureOr<Value> given = e.element(op.getValue(), e.makeIndex({}, 0));
    if (failed(given))
      return failure();
    e.enterDepth(index.depth);
    outside = *given;
  }
  if (type.getNumElements() == 0)
    return outside;
  Value inside =
      arith::ConstantOp::create(e.builder, e.loc, e.builder.getBoolAttr(true));
  SmallVector<Value> dims;
  for (auto [i, dim] : llvm::enumerate(index.dims)) {
    auto [begin, end] = e.rangeOf(dim, typeOf(op.getResult()).getDimSize(i));
    int64_t low = op.getLow()[i], high = low + type.getDimSize(i);
    bool isDense = op.getInterior()[i] == 0;
    if (isDense && (end <= low || begin >= high))
      return outside;
    Value position = e.add(dim, e.constant(-low));
    if (isDense && begin >= low && end <= high) {
      dims.push_back(position);
      continue;
    }
    auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
      Value holds = arith::CmpIOp::create(e.builder, e.loc, predicate, a, b);
      inside = arith::AndIOp::create(e.builder, e.loc, inside, holds);
    };
    require(arith::CmpIPredicate::sge, position, e.constant(0));
    if (op.getInterior()[i] != 0) {
      Value step = e.constant(op.getInterior()[i] + 1);
      require(arith::CmpIPredicate::eq,
              arith::RemSIOp::create(e.builder, e.loc, position, step),
              e.constant(0));
      position = arith::DivSIOp::create(e.builder, e.loc, position, step);
    }
    require(arith::CmpIPredicate::slt, position,
            e.constant(type.getDimSize(i)));
    // The position is clamped, as an element is read even if it is not used.
    position =
        arith::MaxSIOp::create(e.builder, e.loc, position, e.constant(0));
    dims.push_back(arith::MinSIOp::create(e.builder, e.loc, position,
                                          e.constant(type.getDimSize(i) - 1)));
  }
  FailureOr<Value> value =
      e.element(op.getInput(), e.makeIndex(dims, index.depth));
  if (failed(value))
    return failure();
  e.enterDepth(index.depth);
  return arith::SelectOp::create(e.builder, e.loc, inside, *value, outside)
      .getResult();
}

static Cuts paddedCuts(PadOp op) {
  Cuts cuts;
  for (auto [i, size] : llvm::enumerate(typeOf(op.getInput()).getShape()))
    if (op.getInterior()[i] == 0)
      cuts.append({{i, op.getLow()[i]}, {i, op.getLow()[i] + size}});
  return cuts;
}

static Cuts concatenatedCuts(ConcatenateOp op) {
  Cuts cuts;
  int64_t end = 0;
  for (Value input : op.getInputs())
    cuts.push_back({op.getDim(), end += typeOf(input).getDimSize(op.getDim())});
  return cuts;
}

static FailureOr<Value> concatenatedElement(ElementEmitter &e, ConcatenateOp op,
                                            const ElementIndex &index) {
  int64_t dim = op.getDim(), start = 0;
  auto [begin, end] =
      e.rangeOf(index.dims[dim], typeOf(op.getResult()).getDimSize(dim));
  Value result;
  for (Value input : op.getInputs()) {
    int64_t first = start, size = typeOf(input).getDimSize(dim);
    start += size;
    if (first >= end || start <= begin)
      continue;
    e.enterDepth(index.depth);
    SmallVector<Value> dims(index.dims.begin(), index.dims.end());
    Value position = e.add(dims[dim], e.constant(-first));
    if (first <= begin && end <= start) {
      dims[dim] = position;
      return e.element(input, e.makeIndex(dims, index.depth));
    }
    Value clamped =
        arith::MaxSIOp::create(e.builder, e.loc, position, e.constant(0));
    dims[dim] =
        arith::MinSIOp::create(e.builder, e.loc, clamped, e.constant(size - 1));
    FailureOr<Value> value = e.element(input, e.makeIndex(dims, index.depth));
    if (failed(value))
      return failure();
    e.enterDepth(index.depth);
    Value reached = arith::CmpIOp::create(
        e.builder, e.loc, arith::CmpIPredicate::sge, position, e.constant(0));
    result = result ? arith::SelectOp::create(e.builder, e.loc, reached, *value,
                                              result)
                          .getResult()
                    : *value;
  }
  // Loops over an empty result need code, too.
  return result ? result : zeroOf(e, typeOf(op.getResult()).getElementType());
}

static int64_t rollBy(int64_t size, int64_t shift) {
  return size == 0 ? 0 : ((shift % size) + size) % size;
}

/// (position - shift) mod size, with one comparison at most.
static Value rolled(ElementEmitter &e, Value position, int64_t size,
                    int64_t shift) {
  int64_t by = rollBy(size, shift);
  if (by == 0)
    return position;
  auto [begin, end] = e.rangeOf(position, size);
  Value back = e.add(position, e.constant(-by));
  if (begin >= by)
    return back;
  Value around = e.add(position, e.constant(size - by));
  if (end <= by)
    return around;
  Value wraps = arith::CmpIOp::create(
      e.builder, e.loc, arith::CmpIPredicate::slt, back, e.constant(0));
  return arith::SelectOp::create(e.builder, e.loc, wraps, around, back);
}

static Cuts rolledCuts(RollOp op) {
  Cuts cuts;
  for (auto [i, size] : llvm::enumerate(typeOf(op.getInput()).getShape()))
    cuts.push_back({i, rollBy(size, op.getShift()[i])});
  return cuts;
}

static FailureOr<Value> rolledElement(ElementEmitter &e, RollOp op,
                                      const ElementIndex &index) {
  SmallVector<Value> dims;
  for (auto [dim, size, shift] : llvm::zip_equal(
           index.dims, typeOf(op.getInput()).getShape(), op.getShift()))
    dims.push_back(rolled(e, dim, size, shift));
  return e.element(op.getInput(), e.makeIndex(dims, index.depth));
}

/// The starts of a block, clamped into the tensor; computed before all loops.
static FailureOr<SmallVector<Value>> clampedStarts(ElementEmitter &e,
                                                   ValueRange starts,
                                                   ArrayRef<int64_t> shape,
                                                   ArrayRef<int64_t> block) {
  SmallVector<Value> result;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    FailureOr<Value> value = e.element(start, e.makeIndex({}, 0));
    if (failed(value))
      return failure();
    e.enterDepth(0);
    result.push_back(e.clampedPosition(*value, typeOf(start).getElementType(),
                                       shape[dim] - block[dim]));
  }
  return result;
}

static FailureOr<Value> dynamicallySliced(ElementEmitter &e, DynamicSliceOp op,
                                          const ElementIndex &index) {
  auto starts =
      clampedStarts(e, op.getStarts(), typeOf(op.getInput()).getShape(),
                    typeOf(op.getResult()).getShape());
  if (failed(starts))
    return failure();
  e.enterDepth(index.depth);
  SmallVector<Value> dims;
  for (auto [dim, start] : llvm::zip_equal(index.dims, *starts))
    dims.push_back(e.add(dim, start));
  return e.element(op.getInput(), e.makeIndex(dims, index.depth));
}

static FailureOr<Value> dynamicallyUpdated(ElementEmitter &e,
                                           DynamicUpdateSliceOp op,
                                           const ElementIndex &index) {
  ArrayRef<int64_t> block = typeOf(op.getUpdate()).getShape();
  FailureOr<Value> outside = e.element(op.getInput(), index);
  if (failed(outside) || elementCount(op.getUpdate()) == 0)
    return outside;
  auto starts =
      clampedStarts(e, op.getStarts(), typeOf(op.getInput()).getShape(), block);
  if (failed(starts))
    return failure();
  e.enterDepth(index.depth);
  Value inside =
      arith::ConstantOp::create(e.builder, e.loc, e.builder.getBoolAttr(true));
  SmallVector<Value> dims;
  for (auto [dim, start, size] : llvm::zip_equal(index.dims, *starts, block)) {
    Value position = arith::SubIOp::create(e.builder, e.loc, dim, start);
    // The unsigned comparison makes positions before the block larger than its
    // size.
    Value holds =
        arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::ult,
                              position, e.constant(size));
    inside = arith::AndIOp::create(e.builder, e.loc, inside, holds);
    position =
        arith::MaxSIOp::create(e.builder, e.loc, position, e.constant(0));
    dims.push_back(arith::MinSIOp::create(e.builder, e.loc, position,
                                          e.constant(size - 1)));
  }
  FailureOr<Value> value =
      e.element(op.getUpdate(), e.makeIndex(dims, index.depth));
  if (failed(value))
    return failure();
  e.enterDepth(index.depth);
  return arith::SelectOp::create(e.builder, e.loc, inside, *value, *outside)
      .getResult();
}

LogicalResult emitDynamicUpdate(ElementEmitter &e, DynamicUpdateSliceOp op) {
  RankedTensorType type = typeOf(op.getResult());
  ArrayRef<int64_t> block = typeOf(op.getUpdate()).getShape();
  if (elementCount(op.getUpdate()) == 0)
    return success();
  auto starts = clampedStarts(e, op.getStarts(), type.getShape(), block);
  if (failed(starts))
    return failure();
  SmallVector<Value> dims, positions;
  for (auto [dim, size] : llvm::enumerate(block))
    dims.push_back(e.openSharedLoop(dim, size));
  ElementIndex index = e.makeIndex(dims, e.depth());
  if (e.depth() > 0)
    e.markParallel();
  FailureOr<Value> value = e.element(op.getUpdate(), index);
  if (failed(value))
    return failure();
  e.enterDepth(e.depth());
  for (auto [dim, start] : llvm::zip_equal(dims, *starts))
    positions.push_back(e.add(dim, start));
  Value linear =
      e.linearIndex(type.getShape(), e.makeIndex(positions, e.depth()));
  e.store(*value, e.memoryOf(op.getResult()), type.getElementType(), linear);
  e.beginNest();
  return success();
}

void attachMovedElements(MLIRContext *context) {
  attachElement<BroadcastOp, broadcastElement>(context);
  attachElement<ReshapeOp, reshapedElement>(context);
  attachElement<TransposeOp, transposedElement>(context);
  attachElement<SliceOp, slicedElement>(context);
  attachElement<ReverseOp, reversedElement>(context);
  attachElement<RollOp, rolledElement, rolledCuts>(context);
  attachElement<PadOp, paddedElement, paddedCuts>(context);
  attachElement<ConcatenateOp, concatenatedElement, concatenatedCuts>(context);
  attachElement<DynamicSliceOp, dynamicallySliced>(context);
  attachElement<DynamicUpdateSliceOp, dynamicallyUpdated>(context);
}

void attachMovedBlocks(MLIRContext *context) {
  attachElement<coll::SliceOp, blockElement>(context);
}

} // namespace weft::elements
