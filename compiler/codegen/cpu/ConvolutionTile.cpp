//===- ConvolutionTile.cpp - the products of a tile of a convolution ------===//

#include "weft/compiler/codegen/cpu/ConvolutionNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

//===----------------------------------------------------------------------===//
// Loops of a tile
//===----------------------------------------------------------------------===//

/// The least k >= 0 with k * dilation - before a multiple of the base dilation,
/// if there is one.
Value TiledConvolution::firstInWindow(const Window &w, Value before) {
  int64_t step = nest::stepOf(w), common = w.baseDilation / step;
  if (step == 1)
    return constant(0);
  // k = before / common * inverse mod step
  int64_t inverse = 1, dilation = w.dilation / common;
  while (dilation % step * inverse % step != 1)
    ++inverse;
  Value k = before;
  if (common > 1)
    k = arith::DivSIOp::create(b, loc, k, constant(common));
  k = arith::RemSIOp::create(b, loc, k, constant(step));
  k = e.add(scaled(k, inverse), constant(step * step));
  return arith::RemSIOp::create(b, loc, k, constant(step));
}

/// Opens the loop over a dimension of the window, over the elements that exist:
/// those k for which place * stride + k * dilation - low is a multiple of the
/// base dilation, and, unless the tile's places differ in it, is in the input.
void TiledConvolution::openWindow(unsigned i, SmallVector<Value> &sums) {
  WindowLoop &loop = windows[i];
  const Window &w = loop.window;
  bool clips = isClipped(i);
  if (w.size == 1 && w.baseDilation == 1 && !clips) {
    loop.k = constant(0);
    return;
  }
  int64_t step = nest::stepOf(w), common = w.baseDilation / step;
  Value before = arith::SubIOp::create(b, loc, constant(w.low),
                                       scaled(loop.place, w.stride));
  Value first = firstInWindow(w, before), end = constant(w.size);
  auto divided = [&](Value distance, int64_t by) -> Value {
    Value ahead = arith::MaxSIOp::create(b, loc, distance, constant(0));
    return by == 1 ? ahead
                   : arith::CeilDivUIOp::create(b, loc, ahead, constant(by));
  };
  if (clips) {
    Value least = divided(before, w.dilation);
    Value skipped = divided(arith::SubIOp::create(b, loc, least, first), step);
    first = e.add(first, scaled(skipped, step));
    Value size = constant(Window::dilated(loop.size, w.baseDilation));
    end = arith::MinSIOp::create(b, loc, end,
                                 divided(e.add(before, size), w.dilation));
  }
  if (common > 1) { // Windows that see holes alone have no products.
    Value rest = arith::RemSIOp::create(b, loc, before, constant(common));
    Value sees = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest,
                                       constant(0));
    end = arith::SelectOp::create(b, loc, sees, end, constant(0));
  }
  loop.k = e.openStridedLoop(first, end, constant(step), sums);
  sums.assign(e.innermostLoop().getRegionIterArgs().begin(),
              e.innermostLoop().getRegionIterArgs().end());
}

SmallVector<Value> TiledConvolution::close(unsigned depth,
                                           SmallVector<Value> sums) {
  while (e.depth() > depth) {
    scf::ForOp loop = e.innermostLoop();
    loop.getBody()->getTerminator()->setOperands(sums);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
    e.closeLoops(e.depth() - 1);
  }
  return sums;
}

