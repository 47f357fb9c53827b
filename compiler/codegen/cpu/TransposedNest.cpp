//===- TransposedNest.cpp - elements that are read the other way ----------===//
//
// A tile of an operand that lies side by side along the other dimension is
// transposed in registers first, so that the elements of a tile are vectors:
//
//   for rows, columns by tiles of 32      %r = weft.add %a, weft.transpose %b
//     for squares of 16 x 16              t[i][j] = b[columns + j][rows + i]
//     for i, j in the tile                r[i][j] = a[i][j] + t[i][j]
//
// Squares of a value that is stored as it is are stored in the result at once.
//
// Tiles at an end, and elements that are no vectors of 4 or 8 bytes, are read
// one by one.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/DotPanels.h"
#include "weft/compiler/codegen/cpu/ElementVectors.h"
#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/dialects/nest/TransposedWalk.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

namespace {
/// A tile of a turned value in scratch memory, in the order of the nest.
struct TurnedTile {
  Value value;
  StridedView view;
  Value memory;
};

/// A nest over tiles of the dimension `along` and the last one.
class TransposedNest {
public:
  TransposedNest(KernelEmitter &kernel [[clang::lifetimebound]],
                 nest::LoopsOp loops, int64_t along)
      : kernel(kernel), e(kernel.elements), b(e.builder),
        roots(loops.getStored()), type(typeOf(roots[0])), along(along),
        last(type.getRank() - 1), dims(type.getRank()) {}
  LogicalResult emit();

private:
  /// The positions of a tile along a dimension.
  struct Range {
    Value begin, end;
  };
  void placeTiles();
  Range rangeOf(int64_t dim);
  LogicalResult eachPart(const Range &of, int64_t size,
                         llvm::function_ref<LogicalResult(Range)> body);
  Value isFull(const Range &range);
  bool isStored(const TurnedTile &tile) const {
    return roots.size() == 1 && tile.value == roots[0];
  }
  void turn(const TurnedTile &tile, Value first, Value pointer, Value start,
            int64_t stride);
  LogicalResult emitFull(const Range &rows, const Range &columns);
  LogicalResult emitElements(const Range &rows, const Range &columns);
  LogicalResult emitTile(const Range &rows, const Range &columns);

  KernelEmitter &kernel;
  ElementEmitter &e;
  OpBuilder &b;
  SmallVector<Value> roots;
  RankedTensorType type;
  int64_t along, last;
  SmallVector<Value> dims; ///< positions
  SmallVector<TurnedTile> tiles;
};
} // namespace

void TransposedNest::placeTiles() {
  auto isInMemory = [&](Value value) { // The roots are computed.
    return e.isInMemory(value) && !llvm::is_contained(roots, value);
  };
  Value memory = e.scratch();
  if (!memory)
    return;
  int64_t at = 0;
  for (Value value : nest::turnedValues(roots, along, isInMemory)) {
    if (!nest::isTurnedByVectors(value, along, kernel.target.vectorBytes,
                                 isInMemory))
      continue;
    nest::TensorView view = *nest::viewOf(value, isInMemory);
    Type element = typeOf(value).getElementType();
    ElementVectors elements(b, e.loc, element, element);
    int64_t bytes = bytesOf(element);
    tiles.push_back({value, StridedView{view.strides, e.memoryOf(view.root)},
                     elements.address(memory, e.constant(at / bytes))});
    at += nest::kTurnedTile * nest::kTurnedTile * bytes;
  }
}

TransposedNest::Range TransposedNest::rangeOf(int64_t dim) {
  const std::optional<KernelSplit> &split = kernel.rowSplit();
  if (dim == 0 && split)
    return {split->begin, split->end};
  return {e.constant(0), e.constant(type.getDimSize(dim))};
}

/// Builds a loop over parts of the range.
LogicalResult
TransposedNest::eachPart(const Range &of, int64_t size,
                         llvm::function_ref<LogicalResult(Range)> body) {
  Value length = e.constant(size);
  return e.loop(of.begin, of.end, length, [&](Value begin) {
    return body({begin, arith::MinSIOp::create(b, e.loc, e.add(begin, length),
                                               of.end)});
  });
}

Value TransposedNest::isFull(const Range &range) {
  Value count = arith::SubIOp::create(b, e.loc, range.end, range.begin);
  return arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::eq, count,
                               e.constant(nest::kTurnedTile));
}

