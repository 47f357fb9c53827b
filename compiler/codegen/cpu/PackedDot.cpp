//===- PackedDot.cpp - large contractions ---------------------------------===//
//
// Blocks of both operands are packed (DotPanels.h), so that the register tile
// reads memory in order and from a cache:
//
//   for columns by blocks[1], for k by blocks[2]:
//     pack rhs[k.., columns..]                      stays in L2 and L3
//     for rows by blocks[0]:
//       pack lhs[rows.., k..]                       stays in L2
//       for panels of columns                       a panel stays in L1
//         for panels of rows:
//           acc[mr][nr] = 0
//           for k:  acc[i][j] += lhs panel[k][i] * rhs panel[k][j]
//           result tile = acc, or += acc after the first block of k
//
// A tile at an end computes all elements and stores those within the result.
// Rows, columns and k may each be several dimensions of any strides: packing
// follows these. The nest's epilogue is computed on a tile after the last block
// of k (Epilogue.h). Operands of a narrower type than the result's are extended
// as they are packed.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/DotPanels.h"
#include "weft/compiler/codegen/cpu/ElementVectors.h"
#include "weft/compiler/codegen/cpu/Epilogue.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

namespace {
class PackedDot {
public:
  PackedDot(KernelEmitter &kernel [[clang::lifetimebound]],
            const DotShape &shape [[clang::lifetimebound]], nest::LoopsOp loops,
            nest::ContractionAttr walk);
  LogicalResult emit();

private:
  LogicalResult eachBlock(Value begin, Value end, int64_t block,
                          llvm::function_ref<LogicalResult(DotRange)> body);
  void placeScratch();
  LogicalResult emitColumns();
  LogicalResult emitTiles(DotRange rows, DotRange columns, DotRange k);
  SmallVector<Value> accumulate(Value lhsPanel, Value rhsPanel, Value steps);
  LogicalResult store(ArrayRef<Value> sums, Value row, Value column,
                      DotRange k);
  void storeSums(ArrayRef<Value> sums, Value row, Value column, Value k);
  LogicalResult storeEpilogue(ArrayRef<Value> sums, Value row, Value column);
  void storeFull(ArrayRef<Value> sums, Value row, Value column, bool adds);
  void storeCut(ArrayRef<Value> sums, Value row, Value column, Value isFirst);
  void spill(ArrayRef<Value> sums);
  /// The number of positions of a tile from `first` on that are within the
  /// panels.
  Value within(const DotPanels &panels, Value first) {
    return least(e.constant(panels.width),
                 minus(e.constant(panels.across.size()), first));
  }
  Value least(Value a, Value b) {
    return arith::MinUIOp::create(builder, e.loc, a, b);
  }
  Value minus(Value a, Value b) {
    return arith::SubIOp::create(builder, e.loc, a, b);
  }
  Value compare(arith::CmpIPredicate how, Value a, Value b) {
    return arith::CmpIOp::create(builder, e.loc, how, a, b);
  }
  SmallVector<Value> startSums(Value rhsPanel, Value steps);
  SmallVector<Value> overSteps(
      Value steps, ValueRange first,
      llvm::function_ref<SmallVector<Value>(Value k, ValueRange sums)> body);
  Value multiplyAdd(Value factor, Value column, Value sum);
  bool hasOneBlock() const { return depthBlock >= lhs.along.size(); }
  /// Whether the columns of a tile are contiguous in the result.
  bool hasFullTiles() const { return resultColumns.hasRunsOf(rhs.width); }

  KernelEmitter &kernel;
  ElementEmitter &e;
  OpBuilder &builder;
  const DotShape &shape;
  ElementVectors vectors; ///< vectors of the result and of the packed operands
  int64_t lanes, bytes;   ///< bytes of an element
  int64_t tileVectors;    ///< vectors of columns in a tile
  DotPanels lhs, rhs;
  DotPath resultRows, resultColumns;
  int64_t rowBlock, columnBlock, depthBlock;
  Value resultBase, lhsBlock, rhsBlock, tile;
  Epilogue epilogue;
};
} // namespace

