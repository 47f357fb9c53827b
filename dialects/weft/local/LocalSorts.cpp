//===- LocalSorts.cpp - one device's part of a sort -----------------------===//
//
// Local sorts. Example: 7 3 | 5 1 | 4 9 over three devices. Each sorts its
// block (3 7 | 1 5 | 4 9); all compute how the six elements split in thirds,
//
//   device 0: 3 1 from blocks 0, 1     1: 5 4 from 1, 2     2: 7 9 from 0, 2
//
// and pick their own third from the others, run by run, which a last sort
// merges. Equal elements stay in order, since runs do.
//
// A split is found in rounds. In every run, the first `low` elements are known
// to be before the split, and elements from low + width on after it. A round
// takes every step-th element between as a sample. The first i samples of all p
// runs, in order, stand for at least i * step and at most i * step +
// (p - 1)(step - 1) elements. So if T elements before the split are unknown,
// the first (T - (p - 1)(step - 1)) / step samples are before it, and the next
// width is at most p * step - 1.
//
// A device receives as many elements as its block has, and about
// 2 p sqrt(p block) samples of keys. If these are more than the elements of all
// other devices (always for two devices), the elements are gathered instead.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/dialects/weft/ops/ScanOps.h"

using namespace mlir;
using namespace weft;

static int64_t bytesOf(Value value) {
  return bytesOf(typeOf(value).getElementType());
}

namespace {
/// Steps of the rounds that find a split of p runs of `block` elements.
struct SplitRounds {
  SmallVector<int64_t> steps, samples; ///< samples of each run
  int64_t total = 0;

  SplitRounds(int64_t p, int64_t block, int64_t most) {
    for (int64_t width = block; width > 0;) {
      int64_t step = (width + most - 1) / most;
      steps.push_back(step);
      samples.push_back(width / step);
      total += p * samples.back();
      width = step == 1 ? 0 : std::min(width - 1, p * step - 1);
    }
  }
  /// The cost of the rounds in samples: a round waits for a collective, which
  /// takes about as long as 128 samples.
  int64_t cost() const {
    return total + 128 * static_cast<int64_t>(steps.size());
  }
  static SplitRounds cheapest(int64_t p, int64_t block) {
    SplitRounds best(p, block, 2 * p);
    for (int64_t most = 3 * p; most < 2 * block; most += most / 2)
      if (SplitRounds next(p, block, most); next.cost() < best.cost())
        best = std::move(next);
    return best;
  }
};

/// A sort whose dimension is split over several devices.
struct LocalSort {
  SortOp op;
  LocalBuilder b;
  const LocalPlacement &placement;
  int64_t dim, p, block, size;

  LocalSort(SortOp op, OpBuilder &builder, Value operand,
            const LocalPlacement &placement [[clang::lifetimebound]])
      : op(op), b{builder, op.getLoc()}, placement(placement), dim(op.getDim()),
        p(placement.shards(op.getDim())),
        block(typeOf(operand).getDimSize(op.getDim())),
        size(placement.globalShape(0)[op.getDim()]) {}

  unsigned keys() { return op.getKeys(); }
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b.builder, b.loc, std::forward<Args>(args)...);
  }
  SmallVector<int64_t> shapeOf(Value value, int64_t along) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[dim] = along;
    return shape;
  }
  Value coordinate() { return placement.coordinate(b.builder, b.loc, dim); }
  /// Numbers along the dimension, equal in all rows: `number` makes them from
  /// 0, 1, ... They are computed, since a block may have 2^31 elements.
  Value numbers(ArrayRef<int64_t> shape,
                llvm::function_ref<Value(Value)> number) {
    return b.along(number(b.positions(shape[dim])), shape, dim);
  }
  Value plus(Value a, int64_t n) { return make<AddOp>(a, like(a, n)); }
  Value times(Value a, int64_t n) { return make<MulOp>(a, like(a, n)); }
  Value over(Value a, int64_t n) { return make<DivOp>(a, like(a, n)); }
  Value modulo(Value a, int64_t n) { return make<RemOp>(a, like(a, n)); }
  Value like(Value a, int64_t n) { return b.integer(n, typeOf(a).getShape()); }
  /// The number of elements before the device's block, as tensor<i64>.
  Value start() {
    Value at = make<MulOp>(coordinate(), b.integer(block));
    return make<MinOp>(at, b.integer(size));
  }

  /// A value with one element along the dimension, repeated along it.
  Value repeated(Value one, int64_t along);
  Value counts(Value runs);
  SmallVector<Value> gathered(ValueRange operands);
  Value maskedKey(Value key, Value count);
  Value missing(Value low);
  Value split(ValueRange runs);
  Value refined(ValueRange runs, Value low, int64_t step, int64_t samples);
  Value splitOfNext(Value low);
  Value positions(Value low, Value high);
  SmallVector<Value> merged(ValueRange operands);
  SmallVector<Value> sorted(ValueRange values, unsigned keys);
  bool mergingMovesLess(ValueRange operands);
};
} // namespace

