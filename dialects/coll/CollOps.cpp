//===- CollOps.cpp - checks of the collectives ----------------------------===//

#include "weft/dialects/coll/Coll.h"

using namespace mlir;
using namespace weft;
using namespace weft::coll;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// A dimension lies in the rank of the input, and only it may change.
static LogicalResult checkDim(Operation *op, int64_t dim) {
  int64_t rank = typeOf(op->getOperand(0)).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("dim ") << dim << " is out of the rank " << rank;
}

/// Dimensions that take no part keep their size.
static LogicalResult checkOthers(Operation *op, ArrayRef<int64_t> changed) {
  RankedTensorType input = typeOf(op->getOperand(0));
  RankedTensorType result = typeOf(op->getResult(0));
  if (input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType())
    return op->emitOpError("rank and element type should stay, but ")
           << input << " becomes " << result;
  for (int64_t dim = 0; dim < input.getRank(); ++dim)
    if (!llvm::is_contained(changed, dim) &&
        input.getDimSize(dim) != result.getDimSize(dim))
      return op->emitOpError("dim ")
             << dim << " should keep its size " << input.getDimSize(dim)
             << ", but the result has " << result.getDimSize(dim);
  return success();
}

/// The small size is ceil(large / group), which also is what fits.
static LogicalResult checkBlock(Operation *op, int64_t dim, int64_t large,
                                int64_t small, int64_t group) {
  if (small == shardSize(large, group))
    return success();
  return op->emitOpError("dim ")
         << dim << " of " << large << " elements over " << group
         << " devices has blocks of " << shardSize(large, group) << ", not "
         << small;
}

LogicalResult CoordinateOp::verify() {
  RankedTensorType type = typeOf(getResult());
  if (type.getRank() != 0 ||
      !type.getElementType().isSignlessInteger(64)) // (C1)
    return emitOpError("a coordinate is tensor<i64>, not ") << type;
  return success();
}

LogicalResult coll::SliceOp::verify() {
  if (failed(checkDim(*this, getDim())) ||
      failed(checkOthers(*this, getDim()))) // (C1)
    return failure();
  return checkBlock(*this, getDim(), typeOf(getInput()).getDimSize(getDim()),
                    typeOf(getResult()).getDimSize(getDim()),
                    groupSize(getGroup())); // (C2)
}

int64_t MakePartialOp::getElementsReadElsewhere(unsigned) { return 0; }

LogicalResult MakePartialOp::verify() {
  if (getInput().getType() != getType()) // (C1)
    return emitOpError("operand and result should have one type, but are ")
           << getInput().getType() << " and " << getType();
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getInputs().getTypes() != getResults().getTypes()) // (C1)
    return emitOpError("results should have the operands' types ")
           << getInputs().getTypes() << ", but have "
           << getResults().getTypes();
  return success();
}

LogicalResult AllGatherOp::verify() {
  if (failed(checkDim(*this, getDim())) ||
      failed(checkOthers(*this, getDim()))) // (C1)
    return failure();
  return checkBlock(*this, getDim(), typeOf(getResult()).getDimSize(getDim()),
                    typeOf(getInput()).getDimSize(getDim()),
                    groupSize(getGroup())); // (C2)
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(checkDim(*this, getDim())) ||
      failed(checkOthers(*this, getDim()))) // (C1)
    return failure();
  return checkBlock(*this, getDim(), typeOf(getInput()).getDimSize(getDim()),
                    typeOf(getResult()).getDimSize(getDim()),
                    groupSize(getGroup())); // (C2)
}

LogicalResult AllToAllOp::verify() {
  int64_t split = getSplit(), concat = getConcat(),
          group = groupSize(getGroup());
  if (failed(checkDim(*this, split)) || failed(checkDim(*this, concat)))
    return failure();  // (C1)
  if (split == concat) // (C1)
    return emitOpError("splits and concatenates along the same dim ") << split;
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (failed(checkOthers(*this, {split, concat})) ||
      failed(checkBlock(*this, split, input.getDimSize(split),
                        result.getDimSize(split), group))) // (C2)
    return failure();
  return checkBlock(*this, concat, result.getDimSize(concat),
                    input.getDimSize(concat), group); // (C2)
}

LogicalResult FetchOp::verify() {
  if (failed(checkDim(*this, getDim())) ||
      failed(checkOthers(*this, getDim()))) // (C1)
    return failure();
  if (getDivisor() < 1 || getModulus() < 0) // (C3)
    return emitOpError("divides by ")
           << getDivisor() << " modulo " << getModulus()
           << "; the least are 1 and 0";
  return checkBlock(*this, getDim(), getSize(),
                    typeOf(getInput()).getDimSize(getDim()),
                    groupSize(getGroup())); // (C2)
}

LogicalResult PickOp::verify() {
  RankedTensorType positions = typeOf(getPositions());
  if (!positions.getElementType().isSignlessInteger(64) ||
      positions.getShape() != typeOf(getResult()).getShape()) // (C1)
    return emitOpError("picks ")
           << typeOf(getResult()) << " at positions " << positions
           << "; there is an i64 for each element";
  if (failed(checkDim(*this, getDim()))) // (C2)
    return failure();
  return checkOthers(*this, getDim()); // (C2)
}

LogicalResult CollectivePermuteOp::verify() {
  int64_t members = groupSize(getGroup());
  if (static_cast<int64_t>(getSources().size()) != members) // (C1)
    return emitOpError("has ")
           << getSources().size() << " sources for " << members << " devices";
  for (int64_t source : getSources())
    if (source < -1 || source >= members) // (C1)
      return emitOpError("has the source ")
             << source << "; members are 0 to " << members - 1
             << ", and -1 is none";
  if (getInput().getType() != getType()) // (C2)
    return emitOpError("operand and result should have one type, but are ")
           << getInput().getType() << " and " << getType();
  return success();
}

/// (C1) local shapes, (C2) not partial.
static LogicalResult checkMove(Operation *op, ArrayRef<int64_t> shape,
                               LayoutAttr from, LayoutAttr to) {
  for (auto [what, layout, value] :
       {std::tuple("operand", from, op->getOperand(0)),
        std::tuple("result", to, Value(op->getResult(0)))}) {
    Layout lies = layout.getLayout();
    if (lies.dims.size() != shape.size()) // (C1)
      return op->emitOpError("layout of the ")
             << what << " has " << lies.dims.size()
             << " dimensions, but the global shape " << shape.size();
    if (lies.isPartial()) // (C2)
      return op->emitOpError("layout of the ")
             << what << " should not be partial: " << layout;
    auto local = localShape(lies, shape);
    if (typeOf(value).getShape() != ArrayRef<int64_t>(local)) { // (C1)
      InFlightDiagnostic error = op->emitOpError("the ")
                                 << what << "'s local shape is [";
      llvm::interleaveComma(local, error);
      return error << "], but its type " << value.getType();
    }
  }
  return success();
}

LogicalResult PermuteOp::verify() {
  return checkMove(*this, getShape(), getFrom(), getTo());
}
LogicalResult ExchangeOp::verify() {
  return checkMove(*this, getShape(), getFrom(), getTo());
}
