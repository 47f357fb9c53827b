//===- TiledDot.cpp - contractions in registers ---------------------------===//
//
// A tile of mr rows and nv vectors of columns is kept in registers while the
// contraction runs; nothing is packed:
//
//   for each tile:  acc[mr][nv] = 0
//     for k:        acc[i][v] += broadcast(lhs[i,k]) * rhs[k, v]
//     result tile = acc
//
// if the columns of rhs are contiguous. If instead both operands are contiguous
// along the contraction (x * w^T), vectors run along it:
//
//     for k by lanes:  acc[i][j] += lhs[i, k..] * rhs[j, k..]
//     result[i,j] = sum of the lanes of acc[i][j]
//
// Lanes past the end are masked. Operands of a narrower type than the result's
// are extended as they are loaded.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/DotShape.h"
#include "weft/compiler/codegen/cpu/ElementVectors.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

int64_t lanesOf(const KernelEmitter &kernel, const DotShape &shape) {
  return std::max<int64_t>(
      kernel.target.vectorBytes / bytesOf(shape.resultType), 1);
}

namespace {

struct TileSize {
  int64_t rows, columns; ///< columns in vectors, or in elements along k
};

class TiledDot {
public:
  TiledDot(KernelEmitter &kernel [[clang::lifetimebound]],
           const DotShape &shape, nest::ContractionAttr walk)
      : kernel(kernel), emitter(kernel.elements), builder(emitter.builder),
        loc(emitter.loc), shape(shape), lanes(lanesOf(kernel, shape)),
        loops(*nest::tileLoops(shape)), row(loops.row), column(loops.column),
        inner(loops.inner), tile{walk.getTile()[0], walk.getTile()[1]},
        alongContract(walk.getForm() == nest::ContractionForm::Depth),
        lhs(builder, loc, shape.lhsType, shape.resultType),
        rhs(builder, loc, shape.rhsType, shape.resultType),
        sum(builder, loc, shape.resultType, shape.resultType) {
    if (const std::optional<KernelSplit> &split = kernel.rowSplit())
      shared = !shape.batch.empty() ? Shared::Batch
               : shape.rows.empty() || shape.columns.empty() || split->dim > 0
                   ? Shared::Columns // A vector is a row of the result.
                   : Shared::Rows;
  }
  void emit();

private:
  struct Offsets {
    Value lhs, rhs, result;
  };
  /// What workers share: the outermost loop, or tiles.
  enum class Shared : uint8_t { None, Batch, Rows, Columns };
  Offsets step(Offsets from, const DotDimension &dim, Value position);
  /// Emits a loop over k in steps; `body` maps accumulators to accumulators.
  SmallVector<Value>
  accumulate(int64_t steps, int64_t width, Offsets at, SmallVector<Value> start,
             llvm::function_ref<SmallVector<Value>(Offsets, ValueRange)> body);
  void emitAlong(int64_t size, int64_t width, DotDimension step, bool isShared,
                 Offsets at, llvm::function_ref<void(int64_t, Offsets)> emit);
  void emitTiles(int64_t unit, Offsets at);
  void emitRowTiles(int64_t columns, Offsets at);
  void emitTile(int64_t rows, int64_t columns, Offsets at);
  void emitColumnTile(int64_t rows, int64_t columns, Offsets at);
  void emitContractTile(int64_t rows, int64_t columns, Offsets at);
  SmallVector<Value> sumLanes(ArrayRef<Value> accumulators);

  KernelEmitter &kernel;
  ElementEmitter &emitter;
  OpBuilder &builder;
  Location loc;
  DotShape shape; ///< lhs and rhs, exchanged if the loops are turned
  int64_t lanes;
  nest::TileLoops loops;
  DotDimension row, column, inner;
  TileSize tile;
  Shared shared = Shared::None;
  bool alongContract;
  ElementVectors lhs, rhs, sum;
};
} // namespace

