//===- ThreadLoops.cpp - ops with their own loops, by threads -------------===//
//
//   %0 = weft.cumulative sum %x dim 1      of tensor<16x200xf32>
//
//   for i = thread; i < 16; i += threads of the grid    (independent loops)
//     sum = 0
//     for j in 200                                      (the op's own)
//       sum += x[i, j]; result[i, j] = sum
//
// Without an independent loop one thread does all the work.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/NestCode.h"
#include "weft/compiler/codegen/gpu/GpuKernelEmitter.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

Value GpuKernelEmitter::openSharedLoop(int64_t dim, int64_t n) {
  Value position = ofThread.lookup(dim);
  return position ? position : elements.openLoop(n);
}

LogicalResult GpuKernelEmitter::emitOwn() {
  Operation *op = stored[0].getDefiningOp();
  if (llvm::all_of(stored,
                   [](Value value) { return elementCount(value) == 0; }))
    return success();
  for (auto [result, pointer] : llvm::zip_equal(stored, resultPointers))
    elements.place(result, pointer);
  shape.clear();
  SmallVector<int64_t> dims;
  for (auto [dim, size] : independentLoops(loops)) {
    dims.push_back(dim);
    shape.push_back(size);
  }
  Value linear = openElements();
  for (auto [dim, position] :
       llvm::zip_equal(dims, elements.positionsOf(linear, shape)))
    ofThread[dim] = position;
  elements.beginOuterLoops();
  LogicalResult result = cast<NestCodeOpInterface>(op).emitNest(elements);
  elements.endOuterLoops();
  elements.beginNest();
  return result;
}

} // namespace weft::gpu
