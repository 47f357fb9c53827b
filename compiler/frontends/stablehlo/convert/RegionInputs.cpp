//===- RegionInputs.cpp - values that regions take from outside -----------===//

#include "weft/compiler/frontends/stablehlo/convert/RegionInputs.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

/// The constant that defines the value, if it is small enough to be cloned into
/// regions; else null.
static ConstantOp smallConstant(Value value) {
  constexpr int64_t kMostElements = 64;
  auto constant = value ? value.getDefiningOp<ConstantOp>() : ConstantOp();
  if (!constant)
    return {};
  auto data = dyn_cast<DenseElementsAttr>(constant.getValue());
  bool isSmall =
      data && (data.isSplat() || data.getNumElements() <= kMostElements);
  return isSmall ? constant : ConstantOp();
}

RegionInputs::RegionInputs(Converter &converter, ForeignOp op)
    : converter(converter), op(op) {
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (Value now = converter.lookup(value); now && !smallConstant(now))
      carried.push_back(now);
}

LogicalResult RegionInputs::convert(Region &from, Region &into, TypeRange own,
                                    SmallVectorImpl<Value> &results) {
  Block &block = into.emplaceBlock();
  for (Type type : own)
    block.addArgument(type, op->getLoc());
  SmallVector<Value> arguments(block.getArguments());
  for (Value value : carried)
    block.addArgument(value.getType(), op->getLoc());
  converter.builder.setInsertionPointToEnd(&block);
  SmallVector<std::pair<Value, Value>> outside;
  auto next = passedTo(into).begin();
  for (Value value : captured) {
    Value now = converter.lookup(value);
    if (!now)
      continue; // the op that uses it reports the error
    outside.push_back({value, now});
    ConstantOp constant = smallConstant(now);
    converter.map(value, constant
                             ? converter.builder.clone(*constant)->getResult(0)
                             : Value(*next++));
  }
  LogicalResult converted =
      converter.inlineBlock(op, from.front(), arguments, results);
  for (auto [value, now] : outside)
    converter.map(value, now);
  return converted;
}
