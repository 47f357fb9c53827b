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
//     result[element] = sum             or what follows from it elementwise
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/gpu/GpuKernelEmitter.h"
#include "weft/dialects/nest/RowWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

/// The terms [begin, end) combined in order.
FailureOr<Value> GpuKernelEmitter::emitTerms(Operation *op,
                                             ArrayRef<Value> position,
                                             Value begin, Value end) {
  auto code = cast<TermCodeOpInterface>(op);
  Type element = tensorType(op->getResult(0)).getElementType();
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

LogicalResult GpuKernelEmitter::emitSums(nest::SumsAttr walk) {
  Operation *op = loops.getNestOp();
  auto code = cast<TermCodeOpInterface>(op);
  Type element = tensorType(op->getResult(0)).getElementType();
  Value linear = openElements();
  unsigned depth = elements.depth();
  SmallVector<Value> position = elements.positionsOf(linear, shape);
  Value zero = elements.constant(0);
  Value end = elements.constant(nest::termsOf(op));
  FailureOr<Value> sum;
  if (walk.getBlock() == 0) {
    sum = emitTerms(op, position, zero, end);
  } else {
    ReduceKind kind = code.getCombination();
    Value block = elements.constant(walk.getBlock());
    Value begin = elements.openStridedLoop(
        zero, end, block, emitNeutral(builder, loc, kind, element));
    scf::ForOp loop = elements.innermostLoop();
    Value last = arith::AddIOp::create(builder, loc, begin, block);
    last = arith::MinSIOp::create(builder, loc, last, end);
    FailureOr<Value> part = emitTerms(op, position, begin, last);
    if (failed(part))
      return failure();
    Value next = emitCombine(builder, loc, kind, element,
                             loop.getRegionIterArgs()[0], *part);
    loop.getBody()->getTerminator()->setOperand(0, next);
    elements.closeLoops(depth);
    sum = loop.getResult(0);
  }
  if (failed(sum))
    return failure();
  elements.enterDepth(depth);
  ElementIndex index = elements.makeIndex(position, depth);
  elements.setElement(op->getResult(0), index, *sum);
  FailureOr<SmallVector<Value>> values = elements.storedElements(stored, index);
  if (failed(values))
    return failure();
  for (auto [root, value, pointer] :
       llvm::zip_equal(stored, *values, resultPointers))
    elements.store(value, pointer, tensorType(root).getElementType(), linear);
  elements.beginNest();
  return success();
}

} // namespace weft::gpu