/// Sorts on one device. Unless a value has 8 bytes an element, positions are
/// sorted with the values: the CPU's code sorts with them (two i32 an element),
/// and memory is planned for results only.
static SmallVector<Value> sortedBlock(SortOp op, OpBuilder &builder,
                                      ValueRange values, unsigned keys) {
  SmallVector<Value> all(values);
  if (llvm::none_of(all, [](Value value) { return bytesOf(value) >= 8; }))
    all.push_back(IotaOp::create(builder, op.getLoc(),
                                 typeOf(all[0]).clone(builder.getI64Type()),
                                 op.getDimAttr(), Value()));
  auto sort = SortOp::create(
      builder, op.getLoc(), ValueRange(all).getTypes(), all, op.getDimAttr(),
      builder.getI64IntegerAttr(keys), op.getDescendingAttr());
  return SmallVector<Value>(sort.getResults().take_front(values.size()));
}

SmallVector<Value> LocalSort::sorted(ValueRange values, unsigned keys) {
  return sortedBlock(op, b.builder, values, keys);
}

Value LocalSort::repeated(Value one, int64_t along) {
  SmallVector<int64_t> shape = shapeOf(one, along), rows(shape), others;
  rows.erase(rows.begin() + dim);
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (i != dim)
      others.push_back(i);
  return make<BroadcastOp>(make<ReshapeOp>(one, rows), shape, others);
}

/// Gathers and sorts everything, and keeps the device's block.
SmallVector<Value> LocalSort::gathered(ValueRange operands) {
  SmallVector<Value> all, result;
  for (Value operand : operands) {
    Value runs = placement.gather(b.builder, b.loc, operand, dim, dim);
    all.push_back(b.cutTo(runs, shapeOf(operand, size)));
  }
  for (Value value : sorted(all, keys())) {
    SmallVector<int64_t> sizes = shapeOf(value, block);
    SmallVector<Value> starts(sizes.size(), b.integer(0));
    starts[dim] = make<MulOp>(coordinate(), b.integer(block));
    value = b.padTo(value, shapeOf(value, block * p));
    result.push_back(make<DynamicSliceOp>(value, starts, sizes));
  }
  return result;
}

/// The key, whose padding after the first `count` elements (tensor<i64>) has
/// the value that sorts last. Sorts are stable, so padding stays after equal
/// keys.
Value LocalSort::maskedKey(Value key, Value count) {
  if (size % p == 0)
    return key;
  auto type = typeOf(key);
  Type element = type.getElementType();
  Attribute last;
  auto real = dyn_cast<FloatType>(element);
  if (real && !op.getDescending() &&
      APFloat::semanticsHasNaN(real.getFloatSemantics()))
    last = FloatAttr::get(real, APFloat::getNaN(real.getFloatSemantics()));
  else
    last = Attribute(neutralElement(
        op.getDescending() ? ReduceKind::Max : ReduceKind::Min, element));
  ArrayRef<int64_t> shape = type.getShape();
  Value at = b.along(b.positions(shape[dim]), shape, dim);
  Value exists = b.compare(CompareKind::LT, at, b.along(count, shape));
  Value padding = make<ConstantOp>(DenseElementsAttr::get(type, last));
  return make<SelectOp>(exists, key, padding);
}

/// The number of elements before the split that are still unknown, [.., 1, ..].
Value LocalSort::missing(Value low) {
  Value known = make<ReduceOp>(ReduceKind::Sum, low, ArrayRef<int64_t>{dim});
  Value wanted = b.along(start(), typeOf(known).getShape());
  return make<ReshapeOp>(make<SubOp>(wanted, known), shapeOf(low, 1));
}

/// The number of elements of each run before the device's block, [.., p, ..].
Value LocalSort::split(ValueRange runs) {
  Value low = b.integer(0, shapeOf(runs[0], p));
  SplitRounds rounds = SplitRounds::cheapest(p, block);
  for (auto [step, samples] : llvm::zip(rounds.steps, rounds.samples))
    low = refined(runs, low, step, samples);
  return low;
}

Value LocalSort::refined(ValueRange runs, Value low, int64_t step,
                         int64_t samples) {
  SmallVector<int64_t> shape = shapeOf(low, p * samples);
  // The samples: sample j of run d is after the run's `low`.
  SmallVector<int64_t> spread = shapeOf(low, p), kept;
  spread.insert(spread.begin() + dim + 1, samples);
  for (int64_t i = 0; i < static_cast<int64_t>(spread.size()); ++i)
    if (i != dim + 1)
      kept.push_back(i);
  Value at = make<ReshapeOp>(make<BroadcastOp>(low, spread, kept), shape);
  at = make<AddOp>(at, numbers(shape, [&](Value i) {
                     return plus(times(plus(modulo(i, samples), 1), step), -1);
                   }));
  // Samples past the run's end sort after all others.
  bool falls = op.getDescending();
  Value end = b.integer(block, shape);
  SmallVector<Value> order{
      b.compare(falls ? CompareKind::LT : CompareKind::GE, at, end)};
  Value place = make<AddOp>(
      make<MinOp>(at, b.integer(block - 1, shape)),
      numbers(shape, [&](Value i) { return times(over(i, samples), block); }));
  for (Value run : runs)
    order.push_back(placement.pick(b.builder, b.loc, run, place, dim, dim));
  order.push_back(numbers(shape, [&](Value i) { return over(i, samples); }));
  Value run = sorted(order, order.size() - 1).back();
  // The first samples, as many as are certainly before the split.
  Value left = missing(low);
  SmallVector<int64_t> one = shapeOf(low, 1);
  left = make<SubOp>(left, b.integer((p - 1) * (step - 1), one));
  left =
      make<DivOp>(make<MaxOp>(left, b.integer(0, one)), b.integer(step, one));
  Value index = numbers(shape, [](Value i) { return i; });
  Value before = b.compare(CompareKind::LT, index, repeated(left, p * samples));
  run = make<SelectOp>(before, run, b.integer(-1, shape));
  return make<AddOp>(
      low, make<MulOp>(counts(run), b.integer(step, shapeOf(low, p))));
}

