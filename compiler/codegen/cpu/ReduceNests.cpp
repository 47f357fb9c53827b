//===- ReduceNests.cpp - loop nests of a reduction ------------------------===//
//
// Reductions by the walk's blocks: the elements of one block are combined
// first.
//
//   sum of x[64,28,28,12] over all but the last, blocks [1, 1, 28]:
//     for n in 64, for i in 28:            partial[0..12] = 0
//       for j in 28, for c in 12:          partial[c] += x[n,i,j,c]
//       for c in 12:                       sum[c] += partial[c]
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/elements/SmallFloatOps.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

static SmallVector<int64_t> reducedSizes(ReduceOp op) {
  SmallVector<int64_t> sizes;
  for (int64_t dim : op.getDims())
    sizes.push_back(typeOf(op.getInput()).getDimSize(dim));
  return sizes;
}

/// The length of a block along each reduced dimension; by default, the size of
/// the dimension.
static SmallVector<int64_t> blocksOf(ReduceOp op, nest::ReductionAttr walk) {
  return walk.getBlocks().empty() ? reducedSizes(op)
                                  : SmallVector<int64_t>(walk.getBlocks());
}

/// Opens loops over the first positions of blocks, and over the positions of
/// one block.
static Value openBlocks(ElementEmitter &e, int64_t n, int64_t length,
                        ValueRange carried) {
  return e.openStridedLoop(e.constant(0), e.constant(n), e.constant(length),
                           carried);
}

static Value openBlock(ElementEmitter &e, Value begin, int64_t n,
                       int64_t length, ValueRange carried) {
  if (n % length == 0) {
    Value within = e.openLoop(length, carried);
    return e.add(begin, within);
  }
  Value end = arith::MinSIOp::create(
      e.builder, e.loc, e.add(begin, e.constant(length)), e.constant(n));
  return e.openLoop(begin, end, carried);
}

/// The position in the operand, from the positions in the result and in the
/// reduced dimensions.
static SmallVector<Value> operandPosition(ReduceOp op, ArrayRef<Value> kept,
                                          ArrayRef<Value> reduced) {
  SmallVector<Value> dims;
  for (int64_t i = 0; i < typeOf(op.getInput()).getRank(); ++i) {
    ArrayRef<Value> &from =
        llvm::is_contained(op.getDims(), i) ? reduced : kept;
    dims.push_back(from.front());
    from = from.drop_front();
  }
  return dims;
}

/// The vectors of a reduction that LLVM computes side by side in a loop whose
/// body has at most so many operations. It would choose such counts itself, but
/// not where it may not unroll; a longer body hides the latency of combining.
static constexpr int64_t kChains = 4, kSmallBody = 16;

/// Reduces the innermost dimension, with an accumulator for each element and
/// loop.
static LogicalResult reduceInRegister(KernelEmitter &kernel, ReduceOp op,
                                      nest::ReductionAttr walk) {
  ElementEmitter &e = kernel.elements;
  RankedTensorType type = typeOf(op.getResult());
  Type elementType = type.getElementType();
  SmallVector<Value> kept, reduced;
  for (int64_t size : type.getShape())
    kept.push_back(kept.empty() ? kernel.openSplitLoop(size)
                                : e.openLoop(size));
  unsigned outer = e.depth();
  Value neutral = emitNeutral(e.builder, e.loc, op.getKind(), elementType);
  for (auto [size, length] :
       llvm::zip_equal(reducedSizes(op), blocksOf(op, walk))) {
    if (length >= size) {
      reduced.push_back(e.openLoop(size, neutral));
      continue;
    }
    Value begin = openBlocks(e, size, length, neutral);
    reduced.push_back(openBlock(e, begin, size, length, neutral));
  }
  FailureOr<Value> value =
      e.element(op.getInput(),
                e.makeIndex(operandPosition(op, kept, reduced), e.depth()));
  if (failed(value))
    return failure();
  e.enterDepth(e.depth());
  Value next =
      extendScalar(e.builder, e.loc, typeOf(op.getInput()).getElementType(),
                   elementType, *value);
  if (e.depth() == outer)
    next =
        emitCombine(e.builder, e.loc, op.getKind(), elementType, neutral, next);
  if (e.depth() > outer &&
      llvm::range_size(e.innermostLoop().getBody()->getOperations()) <=
          kSmallBody)
    e.markInterleaved(kChains);
  while (e.depth() > outer) {
    scf::ForOp loop = e.innermostLoop();
    next = emitCombine(e.builder, e.loc, op.getKind(), elementType,
                       loop.getRegionIterArgs()[0], next);
    loop.getBody()->getTerminator()->setOperand(0, next);
    next = loop.getResult(0);
    e.closeLoops(e.depth() - 1);
  }
  e.store(next, e.memoryOf(op.getResult()), elementType,
          e.linearIndex(type.getShape(), e.makeIndex(kept, outer)));
  return success();
}

namespace {

/// Reduces with the innermost dimension kept: combines rows of the operand into
/// a row of the result, which may have several dimensions.
class RowReduction {
public:
  RowReduction(KernelEmitter &kernel [[clang::lifetimebound]], ReduceOp op,
               nest::ReductionAttr walk)
      : kernel(kernel), e(kernel.elements), op(op), walk(walk),
        type(typeOf(op.getResult())), elementType(type.getElementType()),
        row(type.getShape().take_back(nest::dimsOfRow(op))),
        result(e.memoryOf(op.getResult())) {}

