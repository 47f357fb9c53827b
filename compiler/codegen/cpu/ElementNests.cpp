//===- ElementNests.cpp - loop nests over elements ------------------------===//
//
// Loops end where the code of an element changes, so that no loop compares
// positions and LLVM makes vectors of each:
//
//   concatenate a[1024], b[512]    for i in [0, 1024):     r[i] = a[i]
//                                  for i in [1024, 1536):  r[i] = b[i - 1024]
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

/// The least elements of a nest whose loops are cut, and the most ops that the
/// pieces together compute: more code takes long to compile.
static constexpr int64_t kCutElements = 4 * 1024, kMostCutOps = 512;

/// The bounds of loops over a dimension.
using Bounds = SmallVector<int64_t>;

/// The bounds for each dimension: 0, where the code of elements changes that
/// are computed at their own position, and the size.
static SmallVector<Bounds> boundsOf(ElementEmitter &e, ArrayRef<Value> roots) {
  ArrayRef<int64_t> shape = typeOf(roots[0]).getShape();
  SmallVector<Bounds> bounds;
  for (int64_t size : shape)
    bounds.push_back({0, size});
  if (typeOf(roots[0]).getNumElements() < kCutElements)
    return bounds;
  llvm::SetVector<Value> values(roots.begin(), roots.end());
  for (unsigned i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || (i >= roots.size() && e.isInMemory(values[i])) ||
        typeOf(values[i]).getShape() != shape)
      continue;
    if (op->hasTrait<OpTrait::Elementwise>())
      values.insert_range(op->getOperands());
    else if (auto code = dyn_cast<ElementCodeOpInterface>(op))
      for (auto [dim, at] : code.getCuts())
        if (at > 0 && at < shape[dim])
          bounds[dim].push_back(at);
  }
  int64_t ops = values.size();
  for (Bounds &each : bounds) {
    llvm::sort(each);
    each.erase(llvm::unique(each), each.end());
    ops *= each.size() - 1;
  }
  if (ops > kMostCutOps)
    for (auto [each, size] : llvm::zip_equal(bounds, shape))
      each = {0, size};
  return bounds;
}

/// Opens a loop over [begin, end) of dimension `dim`; of the first dimension,
/// over the share's part.
Value KernelEmitter::openPiece(int64_t dim, int64_t begin, int64_t end,
                               int64_t size) {
  Value position;
  if (dim == 0 && split) {
    Value first = elements.constant(begin), last = elements.constant(end);
    if (begin > 0 || end < size) {
      first = arith::MaxSIOp::create(builder, loc, split->begin, first);
      last = arith::MinSIOp::create(builder, loc, split->end, last);
    } else {
      first = split->begin;
      last = split->end;
    }
    position = elements.openLoop(first, last);
  } else if (begin == 0) {
    position = elements.openLoop(end);
  } else {
    position =
        elements.openLoop(elements.constant(begin), elements.constant(end));
  }
  elements.setRange(position, begin, end);
  return position;
}

LogicalResult KernelEmitter::storeElements(ArrayRef<Value> roots,
                                           const ElementIndex &index) {
  if (elements.depth() > 0)
    elements.markParallel();
  FailureOr<SmallVector<Value>> values = elements.storedElements(roots, index);
  if (failed(values))
    return failure();
  Value linear = elements.linearIndex(typeOf(roots[0]).getShape(), index);
  for (auto [root, value] : llvm::zip_equal(roots, *values))
    elements.store(value, elements.memoryOf(root),
                   typeOf(root).getElementType(), linear);
  return success();
}

LogicalResult KernelEmitter::emitElements(nest::LoopsOp loops,
                                          nest::ElementOrder order) {
  SmallVector<Value> roots(loops.getStored());
  RankedTensorType type = typeOf(roots[0]);
  if (order == nest::ElementOrder::Flat) {
    Value linear = openSplitLoop(type.getNumElements());
    return storeElements(roots,
                         elements.makeFlatIndex(linear, elements.depth()));
  }
  SmallVector<Bounds> bounds = boundsOf(elements, roots);
  // Loops over the two dimensions into which a reshape divides the last one.
  int64_t lanes = target.vectorBytes / bytesOf(type.getElementType());
  int64_t inner = nest::innerElements(roots, lanes, [&](Value value) {
    return elements.isInMemory(value) && !llvm::is_contained(roots, value);
  });
  SmallVector<int64_t> loopShape(type.getShape());
  if (inner > 1 && type.getRank() > 1 && bounds.back().size() == 2) {
    loopShape.back() /= inner;
    loopShape.push_back(inner);
    bounds.back() = {0, loopShape.end()[-2]};
    bounds.push_back({0, inner});
  } else {
    inner = 1;
  }
  int64_t pieces = 1;
  for (const Bounds &each : bounds)
    pieces *= each.size() - 1;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    elements.beginNest();
    SmallVector<Value> dims;
    int64_t left = piece;
    for (auto [dim, each] : llvm::enumerate(bounds)) {
      int64_t count = each.size() - 1, number = left % count;
      left /= count;
      dims.push_back(
          openPiece(dim, each[number], each[number + 1], loopShape[dim]));
    }
    ElementIndex index = elements.makeIndex(dims, elements.depth());
    if (inner > 1)
      index = elements.reshaped(index, loopShape, type.getShape());
    if (failed(storeElements(roots, index)))
      return failure();
  }
  return success();
}

} // namespace weft::cpu
