//===- SortNests.cpp - stable merge sort of rows --------------------------===//
//
// A processor with working memory sorts rows of one key by digits
// (DigitSort.cpp), unless they are short. Others sort positions; elements are
// moved once, at the end. Both orders of a merge,
// before and after, are in the memory of one result until its elements are
// written, in the halves of its elements:
//
//   f64 result [4]    a0 b0 | a1 b1 | a2 b2 | a3 b3     a, b: i32 positions
//
// If no result has elements whose halves can hold a row's positions, a row is
// sorted by counting, for each element, the elements before it. Halves of 8-bit
// elements are too small, 16 bits suffice for 256 positions, 32 for 65536.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/RowNest.h"
#include "weft/dialects/nest/SortLoops.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "weft/dialects/weft/ops/ScanOps.h"

using namespace mlir;

namespace weft::elements {

namespace {
using Predicate = arith::CmpIPredicate;

struct SortNest {
  ElementEmitter &e;
  SortOp op;
  RowNest row;
  Value home;    ///< the result whose memory holds the positions
  Type position; ///< an integer of half the bits of its elements

  SortNest(ElementEmitter &e [[clang::lifetimebound]], SortOp op)
      : e(e), op(op), row(e, op.getInputs()[0], op.getDim()) {
    for (Value result : op.getSorted()) {
      int64_t bits = 4 * bytesOf(typeOf(result).getElementType());
      if (home || bits < 8 || (bits < 32 && row.size > (int64_t(1) << bits)))
        continue;
      home = result;
      position = e.builder.getIntegerType(bits);
    }
  }

  Value truth() {
    return arith::ConstantOp::create(e.builder, e.loc,
                                     e.builder.getBoolAttr(true));
  }
  Value negated(Value x) {
    return arith::XOrIOp::create(e.builder, e.loc, x, truth());
  }
  LogicalResult keysAt(Value at, SmallVector<Value> &keys);
  /// Whether the first keys come before the others; `before` if they are equal.
  Value comesBefore(ArrayRef<Value> keys, ArrayRef<Value> others, Value before);
  Value slot(Value at, Value half);
  Value loadPosition(Value at, Value half);
  void storePosition(Value value, Value at, Value half);
  LogicalResult mergeLevel(Value level);
  LogicalResult moveElements(Value half);
  LogicalResult emitMerging();
  LogicalResult emitCounting();
};
} // namespace

LogicalResult SortNest::keysAt(Value at, SmallVector<Value> &keys) {
  for (Value input : op.getInputs().take_front(op.getKeys())) {
    FailureOr<Value> key = e.element(input, row.at(at));
    if (failed(key))
      return failure();
    keys.push_back(*key);
  }
  e.enterDepth(e.depth());
  return success();
}

Value SortNest::comesBefore(ArrayRef<Value> keys, ArrayRef<Value> others,
                            Value before) {
  for (size_t key = keys.size(); key-- > 0;) {
    Type type = typeOf(op.getInputs()[key]).getElementType();
    Value less = row.less(type, keys[key], others[key]),
          more = row.less(type, others[key], keys[key]);
    if (op.getDescending())
      std::swap(less, more);
    before = row.either(less, row.both(negated(more), before));
  }
  return before;
}

Value SortNest::slot(Value at, Value half) {
  Value linear = e.linearIndex(typeOf(home).getShape(), row.at(at));
  return e.add(e.mul(linear, 2), half);
}

Value SortNest::loadPosition(Value at, Value half) {
  Value loaded = e.load(e.memoryOf(home), position, slot(at, half));
  return arith::ExtUIOp::create(e.builder, e.loc, e.builder.getI64Type(),
                                loaded);
}

void SortNest::storePosition(Value value, Value at, Value half) {
  Value narrow = arith::TruncIOp::create(e.builder, e.loc, position, value);
  e.store(narrow, e.memoryOf(home), position, slot(at, half));
}

/// Merges runs of 2^level positions in pairs, from one half to the other.
LogicalResult SortNest::mergeLevel(Value level) {
  OpBuilder &b = e.builder;
  Value one = e.constant(1), size = e.constant(row.size),
        last = e.constant(row.size - 1);
  Value width = arith::ShLIOp::create(b, e.loc, one, level);
  Value from = arith::AndIOp::create(b, e.loc, level, one),
        to = arith::XOrIOp::create(b, e.loc, from, one);
  auto atMost = [&](Value x, Value most) -> Value {
    return arith::MinSIOp::create(b, e.loc, x, most);
  };
  auto mergePair = [&](Value start) -> LogicalResult {
    Value middle = atMost(e.add(start, width), size),
          end = atMost(e.add(middle, width), size);
    return e.loop(
        start, end, one, {start, middle},
        [&](Value k, ValueRange next) -> FailureOr<SmallVector<Value>> {
          Value i = next[0], j = next[1];
          Value left = loadPosition(atMost(i, last), from),
                right = loadPosition(atMost(j, last), from);
          SmallVector<Value> lefts, rights;
          if (failed(keysAt(left, lefts)) || failed(keysAt(right, rights)))
            return failure();
          Value no = arith::ConstantOp::create(b, e.loc, b.getBoolAttr(false));
          Value stays = row.either(row.compare(Predicate::sge, j, end),
                                   negated(comesBefore(rights, lefts, no)));
          stays = row.both(row.compare(Predicate::slt, i, middle), stays);
          storePosition(row.select(stays, left, right), k, to);
          Value taken = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), stays);
          Value other = arith::SubIOp::create(b, e.loc, one, taken);
          return SmallVector<Value>{e.add(i, taken), e.add(j, other)};
        });
  };
  return e.loop(e.constant(0), size, e.mul(width, 2), mergePair);
}

