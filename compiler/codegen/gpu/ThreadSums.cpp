//===- ThreadSums.cpp - elements that a thread combines from terms --------===//
//
//   %0 = weft.dot %x, %w contract [1] x [0]     #nest.sums<block = 28>
//
//   for element = thread; element < 16 * 200; element += threads of the grid
//     sum = 0
//     for begin in 0, 28, ..., 756
//       part = 0
//       for k = begin; k < min(begin + 28, 784); ++k
//         part += x[row, k] * w[k, column]
//       sum += part
//     result[element] = sum             or a value computed from it elementwise
//
// With lanes = 8 a block takes 32 adjacent elements. Each of eight threads
// combines an eighth of an element's terms; a tree combines the partial
// results. With side = 4 a thread has four adjacent elements in the place of
// one, whose terms it loads as a vector, and with together = 8 the innermost
// loop has the loads of eight terms in front of what combines them.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/gpu/GpuKernelEmitter.h"
#include "weft/dialects/nest/RowWalk.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

FailureOr<GpuKernelEmitter::Values>
GpuKernelEmitter::emitTermLoop(Operation *op, ArrayRef<Values> positions,
                               Value begin, Value end, int64_t together,
                               ArrayRef<Value> from) {
  auto code = cast<TermCodeOpInterface>(op);
  Type element = typeOf(op->getResult(0)).getElementType();
  unsigned body = elements.depth() + 1;
  return elements.loop(
      begin, end, elements.constant(together), from,
      [&](Value first, ValueRange before) -> FailureOr<Values> {
        SmallVector<Values> terms;
        for (int64_t i = 0; i < together; ++i) {
          elements.enterDepth(body);
          SmallVector<Value> dims = elements.positionsOf(
              i ? elements.add(first, elements.constant(i)) : first,
              *cast<nest::OpLoopsInterface>(op).getTermSizes());
          Values &each = terms.emplace_back();
          for (const Values &position : positions) {
            FailureOr<Value> value = code.emitTerm(elements, position, dims);
            if (failed(value))
              return failure();
            each.push_back(*value);
          }
        }
        Values sums(before);
        for (const Values &each : terms)
          for (auto [sum, value] : llvm::zip_equal(sums, each))
            sum = emitCombine(builder, loc, code.getCombination(), element, sum,
                              value);
        return sums;
      });
}

FailureOr<GpuKernelEmitter::Values>
GpuKernelEmitter::emitTerms(Operation *op, ArrayRef<Values> positions,
                            Value begin, Value end, nest::SumsAttr walk) {
  Value neutral =
      emitNeutral(builder, loc, cast<TermCodeOpInterface>(op).getCombination(),
                  typeOf(op->getResult(0)).getElementType());
  Values from(positions.size(), neutral);
  if (walk.getTogether() == 1)
    return emitTermLoop(op, positions, begin, end, 1, from);
  Value together = elements.constant(walk.getTogether());
  Value count = arith::SubIOp::create(builder, loc, end, begin);
  Value middle = arith::SubIOp::create(
      builder, loc, end, arith::RemUIOp::create(builder, loc, count, together));
  FailureOr<Values> most =
      emitTermLoop(op, positions, begin, middle, walk.getTogether(), from);
  if (failed(most))
    return failure();
  return emitTermLoop(op, positions, middle, end, 1, *most);
}

/// Combines the terms [begin, end), a block of them at a time (0: all at once).
FailureOr<GpuKernelEmitter::Values>
GpuKernelEmitter::emitShare(Operation *op, ArrayRef<Values> positions,
                            Value begin, Value end, nest::SumsAttr walk) {
  if (walk.getBlock() == 0)
    return emitTerms(op, positions, begin, end, walk);
  ReduceKind kind = cast<TermCodeOpInterface>(op).getCombination();
  Type element = typeOf(op->getResult(0)).getElementType();
  Values from(positions.size(), emitNeutral(builder, loc, kind, element));
  Value block = elements.constant(walk.getBlock());
  return elements.loop(
      begin, end, block, from,
      [&](Value at, ValueRange before) -> FailureOr<Values> {
        Value last =
            arith::MinSIOp::create(builder, loc, elements.add(at, block), end);
        FailureOr<Values> part = emitTerms(op, positions, at, last, walk);
        if (failed(part))
          return failure();
        Values sums(before);
        for (auto [sum, value] : llvm::zip_equal(sums, *part))
          sum = emitCombine(builder, loc, kind, element, sum, value);
        return sums;
      });
}

/// Opens a loop in which a block takes as many adjacent groups of `side`
/// elements as it has threads for; all threads of the block stay together.
/// Returns the position of the first, and whether the position exists.
Value GpuKernelEmitter::openSharedElements(int64_t lanes, int64_t side,
                                           Value &exists) {
  int64_t count = ShapedType::getNumElements(shape) / side,
          together = kBlockThreads / lanes;
  Value group = elements.openStridedLoop(
      blockInGrid(), elements.constant(llvm::divideCeil(count, together)),
      blocksOfGrid());
  Value mine = arith::RemUIOp::create(builder, loc, threadInBlock(),
                                      elements.constant(together));
  Value linear = elements.add(elements.mul(group, together), mine);
  exists = isBelow(linear, count);
  return elements.mul(arith::MinUIOp::create(builder, loc, linear,
                                             elements.constant(count - 1)),
                      side);
}