PackedDot::PackedDot(KernelEmitter &kernel, const DotShape &shape,
                     nest::LoopsOp loops, nest::ContractionAttr walk)
    : kernel(kernel), e(kernel.elements), builder(e.builder), shape(shape),
      vectors(builder, e.loc, shape.resultType, shape.resultType),
      lanes(lanesOf(kernel, shape)), bytes(bytesOf(shape.resultType)),
      tileVectors(walk.getTile()[1]),
      lhs{shape.lhs,
          {},
          shape.lhsType,
          DotPath(shape.rows, &DotDimension::lhs),
          DotPath(shape.contract, &DotDimension::lhs),
          walk.getTile()[0]},
      rhs{shape.rhs,
          {},
          shape.rhsType,
          DotPath(shape.columns, &DotDimension::rhs),
          DotPath(shape.contract, &DotDimension::rhs),
          tileVectors * lanes},
      resultRows(shape.rows, &DotDimension::result),
      resultColumns(shape.columns, &DotDimension::result),
      rowBlock(walk.getBlocks()[0]), columnBlock(walk.getBlocks()[1]),
      depthBlock(walk.getBlocks()[2]), epilogue(kernel, loops) {
  lhs.together = rhs.together = stepsTogether(shape.lhsType, shape.rhsType,
                                              shape.resultType, kernel.target);
  lhs.flips = lhs.together == 4 && !shape.lhsType.isUnsignedInteger();
}

void PackedDot::placeScratch() {
  int64_t ofRhs = columnBlock * depthBlock + nest::kPanelSlack,
          ofLhs = rowBlock * depthBlock + nest::kPanelSlack;
  int64_t elements[] = {ofRhs, ofLhs, lhs.width * rhs.width};
  Value *places[] = {&rhsBlock, &lhsBlock, &tile};
  for (int64_t &each : elements)
    each = llvm::alignTo(each, 64 / bytes);
  Value at = e.scratch();
  for (auto [each, place] : llvm::zip_equal(elements, places)) {
    *place = at;
    at = vectors.address(at, e.constant(each));
  }
}

/// Builds a loop over the blocks of [begin, end).
LogicalResult
PackedDot::eachBlock(Value begin, Value end, int64_t block,
                     llvm::function_ref<LogicalResult(DotRange)> body) {
  return e.loop(begin, end, e.constant(block), [&](Value first) {
    e.markPlain();
    return body({first, least(e.constant(block), minus(end, first))});
  });
}

LogicalResult PackedDot::emit() {
  placeScratch();
  Value zero = e.constant(0);
  lhs.base = e.constant(shape.lhsFirst);
  rhs.base = e.constant(shape.rhsFirst);
  resultBase = zero;
  for (const DotDimension &dim : shape.batch) {
    Value position =
        e.depth() == 0 ? kernel.openSplitLoop(dim.size) : e.openLoop(dim.size);
    lhs.base = e.add(lhs.base, e.mul(position, dim.lhs));
    rhs.base = e.add(rhs.base, e.mul(position, dim.rhs));
    resultBase = e.add(resultBase, e.mul(position, dim.result));
  }
  return emitColumns();
}

LogicalResult PackedDot::emitColumns() {
  Value zero = e.constant(0);
  auto ofDepth = [&](DotRange columns, DotRange k) {
    packPanels(kernel, rhs, columns, k, shape.resultType, rhsBlock);
    const std::optional<KernelSplit> &split = kernel.rowSplit();
    bool isShared = split && shape.batch.empty();
    Value begin = isShared ? split->begin : zero,
          end = isShared ? split->end : e.constant(lhs.across.size());
    return eachBlock(begin, end, rowBlock, [&](DotRange rows) {
      packPanels(kernel, lhs, rows, k, shape.resultType, lhsBlock);
      return emitTiles(rows, columns, k);
    });
  };
  return eachBlock(
      zero, e.constant(rhs.across.size()), columnBlock, [&](DotRange columns) {
        return eachBlock(zero, e.constant(lhs.along.size()), depthBlock,
                         [&](DotRange k) { return ofDepth(columns, k); });
      });
}

LogicalResult PackedDot::emitTiles(DotRange rows, DotRange columns,
                                   DotRange k) {
  auto emitTile = [&](Value i, Value j) {
    Value steps = packedSteps(e, k.count, lhs);
    auto panel = [&](Value block, Value number, int64_t width) {
      Value at =
          arith::MulIOp::create(builder, e.loc, number, e.mul(steps, width));
      return vectors.address(block, at);
    };
    SmallVector<Value> sums = accumulate(panel(lhsBlock, i, lhs.width),
                                         panel(rhsBlock, j, rhs.width), steps);
    return store(sums, e.add(rows.first, e.mul(i, lhs.width)),
                 e.add(columns.first, e.mul(j, rhs.width)), k);
  };
  LogicalResult done = success();
  Value zero = e.constant(0);
  eachPlain(e, zero, panelCount(e, columns.count, rhs.width), [&](Value j) {
    eachPlain(e, zero, panelCount(e, rows.count, lhs.width),
              [&](Value i) { done = emitTile(i, j); });
  });
  return done;
}

