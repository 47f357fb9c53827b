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
// results.
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

/// Combines the terms [begin, end) in order.
FailureOr<Value> GpuKernelEmitter::emitTerms(Operation *op,
                                             ArrayRef<Value> position,
                                             Value begin, Value end) {
  auto code = cast<TermCodeOpInterface>(op);
  Type element = typeOf(op->getResult(0)).getElementType();
  ReduceKind kind = code.getCombination();
  unsigned outer = elements.depth();
  Value term =
      elements.openStridedLoop(begin, end, elements.constant(1),
                               emitNeutral(builder, loc, kind, element));
  scf::ForOp loop = elements.innermostLoop();
  SmallVector<Value> dims = elements.positionsOf(
      term, *cast<nest::OpLoopsInterface>(op).getTermSizes());
  FailureOr<Value> value = code.emitTerm(elements, position, dims);
  if (failed(value))
    return failure();
  Value sum = emitCombine(builder, loc, kind, element,
                          loop.getRegionIterArgs()[0], *value);
  loop.getBody()->getTerminator()->setOperand(0, sum);
  elements.closeLoops(outer);
  return loop.getResult(0);
}

/// Combines the terms [begin, end), `block` of them at a time (0: all at once).
FailureOr<Value> GpuKernelEmitter::emitShare(Operation *op,
                                             ArrayRef<Value> position,
                                             Value begin, Value end,
                                             int64_t block) {
  if (block == 0)
    return emitTerms(op, position, begin, end);
  ReduceKind kind = cast<TermCodeOpInterface>(op).getCombination();
  Type element = typeOf(op->getResult(0)).getElementType();
  unsigned outer = elements.depth();
  Value at = elements.openStridedLoop(begin, end, elements.constant(block),
                                      emitNeutral(builder, loc, kind, element));
  scf::ForOp loop = elements.innermostLoop();
  Value last = arith::MinSIOp::create(
      builder, loc, elements.add(at, elements.constant(block)), end);
  FailureOr<Value> part = emitTerms(op, position, at, last);
  if (failed(part))
    return failure();
  Value next = emitCombine(builder, loc, kind, element,
                           loop.getRegionIterArgs()[0], *part);
  loop.getBody()->getTerminator()->setOperand(0, next);
  elements.closeLoops(outer);
  elements.enterDepth(outer);
  return loop.getResult(0);
}

/// Opens a loop in which a block takes as many adjacent elements as it has
/// threads for; all threads of the block stay together. Returns the position,
/// and whether the position exists.
Value GpuKernelEmitter::openSharedElements(int64_t lanes, Value &exists) {
  int64_t count = ShapedType::getNumElements(shape),
          together = kBlockThreads / lanes;
  Value group = elements.openStridedLoop(
      blockInGrid(), elements.constant(llvm::divideCeil(count, together)),
      blocksOfGrid());
  Value mine = arith::RemUIOp::create(builder, loc, threadInBlock(),
                                      elements.constant(together));
  Value linear = elements.add(elements.mul(group, together), mine);
  exists = isBelow(linear, count);
  return arith::MinUIOp::create(builder, loc, linear,
                                elements.constant(count - 1));
}

/// Combines shares by a tree of halves through shared memory.
Value GpuKernelEmitter::combineShares(ReduceKind kind, Type element,
                                      Value value, int64_t lanes) {
  int64_t together = kBlockThreads / lanes;
  unsigned depth = elements.depth();
  Value thread = threadInBlock();
  elements.store(value, shared.base(), element, thread);
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    shared.barrier();
    auto branch =
        scf::IfOp::create(builder, loc, isBelow(thread, half * together));
    builder.setInsertionPointToStart(branch.thenBlock());
    Value mine = elements.load(shared.base(), element, thread);
    Value other =
        elements.load(shared.base(), element,
                      elements.add(thread, elements.constant(half * together)));
    elements.store(emitCombine(builder, loc, kind, element, mine, other),
                   shared.base(), element, thread);
    elements.enterDepth(depth);
  }
  shared.barrier();
  value = elements.load(shared.base(), element,
                        arith::RemUIOp::create(builder, loc, thread,
                                               elements.constant(together)));
  shared.barrier(); // The next elements' terms use the same memory.
  return value;
}

LogicalResult GpuKernelEmitter::emitSums(nest::SumsAttr walk) {
  Operation *op = loops.getNestOp();
  ReduceKind kind = cast<TermCodeOpInterface>(op).getCombination();
  Type element = typeOf(op->getResult(0)).getElementType();
  int64_t terms = nest::termsOf(op), lanes = walk.getLanes();
  if (lanes > 1)
    shared.allocate(builder.getInsertionBlock()->getParentOp(),
                    name + ".shared", kBlockThreads * bytesOf(element));
  Value exists, begin = elements.constant(0), end = elements.constant(terms);
  Value linear =
      lanes == 1 ? openElements() : openSharedElements(lanes, exists);
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
  SmallVector<Value> position = elements.positionsOf(linear, shape);
  FailureOr<Value> sum = emitShare(op, position, begin, end, walk.getBlock());
  if (failed(sum))
    return failure();
  elements.enterDepth(depth);
  if (lanes > 1)
    sum = combineShares(kind, element, *sum, lanes);
  ElementIndex index = elements.makeIndex(position, depth);
  // Values that are computed from a scalar sum are emitted here, too.
  index.depth = depth;
  elements.setElement(op->getResult(0), index, *sum);
  FailureOr<SmallVector<Value>> values = elements.storedElements(stored, index);
  if (failed(values))
    return failure();
  if (lanes > 1) {
    // Only the first of an element's threads stores it.
    Value isFirst = isBelow(threadInBlock(), kBlockThreads / lanes);
    auto branch = scf::IfOp::create(
        builder, loc, arith::AndIOp::create(builder, loc, exists, isFirst));
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  for (auto [root, value, pointer] :
       llvm::zip_equal(stored, *values, resultPointers))
    elements.store(value, pointer, typeOf(root).getElementType(), linear);
  elements.beginNest();
  return success();
}

} // namespace weft::gpu
