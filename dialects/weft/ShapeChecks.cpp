//===- ShapeChecks.cpp - checks of shapes for verifiers of ops ------------===//

#include "weft/dialects/weft/ShapeChecks.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, typeOf(value).getElementType());
}

SmallVector<int64_t> withoutDims(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> dims) {
  SmallVector<int64_t> result;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      result.push_back(size);
  return result;
}

LogicalResult checkShape(Operation *op, ArrayRef<int64_t> expected,
                         unsigned result) {
  ArrayRef<int64_t> actual = typeOf(op->getResult(result)).getShape();
  if (actual == expected)
    return success();
  InFlightDiagnostic error = op->emitOpError("the result's shape should be [");
  llvm::interleaveComma(expected, error);
  error << "], not [";
  llvm::interleaveComma(actual, error);
  return error << ']';
}

LogicalResult checkEntries(Operation *op, StringRef what, size_t entries,
                           size_t rank) {
  if (entries == rank)
    return success();
  return op->emitOpError() << what << " has " << entries << " entries for "
                           << rank << " dimensions";
}

LogicalResult checkDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("dim ") << dim << " is out of the rank " << rank;
}

LogicalResult checkRisingDims(Operation *op, ArrayRef<int64_t> dims,
                              int64_t rank) {
  int64_t previous = -1;
  for (int64_t dim : dims) {
    if (failed(checkDim(op, dim, rank)))
      return failure();
    if (dim <= previous)
      return op->emitOpError("dims should rise, but ")
             << dim << " follows " << previous;
    previous = dim;
  }
  return success();
}

LogicalResult checkCombines(Operation *op, StringRef kind, Type elementType) {
  if ((kind == "and" || kind == "or") && !isa<IntegerType>(elementType))
    return op->emitOpError("elements of ")
           << elementType << " have no " << kind
           << "; compare them first, which gives i1";
  bool isOrderless = kind == "sum" || kind == "prod" || kind == "set";
  if (!isa<ComplexType>(elementType) || isOrderless)
    return success();
  return op->emitOpError("complex numbers have no ")
         << kind << "; combine them by sum or prod";
}

LogicalResult checkAccumulates(Operation *op) {
  Type to = typeOf(op->getResult(0)).getElementType();
  bool accumulates = cast<AccumulatesOpInterface>(op).accumulates();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Type from = typeOf(operand).getElementType();
    if (accumulates ? isExactIn(from, to) : from == to)
      continue;
    InFlightDiagnostic error = op->emitOpError("operand ");
    error << i << " has elements of " << from << ", but the result of " << to;
    return accumulates ? error << ", which does not have all numbers of "
                               << from << "; convert the operand to " << to
                               << " or give the result a wider type"
                       : error << "; ops that pick elements keep their type, "
                                  "convert the result";
  }
  return success();
}

Linearity linearityOfSum(Value operand, Value result) {
  Type from = typeOf(operand).getElementType();
  return from == typeOf(result).getElementType() || isDifferentiable(from)
             ? Linearity::Linear
             : Linearity::None;
}

} // namespace weft