void TiledConvolution::emitTile(const Tile &current, Value feature) {
  SmallVector<Value> sums(current.places * current.columns,
                          vectors.zeros(lanes));
  unsigned outside = e.depth();
  SmallVector<Value> rounds; ///< sums of the outermost loop's iterations so far
  auto startRound = [&] {
    if (walk.getSumsApart() && rounds.empty() && e.depth() == outside + 1) {
      rounds = sums;
      sums.assign(sums.size(), vectors.zeros(lanes));
    }
  };
  Value input = constant(0);
  auto openInputs = [&] {
    if (inputs == 1)
      return;
    input = e.openLoop(inputs, sums);
    sums.assign(e.innermostLoop().getRegionIterArgs().begin(),
                e.innermostLoop().getRegionIterArgs().end());
    startRound();
  };
  if (inputsOutside)
    openInputs();
  for (unsigned i = 0; i < windows.size(); ++i) {
    openWindow(i, sums);
    startRound();
  }
  if (along == Lanes::Inputs) {
    unsigned window = e.depth();
    if (inputs >= lanes) {
      input = e.openLoop(inputs / lanes, sums);
      SmallVector<Value> carried(e.innermostLoop().getRegionIterArgs().begin(),
                                 e.innermostLoop().getRegionIterArgs().end());
      sums = close(window, products(current, feature, scaled(input, lanes),
                                    lanes, carried));
    }
    if (inputs % lanes != 0)
      sums = products(current, feature, constant(inputs / lanes * lanes),
                      inputs % lanes, sums);
  } else {
    if (!inputsOutside)
      openInputs();
    sums = products(current, feature, input, lanes, sums);
  }
  if (!rounds.empty()) {
    sums = close(outside + 1, sums);
    for (auto [sum, before] : llvm::zip_equal(sums, rounds))
      sum = vectors.add(before, sum);
  }
  store(current, feature, close(outside, sums));
  e.closeLoops(outside);
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// Whether a window reaches over the edges of the input.
static bool seesPadding(const WindowLoop &loop) {
  const Window &w = loop.window;
  int64_t end =
      (w.count(loop.size) - 1) * w.stride + (w.size - 1) * w.dilation - w.low;
  return w.low > 0 || end >= Window::dilated(loop.size, w.baseDilation);
}

/// Whether the loop over dimension `i` of the window has only the elements that
/// are in the input.
bool TiledConvolution::isClipped(int64_t i) const {
  return i != tiledSpatial && seesPadding(windows[i]);
}

/// Whether position `place` of the tile reads an element (null: always). Adds
/// the offset of the element to `offset`.
Value TiledConvolution::visible(unsigned place, Value &offset) {
  Value inside;
  for (auto [i, loop] : llvm::enumerate(windows)) {
    const Window &w = loop.window;
    Value at = e.add(scaled(loop.place, w.stride), scaled(loop.k, w.dilation));
    if (w.low != 0)
      at = e.add(at, constant(-w.low));
    if (w.baseDilation > 1)
      at =
          arith::DivSIOp::create(b, loc, at, constant(w.baseDilation)); // exact
    if (int64_t(i) == tiledSpatial && place > 0)
      at = e.add(at, constant(place * period * w.stride / w.baseDilation));
    if (seesPadding(loop) && !isClipped(i)) {
      Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           at, constant(loop.size));
      inside = inside
                   ? arith::AndIOp::create(b, loc, inside, exists).getResult()
                   : exists;
      at = arith::SelectOp::create(b, loc, exists, at, constant(0));
    }
    offset = e.add(offset, scaled(at, loop.lhs));
  }
  return inside;
}

SmallVector<Value> TiledConvolution::products(const Tile &current,
                                              Value feature, Value input,
                                              int64_t count, ValueRange sums) {
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims();
  Value weights = scaled(input, rhs.strides[r[1]]);
  if (!panel)
    weights = e.add(weights, scaled(feature, rhs.strides[r[0]]));
  weights = e.add(weights, constant(rhs.first));
  for (const WindowLoop &loop : windows)
    weights = e.add(weights, scaled(loop.k, loop.rhs));
  SmallVector<Value> columns, next;
  for (int64_t v = 0; v < current.columns; ++v) {
    int64_t left =
        along == Lanes::Inputs ? count : current.features - v * lanes;
    int64_t step = along == Lanes::Inputs ? rhs.strides[r[0]] : lanes;
    columns.push_back(rhsVectors.loadFirst(
        rhs.pointer, e.add(weights, constant(v * step)), lanes, left));
  }
  Value zero = vectors.zeros(lanes);
  for (int64_t i = 0; i < current.places; ++i) {
    Value from = e.add(constant(lhs.first), scaled(sample, lhs.strides[l[0]]));
    if (tiledSpatial < 0)
      from = e.add(from, constant(i * lhs.strides[l[0]]));
    from = e.add(from, scaled(e.add(firstInput, input), lhs.strides[l[1]]));
    Value inside = visible(i, from);
    auto orZero = [&](Value x, Value otherwise) {
      return inside ? arith::SelectOp::create(b, loc, inside, x, otherwise)
                          .getResult()
                    : x;
    };
    Value shared;
    if (along == Lanes::Outputs) {
      shared = orZero(lhsVectors.loadSplat(lhs.pointer, from, lanes), zero);
    } else if (along == Lanes::Inputs) {
      shared =
          orZero(lhsVectors.loadFirst(lhs.pointer, from, lanes, count), zero);
    }
    for (int64_t v = 0; v < current.columns; ++v) {
      Value x = shared;
      if (along == Lanes::Channels) {
        Value channel = e.add(from, e.add(feature, constant(v * lanes)));
        x = orZero(lhsVectors.loadFirst(lhs.pointer, channel, lanes,
                                        current.features - v * lanes),
                   zero);
      }
      next.push_back(
          vectors.multiplyAdd(x, columns[v], sums[i * current.columns + v]));
    }
  }
  return next;
}

void TiledConvolution::store(const Tile &current, Value feature,
                             ArrayRef<Value> sums) {
  Value pointer = e.memoryOf(op.getResult());
  int64_t stride = strides[op.getResultDims()[1]];
  for (int64_t i = 0; i < current.places; ++i)
    for (int64_t v = 0; v < current.columns; ++v) {
      Value sum = sums[i * current.columns + v];
      Value at = e.add(resultBase, constant(i * period * strides[tiled]));
      at = e.add(at, scaled(feature, stride));
      if (along != Lanes::Inputs) {
        vectors.storeFirst(sum, pointer, e.add(at, constant(v * lanes)),
                           current.features - v * lanes);
        continue;
      }
      vectors.store(vectors.sumOfLanes(sum), pointer,
                    e.add(at, constant(v * stride)));
    }
}

} // namespace weft::cpu
