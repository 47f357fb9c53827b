//===- ConvertOrders.cpp - sort and top_k ---------------------------------===//

#include "weft/compiler/frontends/stablehlo/Converter.h"
#include "weft/dialects/weft/ScanOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// JAX makes zeros and NaNs alike first: select(x == 0, 0, x), then
/// select(x != x, nan, that). weft.sort orders floats so by itself.
Value plain(Value value) {
  while (Operation *op = definedBy(value, "select", 3))
    value = op->getOperand(2);
  return value;
}

/// A comparator of keys, one after the other where they are equal.
struct Order {
  int64_t keys = 0;
  bool descending = false;
};

/// Is it a comparison, in that direction, of key k of both sides?
bool comparesKey(Value value, StringRef direction, Block &block, int64_t key) {
  Operation *op = definedBy(value, "compare", 2);
  return op && ForeignOp(op).word("comparison_direction") == direction &&
         plain(op->getOperand(0)) == block.getArgument(2 * key) &&
         plain(op->getOperand(1)) == block.getArgument(2 * key + 1);
}

/// x0 < y0 | (x0 == y0 & (x1 < y1 | ...)).
std::optional<Order> orderOf(Block &block) {
  if (block.getNumArguments() < 2 || block.back().getNumOperands() != 1)
    return std::nullopt;
  Value value = block.back().getOperand(0);
  Order order;
  for (StringRef direction : {"LT", "GT"}) {
    Value rest = value;
    int64_t tensors = block.getNumArguments() / 2;
    for (int64_t key = 0; key < tensors; ++key) {
      if (comparesKey(rest, direction, block, key)) {
        order.keys = key + 1;
        order.descending = direction == "GT";
        return order;
      }
      Operation *either = definedBy(rest, "or", 2);
      Operation *tie =
          either ? definedBy(either->getOperand(1), "and", 2) : nullptr;
      if (!tie || !comparesKey(either->getOperand(0), direction, block, key) ||
          !comparesKey(tie->getOperand(0), "EQ", block, key))
        break;
      rest = tie->getOperand(1);
    }
  }
  return std::nullopt;
}

LogicalResult sort(Converter &c, ForeignOp op) {
  Region &region = op->getRegion(0);
  auto order = region.hasOneBlock() ? orderOf(region.front()) : std::nullopt;
  if (!order)
    return op.refuse() << "has a comparator that is not supported; known are "
                          "those of jax.lax.sort";
  int64_t rank = op.operandType(0).getRank();
  int64_t dim = op.integer("dimension").value_or(-1);
  auto sorted = SortOp::create(c.builder, op->getLoc(), op->getResultTypes(),
                               c.inputs(op), dim < 0 ? dim + rank : dim,
                               order->keys, order->descending);
  return c.give(op, sorted.getResults());
}

/// Integers in the order -NaN, -inf, ..., -0, 0, ..., inf, NaN of the floats that
/// have these bits, and back: what is negative has its other bits inverted.
Value inTotalOrder(Converter &c, ForeignOp op, Value bits) {
  auto type = cast<RankedTensorType>(bits.getType());
  unsigned width = type.getElementTypeBitWidth();
  Value zero = c.splat(op, 0, type);
  Value sign = c.make<CompareOp>(op, CompareKind::LT, bits, zero);
  Value others = c.make<ConstantOp>(
      op, DenseElementsAttr::get(type, APInt::getSignedMaxValue(width)));
  return c.make<SelectOp>(op, sign, c.make<XorOp>(op, bits, others), bits);
}

/// chlo.top_k, or a composite of that name: of the last dimension.
LogicalResult topK(Converter &c, ForeignOp op) {
  auto type = op.operandType(0);
  if (!type || type.getRank() < 1 || op->getNumResults() != 2)
    return op.refuse() << "has not 1 operand and 2 results";
  Value input = c.input(op, 0);
  auto values = op.resultType(0);
  bool isFloat = isa<FloatType>(type.getElementType());
  Type bits = c.builder.getIntegerType(type.getElementTypeBitWidth());
  if (isFloat) {
    input = inTotalOrder(c, op, c.make<BitcastOp>(op, type.clone(bits), input));
    values = values.clone(bits);
  }
  auto found = TopKOp::create(c.builder, op->getLoc(), values, op.resultType(1),
                              input, type.getRank() - 1);
  if (!isFloat)
    return c.give(op, found->getResults());
  Value largest = inTotalOrder(c, op, found.getValues());
  return c.give(op, {c.make<BitcastOp>(op, op.resultType(0), largest),
                     found.getPositions()});
}

LogicalResult composite(Converter &c, ForeignOp op) {
  if (op.word("name") == "chlo.top_k")
    return topK(c, op);
  StringRef callee;
  if (auto symbol =
          dyn_cast_or_null<FlatSymbolRefAttr>(op.attribute("decomposition")))
    callee = symbol.getValue();
  else
    callee = op.word("decomposition");
  return c.call(op, callee);
}

constexpr ConversionEntry kEntries[] = {
    {"sort", sort, 1, 1},
    {"chlo.top_k", topK},
    {"composite", composite, 0, -1},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::orderConversions() { return kEntries; }
