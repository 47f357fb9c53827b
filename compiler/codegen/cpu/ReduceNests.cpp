//===- ReduceNests.cpp - loop nests of a reduction ------------------------===//
//
// Rounding grows with the count of numbers that go to one accumulator: longer
// sums are taken block by block, and the blocks' sums added up. The sum of
// 50,000 positive numbers is off by 2e-7 instead of 4e-6 of itself.
//
//   sum of x[64,28,28,12] over all but the last:
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

static constexpr int64_t kSumBlock = 512, kLongSum = 4 * kSumBlock;

static SmallVector<int64_t> reducedSizes(ReduceOp op) {
  SmallVector<int64_t> sizes;
  for (int64_t dim : op.getDims())
    sizes.push_back(tensorType(op.getInput()).getDimSize(dim));
  return sizes;
}

static bool isLongSum(ReduceOp op) {
  bool rounds = isa<FloatType>(tensorType(op.getResult()).getElementType());
  return op.getKind() == ReduceKind::Sum && rounds &&
         llvm::product_of(reducedSizes(op)) > kLongSum;
}

/// A block's length near `wanted`, one that divides n where there is one.
static int64_t blockLength(int64_t n, int64_t wanted) {
  for (int64_t length = wanted; length > wanted / 4; --length)
    if (n % length == 0)
      return length;
  return wanted;
}

/// Loops over the first positions of blocks, and over the positions of one.
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

/// Positions in the operand from those of the result and of the reduced
/// dimensions.
static SmallVector<Value> operandPosition(ReduceOp op, ArrayRef<Value> kept,
                                          ArrayRef<Value> reduced) {
  SmallVector<Value> dims;
  for (int64_t i = 0; i < tensorType(op.getInput()).getRank(); ++i) {
    ArrayRef<Value> &from =
        llvm::is_contained(op.getDims(), i) ? reduced : kept;
    dims.push_back(from.front());
    from = from.drop_front();
  }
  return dims;
}

/// The innermost dimension is reduced: an accumulator for each element and loop.
static LogicalResult reduceInRegister(ElementEmitter &e, ReduceOp op) {
  RankedTensorType type = tensorType(op.getResult());
  Type elementType = type.getElementType();
  SmallVector<Value> kept, reduced;
  for (int64_t size : type.getShape())
    kept.push_back(e.openLoop(size));
  unsigned outer = e.depth();
  Value neutral = emitNeutral(e.builder, e.loc, op.getKind(), elementType);
  for (int64_t size : reducedSizes(op)) {
    if (!isLongSum(op) || size <= kLongSum) {
      reduced.push_back(e.openLoop(size, neutral));
      continue;
    }
    int64_t length = blockLength(size, kSumBlock);
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
      extendScalar(e.builder, e.loc, tensorType(op.getInput()).getElementType(),
                   elementType, *value);
  if (e.depth() == outer)
    next =
        emitCombine(e.builder, e.loc, op.getKind(), elementType, neutral, next);
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

/// How many of the reduced dimensions are around a block; none: the first is cut.
static size_t dimsAroundBlock(ArrayRef<int64_t> sizes) {
  size_t best = 0;
  int64_t shortest = kLongSum, around = 1;
  for (size_t i = 1; i < sizes.size(); ++i) {
    around *= sizes[i - 1];
    int64_t longest = std::max(around, llvm::product_of(sizes.drop_front(i)));
    if (longest < shortest) {
      shortest = longest;
      best = i;
    }
  }
  return best;
}

namespace {

/// The innermost dimension is kept: combines rows of the operand into a row of
/// the result.
class RowReduction {
public:
  RowReduction(ElementEmitter &e, ReduceOp op)
      : e(e), op(op), type(tensorType(op.getResult())),
        elementType(type.getElementType()), result(e.memoryOf(op.getResult())) {
  }

  LogicalResult emit() {
    int64_t bytes = type.getShape().back() * bytesOf(elementType);
    if (isLongSum(op) && bytes <= kStackBytes / 4)
      partial = e.scratch(bytes);
    for (int64_t size : type.getShape().drop_back())
      outer.push_back(e.openLoop(size));
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
    size_t around = dimsAroundBlock(sizes);
    for (int64_t size : ArrayRef(sizes).take_front(around))
      reduced.push_back(e.openLoop(size));
    int64_t length = sizes[0];
    Value begin;
    if (around == 0) {
      length = blockLength(
          sizes[0],
          std::max<int64_t>(1, kSumBlock * sizes[0] / llvm::product_of(sizes)));
      begin = openBlocks(e, sizes[0], length, {});
    }
    unsigned block = e.depth();
    clear(partial);
    if (begin)
      reduced.push_back(openBlock(e, begin, sizes[0], length, {}));
    for (int64_t size : ArrayRef(sizes).drop_front(reduced.size()))
      reduced.push_back(e.openLoop(size));
    if (failed(addOperand(partial)))
      return failure();
    e.closeLoops(block);
    Value column = openRow();
    combine(result, column, e.load(partial, elementType, column));
    return success();
  }

  Value openRow() {
    Value column = e.openLoop(type.getShape().back());
    e.markParallel();
    return column;
  }

  /// The position in the result's memory, or in the row on the stack.
  Value position(Value pointer, Value column) {
    if (pointer != result)
      return column;
    SmallVector<Value> dims(outer);
    dims.push_back(column);
    return e.linearIndex(type.getShape(), e.makeIndex(dims, e.depth()));
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

  LogicalResult addOperand(Value pointer) {
    SmallVector<Value> kept(outer);
    kept.push_back(openRow());
    FailureOr<Value> value =
        e.element(op.getInput(),
                  e.makeIndex(operandPosition(op, kept, reduced), e.depth()));
    if (failed(value))
      return failure();
    e.enterDepth(e.depth());
    combine(pointer, kept.back(),
            extendScalar(e.builder, e.loc,
                         tensorType(op.getInput()).getElementType(),
                         elementType, *value));
    return success();
  }

  ElementEmitter &e;
  ReduceOp op;
  RankedTensorType type;
  Type elementType;
  Value result, partial;
  SmallVector<Value> outer, reduced;
};

} // namespace

LogicalResult emitReduce(ElementEmitter &e, ReduceOp op) {
  if (elementCount(op.getResult()) == 0)
    return success();
  e.beginNest();
  int64_t last = tensorType(op.getInput()).getRank() - 1;
  // Eight bits are too few to add up in memory.
  bool contiguous = op.getDims().empty() ||
                    llvm::is_contained(op.getDims(), last) ||
                    isSmallFloat(tensorType(op.getResult()).getElementType());
  LogicalResult result =
      contiguous ? reduceInRegister(e, op) : RowReduction(e, op).emit();
  e.beginNest();
  return result;
}

} // namespace weft::cpu
