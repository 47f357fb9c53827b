//===- CollectiveShapes.cpp - which shapes fit a collective ---------------===//

#include "weft/dialects/coll/CollectiveShapes.h"

using namespace mlir;
using namespace weft;

LogicalResult coll::checkDim(Operation *op, ShapedType type, int64_t dim) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return op->emitOpError("dim ")
         << dim << " is out of the rank " << type.getRank();
}

LogicalResult coll::checkOtherDims(Operation *op, ShapedType from,
                                   ShapedType to, ArrayRef<int64_t> changed) {
  if (from.getRank() != to.getRank() ||
      from.getElementType() != to.getElementType())
    return op->emitOpError("rank and element type should stay, but ")
           << from << " becomes " << to;
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (!llvm::is_contained(changed, dim) &&
        from.getDimSize(dim) != to.getDimSize(dim))
      return op->emitOpError("dim ")
             << dim << " should keep its size " << from.getDimSize(dim)
             << ", but the result has " << to.getDimSize(dim);
  return success();
}

LogicalResult coll::checkBlocks(Operation *op, int64_t dim, int64_t large,
                                int64_t small, int64_t group) {
  if (small == shardSize(large, group))
    return success();
  return op->emitOpError("dim ")
         << dim << " of " << large << " elements over " << group
         << " devices has blocks of " << shardSize(large, group) << ", not "
         << small;
}

LogicalResult coll::checkFetched(Operation *op, int64_t divisor,
                                 int64_t modulus) {
  if (divisor >= 1 && modulus >= 0)
    return success();
  return op->emitOpError("divides by ")
         << divisor << " modulo " << modulus << "; the least are 1 and 0";
}

LogicalResult coll::checkPositions(Operation *op, ShapedType positions,
                                   ShapedType picked) {
  if (positions.getElementType().isSignlessInteger(64) &&
      positions.getShape() == picked.getShape())
    return success();
  return op->emitOpError("picks ") << picked << " at positions " << positions
                                   << "; there is an i64 for each element";
}

LogicalResult coll::checkSenders(Operation *op, ArrayRef<int64_t> sources,
                                 int64_t members) {
  if (static_cast<int64_t>(sources.size()) != members)
    return op->emitOpError("has ")
           << sources.size() << " sources for " << members << " devices";
  for (int64_t source : sources)
    if (source < -1 || source >= members)
      return op->emitOpError("has the source ")
             << source << "; members are 0 to " << members - 1
             << ", and -1 is none";
  return success();
}

LogicalResult coll::checkMove(Operation *op, ShapedType from, ShapedType to,
                              ArrayRef<int64_t> shape, LayoutAttr fromLayout,
                              LayoutAttr toLayout) {
  for (auto [what, layout, type] : {std::tuple("operand", fromLayout, from),
                                    std::tuple("result", toLayout, to)}) {
    Layout lies = layout.getLayout();
    if (lies.dims.size() != shape.size())
      return op->emitOpError("layout of the ")
             << what << " has " << lies.dims.size()
             << " dimensions, but the global shape " << shape.size();
    if (lies.isPartial())
      return op->emitOpError("layout of the ")
             << what << " should not be partial: " << layout;
    auto local = localShape(lies, shape);
    if (type.getShape() != ArrayRef<int64_t>(local)) {
      InFlightDiagnostic error = op->emitOpError("the ")
                                 << what << "'s local shape is [";
      llvm::interleaveComma(local, error);
      return error << "], but its type " << type;
    }
  }
  return success();
}