TiledDot::Offsets TiledDot::step(Offsets from, const DotDimension &dim,
                                 Value position) {
  auto advance = [&](Value offset, int64_t stride) {
    return stride == 0 ? offset
                       : emitter.add(offset, emitter.mul(position, stride));
  };
  return {advance(from.lhs, dim.lhs), advance(from.rhs, dim.rhs),
          advance(from.result, dim.result)};
}

SmallVector<Value> TiledDot::accumulate(
    int64_t steps, int64_t width, Offsets at, SmallVector<Value> start,
    llvm::function_ref<SmallVector<Value>(Offsets, ValueRange)> body) {
  if (steps == 0)
    return start;
  DotDimension wide{steps, inner.lhs * width, inner.rhs * width, 0};
  return emitter.fold(emitter.constant(0), emitter.constant(steps),
                      emitter.constant(1), start,
                      [&](Value position, ValueRange sums) {
                        return body(step(at, wide, position), sums);
                      });
}

void TiledDot::emitColumnTile(int64_t rows, int64_t columns, Offsets at) {
  int64_t vectors = (columns + lanes - 1) / lanes;
  auto body = [&](Offsets k, ValueRange sums) {
    SmallVector<Value> columnVectors, next;
    for (int64_t v = 0; v < vectors; ++v)
      columnVectors.push_back(rhs.loadFirst(
          shape.rhs, emitter.add(k.rhs, emitter.constant(v * lanes)), lanes,
          columns - v * lanes));
    for (int64_t i = 0; i < rows; ++i) {
      Value factor = lhs.loadSplat(
          shape.lhs, emitter.add(k.lhs, emitter.constant(i * row.lhs)), lanes);
      for (int64_t v = 0; v < vectors; ++v)
        next.push_back(
            sum.multiplyAdd(factor, columnVectors[v], sums[i * vectors + v]));
    }
    return next;
  };
  SmallVector<Value> sums =
      accumulate(inner.size, 1, at,
                 SmallVector<Value>(rows * vectors, sum.zeros(lanes)), body);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < vectors; ++v)
      sum.storeFirst(
          sums[i * vectors + v], shape.result,
          emitter.add(at.result, emitter.constant(i * row.result + v * lanes)),
          columns - v * lanes);
}

void TiledDot::emitContractTile(int64_t rows, int64_t columns, Offsets at) {
  auto block = [&](Offsets k, ValueRange sums, int64_t count) {
    SmallVector<Value> columnVectors, next;
    for (int64_t j = 0; j < columns; ++j)
      columnVectors.push_back(rhs.loadFirst(
          shape.rhs, emitter.add(k.rhs, emitter.constant(j * column.rhs)),
          lanes, count));
    for (int64_t i = 0; i < rows; ++i) {
      Value rowVector = lhs.loadFirst(
          shape.lhs, emitter.add(k.lhs, emitter.constant(i * row.lhs)), lanes,
          count);
      for (int64_t j = 0; j < columns; ++j)
        next.push_back(sum.multiplyAdd(rowVector, columnVectors[j],
                                       sums[i * columns + j]));
    }
    return next;
  };
  int64_t full = inner.size / lanes, rest = inner.size % lanes;
  SmallVector<Value> sums = accumulate(
      full, lanes, at, SmallVector<Value>(rows * columns, sum.zeros(lanes)),
      [&](Offsets k, ValueRange carried) { return block(k, carried, lanes); });
  if (rest != 0) {
    DotDimension end{1, inner.lhs * lanes, inner.rhs * lanes, 0};
    sums = block(step(at, end, emitter.constant(full)), sums, rest);
  }
  SmallVector<Value> totals = sumLanes(sums);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      sum.store(totals[i * columns + j], shape.result,
                emitter.add(at.result, emitter.constant(i * row.result +
                                                        j * column.result)));
}

