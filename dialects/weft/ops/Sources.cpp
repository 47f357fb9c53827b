//===- Sources.cpp - constants, counts and random bits --------------------===//

#include "weft/dialects/weft/Weft.h"

using namespace mlir;
using namespace weft;

static RankedTensorType resultType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

/// The rule with one factor of a kind for each dimension of the result.
static ShardingRule sourceRule(Operation *op, FactorKind kind) {
  ShardingRule rule;
  TensorFactors &result = rule.results.emplace_back();
  for (auto [dim, size] : llvm::enumerate(resultType(op).getShape())) {
    rule.factors.push_back({size, kind});
    result.push_back({static_cast<unsigned>(dim)});
  }
  return rule;
}

static bool isI64Scalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 &&
         tensor.getElementType().isSignlessInteger(64);
}

/// The start of the local block of result 0; 0 if it is not sharded.
static Value offsetOrZero(OpBuilder &builder, Location loc,
                          const LocalPlacement &placement, unsigned dim) {
  if (Value offset = placement.resultOffset(builder, loc, 0, dim))
    return offset;
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return ConstantOp::create(builder, loc, type,
                            DenseElementsAttr::get(type, int64_t(0)));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

void ConstantOp::build(OpBuilder &builder, OperationState &state,
                       ElementsAttr value) {
  build(builder, state, value.getType(), value);
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseAttribute(value, "value", state.attributes))
    return failure();
  Type type = value.getType();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(type))
    return failure();
  state.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
  if (getValue().getType() != getType())
    printer << " -> " << getType();
}

LogicalResult ConstantOp::verify() {
  ShapedType data = getValue().getShapedType();
  RankedTensorType type = resultType(*this);
  if (data.getShape() != type.getShape() ||
      data.getElementType() != type.getElementType()) // (C1)
    return emitOpError("data is ") << data << ", but the result " << type;
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

ShardingRule ConstantOp::getShardingRule() {
  return sourceRule(*this, getValue().isSplat() ? FactorKind::Pass
                                                : FactorKind::Replicated);
}

SmallVector<Value> ConstantOp::buildLocal(OpBuilder &builder, ValueRange,
                                          TypeRange resultTypes,
                                          const LocalPlacement &) {
  auto local = cast<RankedTensorType>(resultTypes[0]);
  ElementsAttr value = getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    value = splat.resizeSplat(withLayout(local, {}));
  return {ConstantOp::create(builder, getLoc(), local, value)};
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  int64_t rank = resultType(*this).getRank();
  if (static_cast<int64_t>(getDim()) >= rank ||
      static_cast<int64_t>(getDim()) < 0) // (C1)
    return emitOpError("dim ")
           << static_cast<int64_t>(getDim()) << " is out of the rank " << rank;
  if (getOffset() && !isI64Scalar(getOffset().getType())) // (C2)
    return emitOpError("the offset is tensor<i64>, not ")
           << getOffset().getType();
  return success();
}

ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this, FactorKind::Pass);
  rule.factors[getDim()].kind = FactorKind::Position;
  rule.operands.resize(getNumOperands());
  return rule;
}

SmallVector<Value> IotaOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  Value offset = placement.resultOffset(builder, getLoc(), 0, getDim());
  if (!operands.empty() && offset)
    offset = AddOp::create(builder, getLoc(), operands[0], offset);
  else if (!operands.empty())
    offset = operands[0];
  return {
      IotaOp::create(builder, getLoc(), resultTypes[0], getDimAttr(), offset)};
}

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

LogicalResult RngBitsOp::verify() {
  auto key = cast<RankedTensorType>(getKey().getType());
  if (key.getShape() != ArrayRef<int64_t>{2} ||
      !key.getElementType().isUnsignedInteger(32)) // (C1)
    return emitOpError("the key is tensor<2xui32>, not ") << key;
  RankedTensorType type = resultType(*this);
  if (!type.getElementType().isUnsignedInteger(32)) // (C2)
    return emitOpError("the result's elements are ui32, not ")
           << type.getElementType();
  size_t offsets = getOffsets().size();
  size_t sizes = getGlobalShape() ? getGlobalShape()->size() : 0;
  size_t rank = type.getRank();
  bool local = offsets != 0 || getGlobalShape();
  if (local && (offsets != rank || sizes != rank)) // (C3)
    return emitOpError("has ") << offsets << " offsets and " << sizes
                               << " global sizes for " << rank << " dimensions";
  for (Value offset : getOffsets())
    if (!isI64Scalar(offset.getType())) // (C3)
      return emitOpError("an offset is tensor<i64>, not ") << offset.getType();
  return success();
}

ShardingRule RngBitsOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this, FactorKind::Position);
  rule.operands.resize(getNumOperands());
  rule.operands[0] = {{static_cast<unsigned>(rule.factors.size())}};
  rule.factors.push_back({2, FactorKind::Replicated});
  return rule;
}

SmallVector<Value> RngBitsOp::buildLocal(OpBuilder &builder,
                                         ValueRange operands,
                                         TypeRange resultTypes,
                                         const LocalPlacement &placement) {
  SmallVector<Value> offsets;
  SmallVector<int64_t> shape(placement.globalShape(0));
  if (std::optional<ArrayRef<int64_t>> given = getGlobalShape())
    shape.assign(given->begin(), given->end());
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    Value offset = offsetOrZero(builder, getLoc(), placement, dim);
    if (operands.size() > 1)
      offset = AddOp::create(builder, getLoc(), operands[1 + dim], offset);
    offsets.push_back(offset);
  }
  return {RngBitsOp::create(builder, getLoc(), resultTypes[0], operands[0],
                            offsets, builder.getDenseI64ArrayAttr(shape))};
}
