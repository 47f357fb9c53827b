//===- DigitSort.cpp - stable sort of rows by digits of their keys --------===//
//
// Keys are moved once for each digit of base 256, the least first (Knuth, "The
// Art of Computer Programming", volume 3, section 5.2.5):
//
//   keys 0x0201 0x0102 0x0101     by the low digit    0x0201 0x0101 0x0102
//                                 by the high digit   0x0101 0x0102 0x0201
//
// Keys are the bits of elements; their digits are those of a number in the
// order of the elements, in which all NaNs and both zeros are equal. A digit
// that all keys share moves nothing. Elements of other tensors follow at the
// end, by positions that move with the keys.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/RowNest.h"
#include "weft/dialects/nest/SortLoops.h"
#include "weft/dialects/weft/ElementTypes.h"

using namespace mlir;

namespace weft::elements {

namespace {
struct DigitSortNest {
  ElementEmitter &e;
  mutable SortOp op;
  nest::DigitSort sort;
  Value memory;
  RowNest row;
  Type key, index; ///< types in working memory

  DigitSortNest(ElementEmitter &e [[clang::lifetimebound]], SortOp op,
                nest::DigitSort sort)
      : e(e), op(op), sort(sort), memory(e.scratch()),
        row(e, op.getInputs()[0], op.getDim()),
        key(e.builder.getIntegerType(sort.keyBits)),
        index(e.builder.getIntegerType(sort.indexBits)) {}

  Value number(uint64_t value) const {
    llvm::APInt bits(sort.keyBits, value, false, /*implicitTrunc=*/true);
    return arith::ConstantOp::create(e.builder, e.loc,
                                     e.builder.getIntegerAttr(key, bits));
  }
  uint64_t signBit() const { return uint64_t(1) << (sort.keyBits - 1); }
  Value arrayAt(int64_t byte) const {
    return LLVM::GEPOp::create(e.builder, e.loc, memory.getType(),
                               e.builder.getI8Type(), memory,
                               ArrayRef<LLVM::GEPArg>{e.constant(byte)});
  }
  Value bitsOf(Value element) const;
  Value elementOf(Value bits) const;
  Value ordered(Value bits) const;
  Value orderedFloat(Value bits) const;
  /// A digit's place in the counts, of which each digit of a key has a table.
  Value placeOf(Value bits, Value digit) const;
  void count(Value counts, Value at) const;
  LogicalResult readKeys(Value keys, Value positions, Value counts) const;
  void addCounts(Value counts, Value digit, Value isMoved) const;
  SmallVector<Value> moveByDigit(ValueRange arrays, Value counts,
                                 Value digit) const;
  LogicalResult store(ValueRange arrays) const;
  LogicalResult emit() const;
};
} // namespace

/// The element's bits in an integer of the key's size.
Value DigitSortNest::bitsOf(Value element) const {
  OpBuilder &b = e.builder;
  if (isa<FloatType>(element.getType()))
    return arith::BitcastOp::create(b, e.loc, key, element);
  if (element.getType() == key)
    return element;
  if (isUnsigned(row.elementType))
    return arith::ExtUIOp::create(b, e.loc, key, element);
  return arith::ExtSIOp::create(b, e.loc, key, element);
}

Value DigitSortNest::elementOf(Value bits) const {
  Type type = computeType(row.elementType);
  if (isa<FloatType>(type))
    return arith::BitcastOp::create(e.builder, e.loc, type, bits);
  return e.resized(bits, type);
}

/// An unsigned integer in the order of floats: that of negative ones is turned
/// around, NaN is the largest.
Value DigitSortNest::orderedFloat(Value bits) const {
  OpBuilder &b = e.builder;
  auto type = cast<FloatType>(computeType(row.elementType));
  uint64_t infinity = llvm::APFloat::getInf(type.getFloatSemantics())
                          .bitcastToAPInt()
                          .getZExtValue();
  Value size = arith::AndIOp::create(b, e.loc, bits, number(signBit() - 1));
  Value sign = arith::ShRSIOp::create(b, e.loc, bits, number(sort.keyBits - 1));
  Value turns = arith::OrIOp::create(b, e.loc, sign, number(signBit()));
  Value result = arith::XOrIOp::create(b, e.loc, bits, turns);
  Value isZero = row.compare(arith::CmpIPredicate::eq, size, number(0)),
        isNan = row.compare(arith::CmpIPredicate::ugt, size, number(infinity));
  result = row.select(isZero, number(signBit()), result);
  return row.select(isNan, number(~uint64_t(0)), result);
}

/// An unsigned integer in the order of the result.
Value DigitSortNest::ordered(Value bits) const {
  OpBuilder &b = e.builder;
  Value result = bits;
  if (isa<FloatType>(row.elementType))
    result = orderedFloat(bits);
  else if (!isUnsigned(row.elementType))
    result = arith::XOrIOp::create(b, e.loc, bits, number(signBit()));
  return op.getDescending()
             ? arith::XOrIOp::create(b, e.loc, result, number(~uint64_t(0)))
                   .getResult()
             : result;
}

Value DigitSortNest::placeOf(Value bits, Value digit) const {
  OpBuilder &b = e.builder;
  Value by = e.resized(e.mul(digit, 8), key);
  Value shifted = arith::ShRUIOp::create(b, e.loc, ordered(bits), by);
  Value value = arith::AndIOp::create(b, e.loc, shifted,
                                      number(nest::DigitSort::kBase - 1));
  return e.add(e.mul(digit, nest::DigitSort::kBase),
               e.resized(value, b.getI64Type()));
}

void DigitSortNest::count(Value counts, Value at) const {
  Value seen = e.load(counts, index, at);
  e.store(e.add(seen, e.constant(1, index)), counts, index, at);
}

/// Reads the row, and counts the values of each digit.
LogicalResult DigitSortNest::readKeys(Value keys, Value positions,
                                      Value counts) const {
  e.each(sort.digits() * nest::DigitSort::kBase, [&](Value place) {
    e.store(e.constant(0, index), counts, index, place);
  });
  return e.loop(row.size, [&](Value i) -> LogicalResult {
    FailureOr<Value> element = e.element(op.getInputs()[0], row.at(i));
    if (failed(element))
      return failure();
    e.enterDepth(e.depth());
    Value bits = bitsOf(*element);
    e.store(bits, keys, key, i);
    if (sort.hasPositions)
      e.store(e.resized(i, index), positions, index, i);
    for (int64_t digit = 0; digit < sort.digits(); ++digit)
      count(counts, placeOf(bits, e.constant(digit)));
    return success();
  });
}

/// Replaces the counts of a digit's values by the number of keys with smaller
/// ones, if keys are moved.
void DigitSortNest::addCounts(Value counts, Value digit, Value isMoved) const {
  Value base = e.mul(digit, nest::DigitSort::kBase);
  (void)e.loop(e.constant(0), e.mul(isMoved, nest::DigitSort::kBase),
               e.constant(1), e.constant(0, index),
               [&](Value value, ValueRange sum) -> LoopNest::Carried {
                 Value at = e.add(base, value);
                 Value seen = e.load(counts, index, at);
                 e.store(sum[0], counts, index, at);
                 return SmallVector<Value>{e.add(sum[0], seen)};
               });
}

/// Moves keys, and positions, from the first of two arrays to the second; the
/// result has them in the first.
SmallVector<Value> DigitSortNest::moveByDigit(ValueRange arrays, Value counts,
                                              Value digit) const {
  OpBuilder &b = e.builder;
  Value first = placeOf(e.load(arrays[0], key, e.constant(0)), digit);
  Value same = e.load(counts, index, first);
  Value moves =
      row.compare(arith::CmpIPredicate::ne, same, e.constant(row.size, index));
  Value isMoved = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), moves);
  addCounts(counts, digit, isMoved);
  e.each(e.constant(0), e.mul(isMoved, row.size), [&](Value i) {
    Value bits = e.load(arrays[0], key, i);
    Value place = placeOf(bits, digit);
    Value target = e.load(counts, index, place);
    e.store(e.add(target, e.constant(1, index)), counts, index, place);
    Value to = e.resized(target, b.getI64Type());
    e.store(bits, arrays[1], key, to);
    if (sort.hasPositions)
      e.store(e.load(arrays[2], index, i), arrays[3], index, to);
  });
  SmallVector<Value> next;
  for (size_t from = 0; from < arrays.size(); from += 2)
    for (size_t k : {from, from + 1})
      next.push_back(row.select(moves, arrays[2 * from + 1 - k], arrays[k]));
  return next;
}

