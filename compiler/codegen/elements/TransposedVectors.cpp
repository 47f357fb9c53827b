//===- TransposedVectors.cpp - rows of a matrix as its columns ------------===//

#include "weft/compiler/codegen/elements/TransposedVectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weft::elements {

Value shuffled(OpBuilder &builder, Location loc, Value x, Value y,
               ArrayRef<int32_t> lanes) {
  return LLVM::ShuffleVectorOp::create(builder, loc, x, y, lanes);
}

namespace {
struct Shuffles {
  OpBuilder &builder;
  Location loc;
  int64_t lanes, together; ///< elements of a vector, of 16 bytes

  /// Interleaves runs of `run` lanes of x and y within each 16 bytes, those of
  /// the lower or of the upper half.
  Value interleaved(Value x, Value y, int64_t run, bool upper) const {
    SmallVector<int32_t> from;
    for (int64_t group = 0; group < lanes; group += together)
      for (int64_t at = 0; at < together; at += 2 * run)
        for (int64_t source : {0, 1})
          for (int64_t i = 0; i < run; ++i)
            from.push_back(group + at / 2 + (upper ? together / 2 : 0) +
                           source * lanes + i);
    return shuffled(builder, loc, x, y, from);
  }
  /// The even, or the odd, groups of 16 bytes of x, then of y.
  Value everySecond(Value x, Value y, bool odd) const {
    SmallVector<int32_t> from;
    for (int64_t group = odd ? 1 : 0; group < 2 * lanes / together; group += 2)
      for (int64_t i = 0; i < together; ++i)
        from.push_back(group * together + i);
    return shuffled(builder, loc, x, y, from);
  }
  /// Vector g of the result has group g of each row.
  SmallVector<Value> groupsOf(ArrayRef<Value> rows) const {
    if (rows.size() == 1)
      return SmallVector<Value>(rows);
    SmallVector<Value> even, odd, all;
    for (size_t i = 0; i < rows.size(); i += 2) {
      even.push_back(everySecond(rows[i], rows[i + 1], false));
      odd.push_back(everySecond(rows[i], rows[i + 1], true));
    }
    even = groupsOf(even);
    odd = groupsOf(odd);
    for (auto [first, second] : llvm::zip_equal(even, odd))
      all.append({first, second});
    return all;
  }
};
} // namespace

SmallVector<Value> transposedVectors(OpBuilder &builder, Location loc,
                                     ArrayRef<Value> rows, int64_t bytes) {
  int64_t n = rows.size(), together = 16 / bytes;
  Shuffles shuffles{builder, loc, n, together};
  // After this, vector k * together + j has, in its group g, column
  // g * together + j of the rows from k * together on.
  SmallVector<Value> now(rows);
  for (int64_t apart = 1; apart < together; apart *= 2) {
    SmallVector<Value> next(n);
    for (int64_t i = 0; i < n; ++i) {
      if (i & apart)
        continue;
      // Bits of the number below `apart` are the column so far.
      int64_t low = i % apart, first = i - low + 2 * low;
      next[first] = shuffles.interleaved(now[i], now[i + apart], apart, false);
      next[first + 1] =
          shuffles.interleaved(now[i], now[i + apart], apart, true);
    }
    now = next;
  }
  SmallVector<Value> columns(n);
  for (int64_t j = 0; j < together; ++j) {
    SmallVector<Value> same;
    for (int64_t k = 0; k < n; k += together)
      same.push_back(now[k + j]);
    for (auto [group, column] : llvm::enumerate(shuffles.groupsOf(same)))
      columns[group * together + j] = column;
  }
  return columns;
}

} // namespace weft::elements