  LogicalResult emit() {
    if (!walk.getBlocks().empty())
      partial = e.scratch();
    for (int64_t size : type.getShape().drop_back(row.size()))
      outer.push_back(outer.empty() ? kernel.openSplitLoop(size)
                                    : e.openLoop(size));
    clear(result);
    if (!partial) {
      for (int64_t size : reducedSizes(op))
        reduced.push_back(e.openLoop(size));
      return addOperand(result);
    }
    return emitBlocks();
  }

private:
  LogicalResult emitBlocks() {
    SmallVector<int64_t> sizes = reducedSizes(op);
    ArrayRef<int64_t> blocks = walk.getBlocks();
    size_t i = 0;
    for (; i < sizes.size() && blocks[i] == 1; ++i)
      reduced.push_back(e.openLoop(sizes[i]));
    Value begin;
    if (i < sizes.size() && blocks[i] < sizes[i])
      begin = openBlocks(e, sizes[i], blocks[i], {});
    unsigned block = e.depth();
    clear(partial);
    if (begin)
      reduced.push_back(openBlock(e, begin, sizes[i], blocks[i], {}));
    for (int64_t size : ArrayRef(sizes).drop_front(reduced.size()))
      reduced.push_back(e.openLoop(size));
    if (failed(addOperand(partial)))
      return failure();
    e.closeLoops(block);
    Value column = openRow();
    combine(result, column, e.load(partial, elementType, column));
    return success();
  }

  /// Opens a loop over the elements of a row, or over this worker's.
  Value openRow() {
    Value column = outer.empty() ? kernel.openSplitLoop(llvm::product_of(row))
                                 : e.openLoop(llvm::product_of(row));
    e.markParallel();
    return column;
  }

  /// The position in the result's memory, or in the row on the stack.
  Value position(Value pointer, Value column) {
    if (pointer != result)
      return column;
    SmallVector<Value> dims(outer);
    dims.push_back(column);
    SmallVector<int64_t> shape(type.getShape().drop_back(row.size()));
    shape.push_back(llvm::product_of(row));
    return e.linearIndex(shape, e.makeIndex(dims, e.depth()));
  }

  void clear(Value pointer) {
    unsigned depth = e.depth();
    Value neutral = emitNeutral(e.builder, e.loc, op.getKind(), elementType);
    Value column = openRow();
    e.store(neutral, pointer, elementType, position(pointer, column));
    e.closeLoops(depth);
  }

  void combine(Value pointer, Value column, Value value) {
    Value linear = position(pointer, column);
    Value sum = e.load(pointer, elementType, linear);
    e.store(
        emitCombine(e.builder, e.loc, op.getKind(), elementType, sum, value),
        pointer, elementType, linear);
  }

  /// Loops over the dimensions of a row where the last one fills vectors, else
  /// over its elements: the shape of the operand in these loops.
  SmallVector<int64_t> loopShape() {
    ArrayRef<int64_t> shape = typeOf(op.getInput()).getShape();
    int64_t lanes = kernel.target.vectorBytes / bytesOf(elementType);
    if (row.size() > 1 && nest::fillsVectors(row.back(), lanes))
      return SmallVector<int64_t>(shape);
    SmallVector<int64_t> joined(shape.drop_back(row.size()));
    joined.push_back(llvm::product_of(row));
    return joined;
  }

  LogicalResult addOperand(Value pointer) {
    SmallVector<int64_t> shape = loopShape();
    size_t around = typeOf(op.getInput()).getRank() - row.size();
    SmallVector<Value> kept(outer), dims;
    for (int64_t size : ArrayRef(shape).drop_front(around))
      kept.push_back(kept.empty() ? kernel.openSplitLoop(size)
                                  : e.openLoop(size));
    e.markParallel();
    Value column = e.linearIndex(
        ArrayRef(shape).drop_front(around),
        e.makeIndex(ArrayRef(kept).drop_front(outer.size()), e.depth()));
    ArrayRef<Value> left = kept, inside = reduced;
    for (int64_t i = 0; i < int64_t(shape.size()); ++i) {
      ArrayRef<Value> &from =
          llvm::is_contained(op.getDims(), i) ? inside : left;
      dims.push_back(from.front());
      from = from.drop_front();
    }
    FailureOr<Value> value =
        e.element(op.getInput(), e.reshaped(e.makeIndex(dims, e.depth()), shape,
                                            typeOf(op.getInput()).getShape()));
    if (failed(value))
      return failure();
    e.enterDepth(e.depth());
    combine(pointer, column,
            extendScalar(e.builder, e.loc,
                         typeOf(op.getInput()).getElementType(), elementType,
                         *value));
    return success();
  }

  KernelEmitter &kernel;
  ElementEmitter &e;
  ReduceOp op;
  nest::ReductionAttr walk;
  RankedTensorType type;
  Type elementType;
  ArrayRef<int64_t> row; ///< the last dimensions of the result
  Value result, partial;
  SmallVector<Value> outer, reduced;
};

} // namespace

LogicalResult emitReduce(KernelEmitter &kernel, ReduceOp op,
                         nest::ReductionAttr walk) {
  return walk.getInto() == nest::Accumulate::Register
             ? reduceInRegister(kernel, op, walk)
             : RowReduction(kernel, op, walk).emit();
}

} // namespace weft::cpu