/// Combines shares by a tree of halves through shared memory.
GpuKernelEmitter::Values GpuKernelEmitter::combineShares(ReduceKind kind,
                                                         Type element,
                                                         Values values,
                                                         int64_t lanes) {
  int64_t together = kBlockThreads / lanes;
  unsigned depth = elements.depth();
  Value thread = threadInBlock();
  auto at = [&](size_t i, Value of) {
    return i ? elements.add(of, elements.constant(i * kBlockThreads)) : of;
  };
  for (auto [i, value] : llvm::enumerate(values))
    elements.store(value, shared.base(), element, at(i, thread));
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    shared.barrier();
    auto branch =
        scf::IfOp::create(builder, loc, isBelow(thread, half * together));
    builder.setInsertionPointToStart(branch.thenBlock());
    Value partner = elements.add(thread, elements.constant(half * together));
    for (size_t i = 0; i < values.size(); ++i) {
      Value mine = elements.load(shared.base(), element, at(i, thread));
      Value other = elements.load(shared.base(), element, at(i, partner));
      elements.store(emitCombine(builder, loc, kind, element, mine, other),
                     shared.base(), element, at(i, thread));
    }
    elements.enterDepth(depth);
  }
  shared.barrier();
  Value first =
      arith::RemUIOp::create(builder, loc, thread, elements.constant(together));
  for (auto [i, value] : llvm::enumerate(values))
    value = elements.load(shared.base(), element, at(i, first));
  shared.barrier(); // The next elements' terms use the same memory.
  return values;
}

LogicalResult GpuKernelEmitter::emitSums(nest::SumsAttr walk) {
  Operation *op = loops.getNestOp();
  ReduceKind kind = cast<TermCodeOpInterface>(op).getCombination();
  Type element = typeOf(op->getResult(0)).getElementType();
  int64_t terms = nest::termsOf(op), lanes = walk.getLanes(),
          side = walk.getSide();
  if (lanes > 1)
    shared.allocate(builder.getInsertionBlock()->getParentOp(),
                    name + ".shared", kBlockThreads * side * bytesOf(element));
  Value exists, begin = elements.constant(0), end = elements.constant(terms);
  Value linear =
      lanes == 1 ? openElements(side) : openSharedElements(lanes, side, exists);
  unsigned depth = elements.depth();
  if (lanes > 1) {
    Value share =
        arith::DivUIOp::create(builder, loc, threadInBlock(),
                               elements.constant(kBlockThreads / lanes));
    int64_t each = llvm::divideCeil(terms, lanes);
    begin =
        arith::MinUIOp::create(builder, loc, elements.mul(share, each), end);
    end = arith::MinUIOp::create(
        builder, loc, elements.add(begin, elements.constant(each)), end);
  }
  SmallVector<ElementIndex> all =
      neighboursOf({}, linear, shape, side, /*isFlat=*/false);
  SmallVector<Values> positions;
  for (const ElementIndex &index : all)
    positions.emplace_back(index.dims.begin(), index.dims.end());
  FailureOr<Values> sums = emitShare(op, positions, begin, end, walk);
  if (failed(sums))
    return failure();
  elements.enterDepth(depth);
  if (lanes > 1)
    sums = combineShares(kind, element, *sums, lanes);
  return storeSums(op, all, *sums, linear, exists, lanes);
}

/// Stores the sums, or values that are computed from them.
LogicalResult GpuKernelEmitter::storeSums(Operation *op,
                                          ArrayRef<ElementIndex> all,
                                          ArrayRef<Value> sums, Value linear,
                                          Value exists, int64_t lanes) {
  SmallVector<Values> values(stored.size());
  if (shape.empty())
    elements.stayAtDepth();
  for (auto [at, sum] : llvm::zip_equal(all, sums)) {
    ElementIndex index = at;
    // Values that are computed from a scalar sum are emitted here, too.
    index.depth = elements.depth();
    elements.setElement(op->getResult(0), index, sum);
    FailureOr<SmallVector<Value>> found =
        elements.storedElements(stored, index);
    if (failed(found))
      return failure();
    for (auto [value, of] : llvm::zip_equal(*found, values))
      of.push_back(value);
  }
  if (lanes > 1) {
    // Only the first of an element's threads stores it.
    Value isFirst = isBelow(threadInBlock(), kBlockThreads / lanes);
    auto branch = scf::IfOp::create(
        builder, loc, arith::AndIOp::create(builder, loc, exists, isFirst));
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  for (auto [root, of, pointer] :
       llvm::zip_equal(stored, values, resultPointers))
    elements.storeNeighbours(of, pointer, typeOf(root).getElementType(),
                             linear);
  elements.beginNest();
  return success();
}

} // namespace weft::gpu
