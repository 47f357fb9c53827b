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

namespace {
/// The positions of a block: `shift` plus each of [begin, end).
struct Positions {
  Value begin, end;
  Value shift; ///< null: nothing is added
  Value at(ElementEmitter &e, Value i) const {
    return shift ? e.add(shift, i) : i;
  }
};
} // namespace

/// The block of `length` from `first` on, of a dimension of `n`.
static Positions blockAt(ElementEmitter &e, Value first, int64_t n,
                         int64_t length) {
  Value size = e.constant(length);
  if (n % length == 0)
    return {e.constant(0), size, first};
  return {first,
          arith::MinSIOp::create(e.builder, e.loc, e.add(first, size),
                                 e.constant(n)),
          {}};
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

namespace {
/// Reduces the innermost dimension, with an accumulator for each element and
/// loop.
class RegisterReduction {
public:
  RegisterReduction(KernelEmitter &kernel [[clang::lifetimebound]], ReduceOp op,
                    nest::ReductionAttr walk)
      : kernel(kernel), e(kernel.elements), op(op), sizes(reducedSizes(op)),
        blocks(blocksOf(op, walk)), type(typeOf(op.getResult())),
        elementType(type.getElementType()) {}

  LogicalResult emit() {
    for (int64_t size : type.getShape())
      kept.push_back(kept.empty() ? kernel.openSplitLoop(size)
                                  : e.openLoop(size));
    unsigned outer = e.depth();
    neutral = emitNeutral(e.builder, e.loc, op.getKind(), elementType);
    FailureOr<Value> value = reduceFrom(0);
    if (failed(value))
      return failure();
    if (sizes.empty())
      value = combine(neutral, *value);
    e.store(*value, e.memoryOf(op.getResult()), elementType,
            e.linearIndex(type.getShape(), e.makeIndex(kept, outer)));
    return success();
  }

private:
  Value combine(Value a, Value b) {
    return emitCombine(e.builder, e.loc, op.getKind(), elementType, a, b);
  }

  /// A loop that combines what `inside` has at each position.
  FailureOr<Value> over(Value begin, Value end, Value step,
                        llvm::function_ref<FailureOr<Value>(Value)> inside) {
    auto result =
        e.loop(begin, end, step, neutral,
               [&](Value i, ValueRange sum) -> FailureOr<SmallVector<Value>> {
                 FailureOr<Value> next = inside(i);
                 if (failed(next))
                   return failure();
                 return SmallVector<Value>{combine(sum[0], *next)};
               });
    return failed(result) ? FailureOr<Value>(failure()) : result->front();
  }

  /// Reduces the dimensions from `dim` on, at the positions so far.
  FailureOr<Value> reduceFrom(size_t dim) {
    if (dim == sizes.size())
      return element();
    auto inside = [&](Value position) {
      reduced.resize(dim);
      reduced.push_back(position);
      return reduceFrom(dim + 1);
    };
    int64_t size = sizes[dim], length = blocks[dim];
    Value zero = e.constant(0), one = e.constant(1), end = e.constant(size);
    if (length >= size)
      return over(zero, end, one, inside);
    return over(zero, end, e.constant(length), [&](Value begin) {
      Positions block = blockAt(e, begin, size, length);
      return over(block.begin, block.end, one,
                  [&](Value i) { return inside(block.at(e, i)); });
    });
  }

  FailureOr<Value> element() {
    FailureOr<Value> value =
        e.element(op.getInput(),
                  e.makeIndex(operandPosition(op, kept, reduced), e.depth()));
    if (failed(value))
      return failure();
    e.enterDepth(e.depth());
    Value next =
        extendScalar(e.builder, e.loc, typeOf(op.getInput()).getElementType(),
                     elementType, *value);
    if (!sizes.empty() &&
        llvm::range_size(e.innermostLoop().getBody()->getOperations()) <=
            kSmallBody)
      e.markInterleaved(kChains);
    return next;
  }

  KernelEmitter &kernel;
  ElementEmitter &e;
  ReduceOp op;
  SmallVector<int64_t> sizes, blocks; ///< reduced dimensions
  RankedTensorType type;
  Type elementType;
  Value neutral;
  SmallVector<Value> kept, reduced; ///< positions
};

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
    return partial ? emitBlocks({}) : addOperands(result, {});
  }

private:
  /// Adds the operand's elements in loops over the reduced dimensions that have
  /// no position yet.
  LogicalResult addOperands(Value pointer, ValueRange reduced) {
    SmallVector<int64_t> sizes = reducedSizes(op);
    if (reduced.size() == sizes.size())
      return addOperand(pointer, reduced);
    return e.loop(sizes[reduced.size()], [&](Value i) {
      return addOperands(pointer, with(reduced, i));
    });
  }

  /// Adds up blocks one by one, from the reduced dimensions without a position
  /// on: single positions, and the dimension that has longer blocks.
  LogicalResult emitBlocks(ValueRange reduced) {
    SmallVector<int64_t> sizes = reducedSizes(op);
    size_t dim = reduced.size();
    int64_t size = dim < sizes.size() ? sizes[dim] : 0,
            length = dim < sizes.size() ? walk.getBlocks()[dim] : 0;
    if (length == 1)
      return e.loop(size,
                    [&](Value i) { return emitBlocks(with(reduced, i)); });
    if (length >= size)
      return emitBlock([&] { return addOperands(partial, reduced); });
    Value zero = e.constant(0), one = e.constant(1);
    return e.loop(zero, e.constant(size), e.constant(length), [&](Value begin) {
      return emitBlock([&] {
        Positions block = blockAt(e, begin, size, length);
        return e.loop(block.begin, block.end, one, [&](Value i) {
          return addOperands(partial, with(reduced, block.at(e, i)));
        });
      });
    });
  }

  /// Clears the partial sums, adds a block to them, and them to the result.
  LogicalResult emitBlock(llvm::function_ref<LogicalResult()> add) {
    clear(partial);
    if (failed(add()))
      return failure();
    eachColumn([&](Value column) {
      combine(result, column, e.load(partial, elementType, column));
    });
    return success();
  }

  static SmallVector<Value> with(ValueRange positions, Value next) {
    SmallVector<Value> all(positions);
    all.push_back(next);
    return all;
  }

  /// Builds a loop over the elements of a row, or over this worker's.
  void eachColumn(llvm::function_ref<void(Value column)> body) {
    auto parallel = [&](Value column) {
      e.markParallel();
      body(column);
    };
    int64_t columns = llvm::product_of(row);
    outer.empty() ? kernel.eachSplit(columns, parallel)
                  : e.each(columns, parallel);
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
    Value neutral = emitNeutral(e.builder, e.loc, op.getKind(), elementType);
    eachColumn([&](Value column) {
      e.store(neutral, pointer, elementType, position(pointer, column));
    });
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

  LogicalResult addOperand(Value pointer, ValueRange reduced) {
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
    SmallVector<Value> positions(reduced);
    ArrayRef<Value> left = kept, inside = positions;
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
  SmallVector<Value> outer; ///< positions in the loops around
};

} // namespace

LogicalResult emitReduce(KernelEmitter &kernel, ReduceOp op,
                         nest::ReductionAttr walk) {
  return walk.getInto() == nest::Accumulate::Register
             ? RegisterReduction(kernel, op, walk).emit()
             : RowReduction(kernel, op, walk).emit();
}

} // namespace weft::cpu