/// Sums the lanes of each vector. A full set of vectors is halved and joined in
/// pairs: with 4 lanes, [a a a a] [b b b b] -> [a a b b] -> [a b c d].
SmallVector<Value> TiledDot::sumLanes(ArrayRef<Value> accumulators) {
  SmallVector<Value> totals;
  SmallVector<Value> level(accumulators);
  bool isFull = int64_t(level.size()) == lanes;
  if (!isFull) {
    for (Value each : level)
      totals.push_back(sum.sumOfLanes(each));
    return totals;
  }
  for (int64_t block = lanes; block > 1; block /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t start = 0; start < 2 * lanes; start += block)
      for (int64_t i = 0; i < block / 2; ++i) {
        low.push_back(start + i);
        high.push_back(start + block / 2 + i);
      }
    SmallVector<Value> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      Value a =
          vector::ShuffleOp::create(builder, loc, level[i], level[i + 1], low);
      Value b =
          vector::ShuffleOp::create(builder, loc, level[i], level[i + 1], high);
      next.push_back(sum.add(a, b));
    }
    level = next;
  }
  for (int64_t i = 0; i < lanes; ++i)
    totals.push_back(vector::ExtractOp::create(builder, loc, level[0], i));
  return totals;
}

void TiledDot::emitTile(int64_t rows, int64_t columns, Offsets at) {
  if (alongContract)
    emitContractTile(rows, columns, at);
  else
    emitColumnTile(rows, columns, at);
}

/// Emits full tiles along a dimension, or this share's of them, and a tile of
/// the rest.
void TiledDot::emitAlong(int64_t size, int64_t width, DotDimension step,
                         bool isShared, Offsets at,
                         llvm::function_ref<void(int64_t, Offsets)> emit) {
  int64_t full = size / width, rest = size % width;
  const std::optional<KernelSplit> &split = kernel.rowSplit();
  auto emitFull = [&](Value position) {
    emit(width, this->step(at, step, position));
  };
  auto emitRest = [&] {
    emit(rest, this->step(at, step, emitter.constant(full)));
  };
  if (isShared && full > 0)
    emitter.each(split->firstUnit, split->lastUnit, emitFull);
  else if (full > 0)
    emitter.eachOrOnce(full, emitFull);
  if (rest > 0 && isShared) // The rest is in the last share only.
    emitter.each(emitter.constant(0),
                 arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                        split->isLast),
                 [&](Value) { emitRest(); });
  else if (rest > 0)
    emitRest();
}

void TiledDot::emitRowTiles(int64_t columns, Offsets at) {
  DotDimension tall{0, row.lhs * tile.rows, 0, row.result * tile.rows};
  emitAlong(row.size, tile.rows, tall, shared == Shared::Rows, at,
            [&](int64_t rows, Offsets from) { emitTile(rows, columns, from); });
}

void TiledDot::emitTiles(int64_t unit, Offsets at) {
  int64_t width = tile.columns * unit;
  DotDimension wide{0, 0, column.rhs * width, column.result * width};
  emitAlong(
      column.size, width, wide, shared == Shared::Columns, at,
      [&](int64_t columns, Offsets from) { emitRowTiles(columns, from); });
}

void TiledDot::emit() {
  if (loops.isTurned) {
    std::swap(shape.lhs, shape.rhs);
    std::swap(shape.lhsFirst, shape.rhsFirst);
    std::swap(lhs, rhs);
  }
  Offsets at{emitter.constant(shape.lhsFirst), emitter.constant(shape.rhsFirst),
             emitter.constant(0)};
  for (const DotDimension &dim : loops.around) {
    bool isSplit = shared == Shared::Batch && emitter.depth() == 0;
    at = step(at, dim,
              isSplit ? kernel.openSplitLoop(dim.size)
                      : emitter.openLoop(dim.size));
  }
  emitTiles(alongContract ? 1 : lanes, at);
}

void emitTiledDot(KernelEmitter &kernel, const DotShape &shape,
                  nest::ContractionAttr walk) {
  TiledDot(kernel, shape, walk).emit();
}

} // namespace weft::cpu