/// Adds the products of all steps in the elements.
Value PackedDot::multiplyAdd(Value factor, Value column, Value sum) {
  if (lhs.together == 1)
    return vectors.multiplyAdd(factor, column, sum);
  auto parts = VectorType::get(lhs.together * lanes,
                               builder.getIntegerType(32 / lhs.together));
  auto divided = [&](Value value) -> Value {
    return LLVM::BitcastOp::create(builder, e.loc, parts, value);
  };
  auto call = [&](StringRef name, ValueRange operands) -> Value {
    return LLVM::CallIntrinsicOp::create(builder, e.loc, vectors.type(lanes),
                                         builder.getStringAttr(name), operands)
        .getResult(0);
  };
  if (lhs.together == 4)
    return call("llvm.x86.avx512.vpdpbusd.512",
                {sum, divided(factor), divided(column)});
  StringRef name = lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                   : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                : "llvm.x86.sse2.pmadd.wd";
  return vectors.add(call(name, {divided(factor), divided(column)}), sum);
}

/// A loop over the steps of a panel that carries sums.
SmallVector<Value> PackedDot::overSteps(
    Value steps, ValueRange first,
    llvm::function_ref<SmallVector<Value>(Value k, ValueRange sums)> body) {
  return e.fold(e.constant(0), steps, e.constant(1), first,
                [&](Value k, ValueRange sums) {
                  e.markPlain();
                  return body(k, sums);
                });
}

/// What a tile's sums start from: 0, or, if the rows are flipped, -128 times the
/// sums of the columns.
SmallVector<Value> PackedDot::startSums(Value rhsPanel, Value steps) {
  SmallVector<Value> start(tileVectors, vectors.zeros(lanes));
  if (lhs.flips) {
    auto ofColumns = overSteps(steps, start, [&](Value k, ValueRange sums) {
      Value ofAll = vector::BroadcastOp::create(
          builder, e.loc, vectors.type(lanes),
          e.constant(int32_t(0x80808080), shape.resultType));
      SmallVector<Value> next;
      for (int64_t v = 0; v < tileVectors; ++v)
        next.push_back(multiplyAdd(
            ofAll,
            vectors.load(rhsPanel,
                         e.add(e.mul(k, rhs.width), e.constant(v * lanes)),
                         lanes),
            sums[v]));
      return next;
    });
    for (auto [first, sum] : llvm::zip_equal(start, ofColumns))
      first = arith::SubIOp::create(builder, e.loc, first, sum);
  }
  SmallVector<Value> all;
  for (int64_t i = 0; i < lhs.width; ++i)
    llvm::append_range(all, start);
  return all;
}

SmallVector<Value> PackedDot::accumulate(Value lhsPanel, Value rhsPanel,
                                         Value steps) {
  auto add = [&](Value k, ValueRange sums) {
    Value lhsAt = e.mul(k, lhs.width), rhsAt = e.mul(k, rhs.width);
    SmallVector<Value> columns, next;
    for (int64_t v = 0; v < tileVectors; ++v)
      columns.push_back(
          vectors.load(rhsPanel, e.add(rhsAt, e.constant(v * lanes)), lanes));
    for (int64_t i = 0; i < lhs.width; ++i) {
      Value factor = vector::BroadcastOp::create(
          builder, e.loc, vectors.type(lanes),
          vectors.loadScalar(lhsPanel, e.add(lhsAt, e.constant(i))));
      for (int64_t v = 0; v < tileVectors; ++v)
        next.push_back(multiplyAdd(factor, columns[v], sums[next.size()]));
    }
    return next;
  };
  return overSteps(steps, startSums(rhsPanel, steps), add);
}

/// Stores sums, or computes the epilogue after the last block of the
/// contraction.
LogicalResult PackedDot::store(ArrayRef<Value> sums, Value row, Value column,
                               DotRange k) {
  if (epilogue.isEmpty()) {
    storeSums(sums, row, column, k.first);
    return success();
  }
  if (hasOneBlock())
    return storeEpilogue(sums, row, column);
  Value isLast = compare(arith::CmpIPredicate::eq, e.add(k.first, k.count),
                         e.constant(lhs.along.size()));
  LogicalResult done = success();
  emitIf(
      e, isLast, [&] { done = storeEpilogue(sums, row, column); },
      [&] { storeSums(sums, row, column, k.first); });
  return done;
}