/// Moves elements. The result that holds the positions is last: its element i
/// is written after the position there was read.
LogicalResult SortNest::moveElements(Value half) {
  auto move = [&](Value input, Value sorted) -> LogicalResult {
    return e.loop(row.size, [&](Value i) -> LogicalResult {
      FailureOr<Value> value = e.element(input, row.at(loadPosition(i, half)));
      if (failed(value))
        return failure();
      e.enterDepth(e.depth());
      row.put(*value, sorted, i);
      return success();
    });
  };
  Value homeInput;
  for (auto [input, sorted] : llvm::zip_equal(op.getInputs(), op.getSorted())) {
    if (sorted == home)
      homeInput = input;
    else if (failed(move(input, sorted)))
      return failure();
  }
  return move(homeInput, home);
}

LogicalResult SortNest::emitMerging() {
  e.each(row.size, [&](Value i) { storePosition(i, i, e.constant(0)); });
  int64_t levels = llvm::Log2_64_Ceil(std::max<int64_t>(row.size, 1));
  if (failed(e.loop(levels, [&](Value level) { return mergeLevel(level); })))
    return failure();
  return moveElements(e.constant(levels % 2));
}

/// Sorts by counting: an element's position is the number of elements that come
/// before it.
LogicalResult SortNest::emitCounting() {
  return e.loop(row.size, [&](Value i) -> LogicalResult {
    SmallVector<Value> mine;
    if (failed(keysAt(i, mine)))
      return failure();
    auto place = e.loop(
        e.constant(0), e.constant(row.size), e.constant(1), e.constant(0),
        [&](Value j, ValueRange count) -> FailureOr<SmallVector<Value>> {
          SmallVector<Value> others;
          if (failed(keysAt(j, others)))
            return failure();
          Value before =
              comesBefore(others, mine, row.compare(Predicate::slt, j, i));
          Value one = row.select(before, e.constant(1), e.constant(0));
          return SmallVector<Value>{e.add(count[0], one)};
        });
    if (failed(place))
      return failure();
    for (auto [input, sorted] :
         llvm::zip_equal(op.getInputs(), op.getSorted())) {
      FailureOr<Value> value = e.element(input, row.at(i));
      if (failed(value))
        return failure();
      e.enterDepth(e.depth());
      row.put(*value, sorted, place->front());
    }
    return success();
  });
}

LogicalResult emitSort(ElementEmitter &e, SortOp op) {
  if (nest::digitSort(op) && e.scratch())
    return emitDigitSort(e, op);
  SortNest nest(e, op);
  return nest.home ? nest.emitMerging() : nest.emitCounting();
}

} // namespace weft::elements