/// The number of occurrences of each run's number in [.., m, ..], as [.., p,
/// ..].
Value LocalSort::counts(Value runs) {
  SmallVector<int64_t> shape(typeOf(runs).getShape()), kept;
  shape.insert(shape.begin() + dim, p);
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (i != dim)
      kept.push_back(i);
  auto type = RankedTensorType::get(shape, b.builder.getI64Type());
  Value run = make<IotaOp>(type, op.getDimAttr(), Value());
  Value is =
      b.compare(CompareKind::EQ, make<BroadcastOp>(runs, shape, kept), run);
  return make<ReduceOp>(ReduceKind::Sum, b.asI64(is),
                        ArrayRef<int64_t>{dim + 1});
}

/// The split before the next device's block: the next device's split, or the
/// runs' ends for the last device.
Value LocalSort::splitOfNext(Value low) {
  Value next = placement.fetch(b.builder, b.loc, low, dim, dim, p, p, p);
  SmallVector<int64_t> shape = shapeOf(low, p);
  Value all = numbers(shape, [&](Value run) {
    return b.clamp(plus(times(run, -block), size), 0, block);
  });
  Value isLast = b.compare(CompareKind::EQ, b.along(coordinate(), shape),
                           b.integer(p - 1, shape));
  return make<SelectOp>(isLast, all, next);
}

/// The positions of the elements between two splits, run after run, [.., block,
/// ..].
Value LocalSort::positions(Value low, Value high) {
  Value taken = make<SubOp>(high, low);
  Value begin = CumulativeOp::create(b.builder, b.loc, ScanKind::Sum, taken,
                                     dim, /*reverse=*/false,
                                     /*exclusive=*/true);
  Value end = make<AddOp>(begin, taken);
  // Element t of run d is at the run's first + t - begin.
  Value first = make<AddOp>(
      make<SubOp>(low, begin),
      numbers(shapeOf(low, p), [&](Value run) { return times(run, block); }));
  SmallVector<int64_t> shape = shapeOf(low, p), kept;
  shape.insert(shape.begin() + dim + 1, block);
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (i != dim + 1)
      kept.push_back(i);
  auto type = RankedTensorType::get(shape, b.builder.getI64Type());
  Value t = make<IotaOp>(type, b.builder.getI64IntegerAttr(dim + 1), Value());
  auto spread = [&](Value x) { return make<BroadcastOp>(x, shape, kept); };
  Value inside = make<AndOp>(b.compare(CompareKind::GE, t, spread(begin)),
                             b.compare(CompareKind::LT, t, spread(end)));
  Value shift = make<SelectOp>(inside, spread(first), b.integer(0, shape));
  shift = make<ReduceOp>(ReduceKind::Sum, shift, ArrayRef<int64_t>{dim});
  SmallVector<int64_t> result = shapeOf(low, block);
  return make<AddOp>(shift, b.along(b.positions(block), result, dim));
}

SmallVector<Value> LocalSort::merged(ValueRange operands) {
  Value count =
      make<SubOp>(b.integer(size), make<MulOp>(coordinate(), b.integer(block)));
  SmallVector<Value> values(operands);
  auto mask = [&] {
    for (Value &key : MutableArrayRef(values).take_front(keys()))
      key = maskedKey(key, count);
  };
  mask();
  values = sorted(values, keys());
  Value low = split(ArrayRef(values).take_front(keys()));
  Value place = positions(low, splitOfNext(low));
  for (Value &value : values)
    value = placement.pick(b.builder, b.loc, value, place, dim, dim);
  mask();
  return sorted(values, keys());
}

bool LocalSort::mergingMovesLess(ValueRange operands) {
  int64_t all = 0, ofKeys = 0;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    all += bytesOf(operand);
    ofKeys += i < keys() ? bytesOf(operand) : 0;
  }
  int64_t sampled = SplitRounds::cheapest(p, block).total * ofKeys;
  return block * all + sampled + 8 * p < (p - 1) * block * all;
}

SmallVector<Value> SortOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  if (placement.shards(getDim()) == 1)
    return sortedBlock(*this, builder, operands, getKeys());
  LocalSort sort(*this, builder, operands[0], placement);
  return sort.mergingMovesLess(operands) ? sort.merged(operands)
                                         : sort.gathered(operands);
}
