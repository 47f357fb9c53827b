//===- PlacedBlocks.cpp - ops that place a block in an array --------------===//

#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

Value PadOp::getPlacedBlock() {
  auto isAmount = [](int64_t amount) { return amount >= 0; };
  bool isWhole =
      llvm::all_of(getLow(), isAmount) && llvm::all_of(getHigh(), isAmount) &&
      llvm::all_of(getInterior(), [](int64_t amount) { return amount == 0; });
  return isWhole ? getInput() : Value();
}

Value PadOp::getAround() { return getValue(); }

std::optional<SmallVector<int64_t>> PadOp::getPlace() {
  return llvm::to_vector(getLow());
}

Value PadOp::readPlace(OpBuilder &builder, Value array) {
  ArrayRef<int64_t> sizes = getInput().getType().getShape();
  SmallVector<int64_t> limit;
  for (auto [start, size] : llvm::zip_equal(getLow(), sizes))
    limit.push_back(start + size);
  return SliceOp::create(builder, getLoc(), array, getLow(), limit,
                         SmallVector<int64_t>(sizes.size(), 1));
}

Value PadOp::writePlace(OpBuilder &builder, Value array, Value block) {
  SmallVector<Value> starts;
  auto type = RankedTensorType::get({}, builder.getI64Type());
  for (int64_t start : getLow())
    starts.push_back(ConstantOp::create(
        builder, getLoc(), DenseElementsAttr::get(type, ArrayRef(start))));
  return DynamicUpdateSliceOp::create(builder, getLoc(), array, block, starts);
}

//===----------------------------------------------------------------------===//
// Dynamic update of a slice
//===----------------------------------------------------------------------===//

Value DynamicUpdateSliceOp::getPlacedBlock() { return getUpdate(); }

Value DynamicUpdateSliceOp::getAround() { return getInput(); }

std::optional<SmallVector<int64_t>> DynamicUpdateSliceOp::getPlace() {
  return std::nullopt;
}

Value DynamicUpdateSliceOp::readPlace(OpBuilder &builder, Value array) {
  return DynamicSliceOp::create(builder, getLoc(), array, getStarts(),
                                getUpdate().getType().getShape());
}

Value DynamicUpdateSliceOp::writePlace(OpBuilder &builder, Value array,
                                       Value block) {
  return DynamicUpdateSliceOp::create(builder, getLoc(), array, block,
                                      getStarts());
}
