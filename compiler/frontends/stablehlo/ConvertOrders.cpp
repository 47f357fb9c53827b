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

/// What is compared: a tensor, or a part of a complex one.
struct Key {
  unsigned tensor = 0;
  enum Part { Whole, Real, Imag } part = Whole;
  bool operator==(const Key &) const = default;
};

/// A comparator of keys, one after the other where they are equal.
struct Order {
  SmallVector<Key> keys;
  bool descending = false;
  /// The first tensors, one after the other?
  bool isOfFirst() const {
    return llvm::all_of(llvm::enumerate(keys), [](auto key) {
      return key.value() == Key{static_cast<unsigned>(key.index())};
    });
  }
};

/// The argument of which a value is a part, and which.
std::optional<std::pair<unsigned, Key::Part>> partOf(Value value,
                                                     Block &block) {
  value = plain(value);
  Key::Part part = Key::Whole;
  for (auto [name, named] : {std::pair("real", Key::Real), {"imag", Key::Imag}})
    if (Operation *op = definedBy(value, name, 1)) {
      value = op->getOperand(0);
      part = named;
      break;
    }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &block)
    return std::nullopt;
  return std::pair(argument.getArgNumber(), part);
}

/// The key of which both sides are compared in that direction.
std::optional<Key> comparedKey(Value value, StringRef direction, Block &block) {
  Operation *op = definedBy(value, "compare", 2);
  if (!op || ForeignOp(op).word("comparison_direction") != direction)
    return std::nullopt;
  auto left = partOf(op->getOperand(0), block),
       right = partOf(op->getOperand(1), block);
  if (!left || !right || left->first % 2 != 0 ||
      right->first != left->first + 1 || left->second != right->second)
    return std::nullopt;
  return Key{left->first / 2, left->second};
}

/// x0 < y0 | (x0 == y0 & (x1 < y1 | ...)).
std::optional<Order> orderOf(Block &block) {
  if (block.getNumArguments() < 2 || block.back().getNumOperands() != 1)
    return std::nullopt;
  for (StringRef direction : {"LT", "GT"}) {
    Order order;
    order.descending = direction == "GT";
    Value rest = block.back().getOperand(0);
    for (;;) {
      if (auto last = comparedKey(rest, direction, block)) {
        order.keys.push_back(*last);
        return order;
      }
      Operation *either = definedBy(rest, "or", 2);
      Operation *tie =
          either ? definedBy(either->getOperand(1), "and", 2) : nullptr;
      auto key = tie ? comparedKey(either->getOperand(0), direction, block)
                     : std::nullopt;
      if (!key || comparedKey(tie->getOperand(0), "EQ", block) != key)
        break;
      order.keys.push_back(*key);
      rest = tie->getOperand(1);
    }
  }
  return std::nullopt;
}

Value keyValue(Converter &c, ForeignOp op, const Key &key) {
  Value tensor = c.input(op, key.tensor);
  switch (key.part) {
  case Key::Whole:
    return tensor;
  case Key::Real:
    return c.make<RealOp>(op, tensor);
  case Key::Imag:
    return c.make<ImagOp>(op, tensor);
  }
  llvm_unreachable("all parts are handled");
}

/// Keys that are not the first tensors stand in front of all.
LogicalResult sort(Converter &c, ForeignOp op) {
  Region &region = op->getRegion(0);
  auto order = region.hasOneBlock() ? orderOf(region.front()) : std::nullopt;
  if (!order || region.getNumArguments() != 2 * op->getNumOperands())
    return op.refuse() << "has a comparator that is not supported; known are "
                          "those of jax.lax.sort";
  int64_t rank = op.operandType(0).getRank();
  int64_t dim = op.integer("dimension").value_or(-1);
  SmallVector<Value> tensors;
  if (!order->isOfFirst())
    for (const Key &key : order->keys)
      tensors.push_back(keyValue(c, op, key));
  size_t added = tensors.size();
  llvm::append_range(tensors, c.inputs(op));
  auto sorted = SortOp::create(
      c.builder, op->getLoc(), TypeRange(ValueRange(tensors)), tensors,
      dim < 0 ? dim + rank : dim, order->keys.size(), order->descending);
  return c.give(op, sorted.getResults().drop_front(added));
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
    {"sort", sort, 1, 1, OpRole::OverElements},
    {"chlo.top_k", topK},
    {"composite", composite, 0, -1},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::orderConversions() { return kEntries; }