/// Transposes a tile whose first element is at `first` of the value's memory to
/// rows that are `stride` elements apart, from `start` on.
void TransposedNest::turn(const TurnedTile &tile, Value first, Value pointer,
                          Value start, int64_t stride) {
  auto raw = b.getIntegerType(8 * bytesOf(typeOf(tile.value).getElementType()));
  ElementVectors vectors(b, e.loc, raw, raw);
  int64_t lanes = kernel.target.vectorBytes / bytesOf(raw),
          step = tile.view.strides.back();
  auto turnSquare = [&](Value row, Value column) {
    Value from = e.add(first, e.add(row, e.mul(column, step)));
    SmallVector<Value> rows;
    for (int64_t i = 0; i < lanes; ++i)
      rows.push_back(vectors.load(tile.view.pointer,
                                  e.add(from, e.constant(i * step)), lanes));
    vectors.transpose(rows);
    Value to = e.add(start, e.add(e.mul(row, stride), column));
    for (auto [i, turned] : llvm::enumerate(rows))
      vectors.store(turned, pointer, e.add(to, e.constant(i * stride)));
  };
  Value zero = e.constant(0), count = e.constant(nest::kTurnedTile / lanes);
  eachPlain(e, zero, count, [&](Value i) {
    Value row = e.mul(i, lanes);
    eachPlain(e, zero, count,
              [&](Value j) { turnSquare(row, e.mul(j, lanes)); });
  });
}

LogicalResult TransposedNest::emitFull(const Range &rows,
                                       const Range &columns) {
  dims[along] = rows.begin;
  dims[last] = columns.begin;
  for (const TurnedTile &tile : tiles) {
    Value first = e.constant(tile.view.first);
    for (auto [at, stride] : llvm::zip_equal(dims, tile.view.strides))
      first = e.add(first, e.mul(at, stride));
    if (isStored(tile)) {
      Value start =
          e.linearIndex(type.getShape(), e.makeIndex(dims, e.depth()));
      turn(tile, first, e.memoryOf(tile.value), start,
           llvm::product_of(type.getShape().drop_front(along + 1)));
      return success();
    }
    turn(tile, first, tile.memory, e.constant(0), nest::kTurnedTile);
  }
  auto storeAt = [&](Value i, Value j) {
    dims[along] = e.add(rows.begin, i);
    dims[last] = e.add(columns.begin, j);
    ElementIndex index = e.makeIndex(dims, e.depth());
    for (const TurnedTile &tile : tiles)
      e.setElement(tile.value, index,
                   e.load(tile.memory, typeOf(tile.value).getElementType(),
                          e.add(e.mul(i, nest::kTurnedTile), j)));
    return kernel.storeElements(roots, index);
  };
  return e.loop(nest::kTurnedTile, [&](Value i) {
    return e.loop(nest::kTurnedTile, [&](Value j) { return storeAt(i, j); });
  });
}

LogicalResult TransposedNest::emitElements(const Range &rows,
                                           const Range &columns) {
  Value one = e.constant(1);
  return e.loop(rows.begin, rows.end, one, [&](Value row) {
    return e.loop(columns.begin, columns.end, one, [&](Value column) {
      dims[along] = row;
      dims[last] = column;
      return kernel.storeElements(roots, e.makeIndex(dims, e.depth()));
    });
  });
}

LogicalResult TransposedNest::emitTile(const Range &rows,
                                       const Range &columns) {
  if (tiles.empty())
    return emitElements(rows, columns);
  LogicalResult full = success(), cut = success();
  Value isWhole =
      arith::AndIOp::create(b, e.loc, isFull(rows), isFull(columns));
  emitIf(
      e, isWhole, [&] { full = emitFull(rows, columns); },
      [&] { cut = emitElements(rows, columns); });
  return success(succeeded(full) && succeeded(cut));
}

LogicalResult TransposedNest::emit() {
  placeTiles();
  for (int64_t dim = 0; dim < last; ++dim)
    if (dim != along)
      dims[dim] = dim == 0 ? kernel.openSplitLoop(type.getDimSize(dim))
                           : e.openLoop(type.getDimSize(dim));
  // The runs of a part's rows are long enough to be fetched ahead.
  auto emitPart = [&](const Range &part, const Range &wide) {
    return eachPart(part, nest::kTurnedTile, [&](Range rows) {
      return eachPart(wide, nest::kTurnedTile,
                      [&](Range columns) { return emitTile(rows, columns); });
    });
  };
  return eachPart(rangeOf(along), nest::kTurnedPart, [&](Range part) {
    return eachPart(rangeOf(last), nest::kTurnedColumns,
                    [&](Range wide) { return emitPart(part, wide); });
  });
}

LogicalResult emitTransposed(KernelEmitter &kernel, nest::LoopsOp loops,
                             nest::TransposedAttr walk) {
  return TransposedNest(kernel, loops, walk.getAlong()).emit();
}

} // namespace weft::cpu
