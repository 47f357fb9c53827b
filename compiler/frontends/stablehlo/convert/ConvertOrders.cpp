//===- ConvertOrders.cpp - sort and top_k ---------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/CallLimits.h"
#include "weft/compiler/frontends/stablehlo/convert/TotalOrder.h"
#include "weft/dialects/weft/ops/ScanOps.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// A sort key of a comparator: a tensor, or a component of a complex tensor.
struct Key {
  unsigned tensor = 0;
  enum Component { All, Real, Imag } component = All;
  /// Whether floats are compared in total order, and whether all zeros or all
  /// NaNs are replaced by one before.
  bool isTotal = false, oneZero = false, oneNan = false;

  bool operator==(const Key &) const = default;
  /// Whether the order differs from weft.sort's, which like JAX has one zero,
  /// and one NaN after all numbers.
  bool needsBits() const { return isTotal && !(oneZero && oneNan); }
  /// Whether the integers of the total order represent the whole tensor, so
  /// that they are sorted in its place.
  bool replaces() const {
    return component == All && isTotal && !oneZero && !oneNan;
  }
};

/// A comparator with several keys; later keys decide if earlier ones are equal.
struct Order {
  SmallVector<Key> keys;
  bool descending = false;
  /// Whether the keys are the first tensors, in order, and can be sorted as
  /// they are or replaced.
  bool isOfFirst() const {
    return llvm::all_of(llvm::enumerate(keys), [](auto key) {
      const Key &k = key.value();
      return k.tensor == key.index() && k.component == Key::All &&
             (!k.needsBits() || k.replaces());
    });
  }
};

/// The float in all elements of a constant.
std::optional<APFloat> constantNumber(Value value) {
  Operation *op = definedBy(withoutAnnotations(value), "constant", 0);
  auto data =
      op ? dyn_cast_or_null<DenseElementsAttr>(ForeignOp(op).attribute("value"))
         : DenseElementsAttr();
  if (!data || !data.isSplat() || !isa<FloatType>(data.getElementType()))
    return std::nullopt;
  return data.getSplatValue<APFloat>();
}

/// The operand x of select(x == 0, 0, x) or select(x != x, NaN, x), which is
/// recorded in `key`; null for other ops.
Value beforeSelect(Value value, Key &key) {
  Operation *choice = definedBy(value, "select", 3);
  Operation *test =
      choice ? definedBy(choice->getOperand(0), "compare", 2) : nullptr;
  auto chosen =
      test ? constantNumber(choice->getOperand(1)) : std::optional<APFloat>();
  if (!chosen)
    return {};
  StringRef direction = ForeignOp(test).word("comparison_direction");
  auto number = constantNumber(test->getOperand(1));
  if (direction == "EQ" && number && number->isZero() && chosen->isZero())
    key.oneZero = true;
  else if (direction == "NE" && test->getOperand(0) == test->getOperand(1) &&
           chosen->isNaN() && !chosen->isNegative())
    key.oneNan = true;
  else
    return {};
  // JAX may test the value before the other select.
  Key tested;
  Value inner = choice->getOperand(2), x = test->getOperand(0);
  if (x != inner && x != beforeSelect(inner, tested))
    return {};
  return inner;
}

/// The key that a value computes from a block argument, if it is one.
std::optional<Key> keyOf(Value value, Block &block) {
  Key key;
  while (Value before = beforeSelect(value, key))
    value = before;
  for (auto [name, named] : {std::pair("real", Key::Real), {"imag", Key::Imag}})
    if (Operation *op = definedBy(value, name, 1)) {
      value = op->getOperand(0);
      key.component = named;
      break;
    }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &block)
    return std::nullopt;
  key.tensor = argument.getArgNumber();
  return key;
}