LogicalResult PackedDot::storeEpilogue(ArrayRef<Value> sums, Value row,
                                       Value column) {
  spill(sums);
  Value first = e.add(resultBase, offset(e, resultColumns, column));
  auto start = [&](Value i) -> Value {
    return e.add(first, offset(e, resultRows, e.add(row, i)));
  };
  SummedTile summed{tile, rhs.width, within(lhs, row), start, !hasOneBlock()};
  Value all = e.constant(rhs.width);
  if (rhs.across.size() % rhs.width == 0)
    return epilogue.emit(summed, all);
  Value columns = within(rhs, column);
  LogicalResult full = success(), cut = success();
  emitIf(
      e, compare(arith::CmpIPredicate::eq, columns, all),
      [&] { full = epilogue.emit(summed, all); },
      [&] { cut = epilogue.emit(summed, columns); });
  return success(succeeded(full) && succeeded(cut));
}

/// Stores the sums of the contraction's first block; adds the sums of later
/// blocks.
void PackedDot::storeSums(ArrayRef<Value> sums, Value row, Value column,
                          Value k) {
  using Predicate = arith::CmpIPredicate;
  Value isFirst = compare(Predicate::eq, k, e.constant(0));
  auto cut = [&] { storeCut(sums, row, column, isFirst); };
  if (!hasFullTiles())
    return cut();
  Value isFull; // null if every tile is full
  for (auto [panels, at] : {std::pair(&lhs, row), {&rhs, column}}) {
    int64_t size = panels->across.size();
    if (size % panels->width == 0)
      continue;
    Value fits = compare(Predicate::sle, at, e.constant(size - panels->width));
    isFull =
        isFull ? arith::AndIOp::create(builder, e.loc, isFull, fits).getResult()
               : fits;
  }
  auto first = [&] { storeFull(sums, row, column, false); };
  auto later = [&] { storeFull(sums, row, column, true); };
  auto full = [&] {
    hasOneBlock() ? first() : emitIf(e, isFirst, first, later);
  };
  isFull ? emitIf(e, isFull, full, cut) : full();
}

void PackedDot::storeFull(ArrayRef<Value> sums, Value row, Value column,
                          bool adds) {
  Value first = e.add(resultBase, offset(e, resultColumns, column));
  for (int64_t i = 0; i < lhs.width; ++i) {
    Value start =
        e.add(first, offset(e, resultRows, e.add(row, e.constant(i))));
    for (int64_t v = 0; v < tileVectors; ++v) {
      Value at = e.add(start, e.constant(v * lanes)),
            sum = sums[i * tileVectors + v];
      if (adds)
        sum = vectors.add(sum, vectors.load(shape.result, at, lanes));
      vectors.store(sum, shape.result, at);
    }
  }
}

void PackedDot::spill(ArrayRef<Value> sums) {
  for (auto [n, sum] : llvm::enumerate(sums))
    vectors.store(sum, tile, e.constant(n * lanes));
}

/// Stores through a buffer, so that only elements within the result are
/// written.
void PackedDot::storeCut(ArrayRef<Value> sums, Value row, Value column,
                         Value isFirst) {
  spill(sums);
  Value rows = within(lhs, row), columns = within(rhs, column);
  eachPlain(e, e.constant(0), rows, [&](Value i) {
    Value start = e.add(resultBase, offset(e, resultRows, e.add(row, i)));
    eachPlain(e, e.constant(0), columns, [&](Value j) {
      Value at = e.add(start, offset(e, resultColumns, e.add(column, j)));
      Value sum = vectors.loadScalar(tile, e.add(e.mul(i, rhs.width), j));
      if (!hasOneBlock()) {
        Value added = vectors.add(sum, vectors.loadScalar(shape.result, at));
        sum = arith::SelectOp::create(builder, e.loc, isFirst, sum, added);
      }
      vectors.store(sum, shape.result, at);
    });
  });
}

LogicalResult emitPackedDot(KernelEmitter &kernel, const DotShape &shape,
                            nest::LoopsOp loops, nest::ContractionAttr walk) {
  return PackedDot(kernel, shape, loops, walk).emit();
}

} // namespace weft::cpu