/// Stores the keys, and the elements that follow them.
LogicalResult DigitSortNest::store(ValueRange arrays) const {
  e.each(row.size, [&](Value i) {
    row.put(elementOf(e.load(arrays[0], key, i)), op.getSorted()[0], i);
  });
  for (auto [input, sorted] :
       llvm::drop_begin(llvm::zip_equal(op.getInputs(), op.getSorted()))) {
    auto storeOne = [&, input = input, sorted = sorted](Value i) {
      Value from =
          e.resized(e.load(arrays[2], index, i), e.builder.getI64Type());
      FailureOr<Value> value = e.element(input, row.at(from));
      if (succeeded(value)) {
        e.enterDepth(e.depth());
        row.put(*value, sorted, i);
      }
      return LogicalResult(value);
    };
    if (failed(e.loop(row.size, storeOne)))
      return failure();
  }
  return success();
}

LogicalResult DigitSortNest::emit() const {
  SmallVector<Value> arrays{arrayAt(sort.keysAt(0)), arrayAt(sort.keysAt(1))};
  if (sort.hasPositions)
    for (int64_t number : {0, 1})
      arrays.push_back(arrayAt(sort.positionsAt(number)));
  Value counts = arrayAt(sort.countsAt());
  if (failed(
          readKeys(arrays[0], arrays.size() > 2 ? arrays[2] : Value(), counts)))
    return failure();
  auto sorted =
      e.loop(e.constant(0), e.constant(sort.digits()), e.constant(1), arrays,
             [&](Value digit, ValueRange now) -> LoopNest::Carried {
               return moveByDigit(now, counts, digit);
             });
  return store(*sorted);
}

LogicalResult emitDigitSort(ElementEmitter &e, SortOp op) {
  return DigitSortNest(e, op, *nest::digitSort(op)).emit();
}

} // namespace weft::elements