/// The key that both sides of a comparison in this direction compute.
std::optional<Key> comparedKey(Value value, StringRef direction, Block &block) {
  Operation *op = definedBy(value, "compare", 2);
  if (!op || ForeignOp(op).word("comparison_direction") != direction)
    return std::nullopt;
  auto left = keyOf(op->getOperand(0), block),
       right = keyOf(op->getOperand(1), block);
  if (!left || !right || left->tensor % 2 != 0)
    return std::nullopt;
  ++left->tensor; // arguments are x0, y0, x1, y1, ...
  if (*left != *right)
    return std::nullopt;
  left->tensor /= 2;
  left->isTotal = ForeignOp(op).word("compare_type") == "TOTALORDER";
  return left;
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
  Value value = c.input(op, key.tensor);
  if (key.component != Key::All)
    value = key.component == Key::Real ? c.make<RealOp>(op, value)
                                       : c.make<ImagOp>(op, value);
  if (!key.needsBits())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Value zero = c.splat(op, 0, type), nan = c.splat(op, NAN, type);
  if (key.oneZero)
    value = c.make<SelectOp>(
        op, c.make<CompareOp>(op, CompareKind::EQ, value, zero), zero, value);
  if (key.oneNan)
    value = c.make<SelectOp>(
        op, c.make<CompareOp>(op, CompareKind::NE, value, value), nan, value);
  return toTotalOrder(c, op, value);
}

/// Converts a sort. All keys are added in front, unless they are the first
/// tensors and can be sorted in place (Order::isOfFirst).
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
  for (const Key &key : order->keys)
    if (key.replaces())
      tensors[added + key.tensor] = keyValue(c, op, key);
  auto sorted = SortOp::create(
      c.builder, op->getLoc(), TypeRange(ValueRange(tensors)), tensors,
      dim < 0 ? dim + rank : dim, order->keys.size(), order->descending);
  SmallVector<Value> results(sorted.getResults().drop_front(added));
  for (const Key &key : order->keys) {
    Type element = op.resultType(key.tensor).getElementType();
    Value &result = results[key.tensor]; // two keys may be of one tensor
    if (key.replaces() && getElementTypeOrSelf(result) != element)
      result = fromTotalOrder(c, op, result, element);
  }
  return c.give(op, results);
}

/// Converts chlo.top_k, a composite of that name, or mhlo.topk, which may ask
/// for the least elements, along the last dimension.
LogicalResult topK(Converter &c, ForeignOp op) {
  auto type = op.operandType(0);
  if (!type || type.getRank() < 1 || op->getNumOperands() != 1 ||
      op->getNumResults() != 2)
    return op.refuse() << "has not 1 operand and 2 results";
  Value input = c.input(op, 0);
  auto values = op.resultType(0);
  int64_t k = op.integer("k").value_or(-1), last = type.getRank() - 1;
  if (k >= 0 && values.getRank() > last && values.getDimSize(last) != k)
    return op.refuse() << "asks for " << k << " elements, its result is "
                       << values;
  auto largest = dyn_cast_or_null<BoolAttr>(op.attribute("largest"));
  bool isLeast = largest && !largest.getValue();
  bool isFloat = isa<FloatType>(type.getElementType());
  if (isFloat) {
    input = toTotalOrder(c, op, input);
    values = values.clone(getElementTypeOrSelf(input.getType()));
  }
  if (isLeast) // the complement reverses the order of integers
    input = c.make<NotOp>(op, input);
  auto found = TopKOp::create(c.builder, op->getLoc(), values, op.resultType(1),
                              input, last);
  Value taken = found.getValues();
  if (isLeast)
    taken = c.make<NotOp>(op, taken);
  if (isFloat)
    taken = fromTotalOrder(c, op, taken, type.getElementType());
  return c.give(op, {taken, found.getPositions()});
}

LogicalResult composite(Converter &c, ForeignOp op) {
  if (op.word("name") == "chlo.top_k")
    return topK(c, op);
  return c.call(op, calleeOf(op));
}

constexpr ConversionEntry kEntries[] = {
    {"sort", sort, 1, 1, OpRole::OverElements},
    {"chlo.top_k", topK},
    {"mhlo.topk", topK},
    {"composite", composite, 0, -1},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::orderConversions() { return kEntries; }
