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

/// The elements of a dimension of the window that exist: those k for which
/// place * stride + k * dilation - low is a multiple of the base dilation, and,
/// unless the tile's places differ in it, is in the input. Nothing if that is
/// the only element, 0.
std::optional<TiledConvolution::Range> TiledConvolution::rangeOf(unsigned i,
                                                                 Value place) {
  const Window &w = windows[i].window;
  bool clips = isClipped(i);
  if (w.size == 1 && w.baseDilation == 1 && !clips)
    return std::nullopt;
  int64_t step = nest::stepOf(w), common = w.baseDilation / step;
  Value before =
      arith::SubIOp::create(b, loc, constant(w.low), scaled(place, w.stride));
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
    Value size = constant(Window::dilated(windows[i].size, w.baseDilation));
    end = arith::MinSIOp::create(b, loc, end,
                                 divided(e.add(before, size), w.dilation));
  }
  if (common > 1) { // Windows that see holes alone have no products.
    Value rest = arith::RemSIOp::create(b, loc, before, constant(common));
    Value sees = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest,
                                       constant(0));
    end = arith::SelectOp::create(b, loc, sees, end, constant(0));
  }
  return Range{first, end, constant(step)};
}

/// A loop over products. If the walk adds sums apart, each iteration of a
/// tile's outermost loop starts from zeros, and adds its sums at its end.
TiledConvolution::Values TiledConvolution::sumLoop(const At &at,
                                                   const Range &range,
                                                   ValueRange sums, Body body) {
  bool isApart = walk.getSumsApart() && e.depth() == at.depth;
  return e.fold(range.first, range.end, range.step, sums,
                [&](Value i, ValueRange before) {
                  if (!isApart)
                    return body(i, before);
                  Values next =
                      body(i, Values(before.size(), vectors.zeros(lanes)));
                  for (auto [sum, last] : llvm::zip_equal(next, before))
                    sum = vectors.add(last, sum);
                  return next;
                });
}

TiledConvolution::Values
TiledConvolution::overInputs(const At &at, ValueRange sums, Body body) {
  if (shape.inputs == 1)
    return body(constant(0), sums);
  return sumLoop(at, {constant(0), constant(shape.inputs), constant(1)}, sums,
                 body);
}

/// Loops over the dimensions of the window from k.size() on.
TiledConvolution::Values TiledConvolution::overWindow(const At &at,
                                                      ValueRange k,
                                                      ValueRange sums,
                                                      InWindow body) {
  unsigned dim = k.size();
  if (dim == windows.size())
    return body(k, sums);
  auto inside = [&](Value i, ValueRange carried) {
    Values all(k);
    all.push_back(i);
    return overWindow(at, all, carried, body);
  };
  std::optional<Range> range = rangeOf(dim, at.places[dim]);
  return range ? sumLoop(at, *range, sums, inside) : inside(constant(0), sums);
}

void TiledConvolution::emitTile(const Tile &current, Value feature, At at) {
  at.depth = e.depth();
  auto add = [&](ValueRange k, Value input, ValueRange sums) {
    return products(current, feature, at, k, input, lanes, sums);
  };
  Values sums(current.places * current.columns, vectors.zeros(lanes));
  if (along == Lanes::Inputs)
    sums = overWindow(at, {}, sums, [&](ValueRange k, ValueRange before) {
      return lanesOfInputs(current, feature, at, k, before);
    });
  else if (shape.inputsOutside)
    sums = overInputs(at, sums, [&](Value input, ValueRange before) {
      return overWindow(at, {}, before, [&](ValueRange k, ValueRange last) {
        return add(k, input, last);
      });
    });
  else
    sums = overWindow(at, {}, sums, [&](ValueRange k, ValueRange before) {
      return overInputs(at, before, [&](Value input, ValueRange last) {
        return add(k, input, last);
      });
    });
  store(current, feature, at, sums);
}

/// Adds the products of all input features, which are lanes of vectors.
TiledConvolution::Values
TiledConvolution::lanesOfInputs(const Tile &current, Value feature,
                                const At &at, ValueRange k, ValueRange before) {
  int64_t full = shape.inputs / lanes, rest = shape.inputs % lanes;
  Values sums(before);
  if (full > 0)
    sums = e.fold(constant(0), constant(full), constant(1), before,
                  [&](Value i, ValueRange carried) {
                    return products(current, feature, at, k, scaled(i, lanes),
                                    lanes, carried);
                  });
  if (rest != 0)
    sums =
        products(current, feature, at, k, constant(full * lanes), rest, sums);
  return sums;
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// Whether a window reaches over the edges of the input.
static bool seesPadding(const WindowDim &dim) {
  const Window &w = dim.window;
  int64_t end =
      (w.count(dim.size) - 1) * w.stride + (w.size - 1) * w.dilation - w.low;
  return w.low > 0 || end >= Window::dilated(dim.size, w.baseDilation);
}

/// Whether the loop over dimension `i` of the window has only the elements that
/// are in the input.
bool TiledConvolution::isClipped(unsigned i) const {
  return int64_t(i) != shape.tiledSpatial && seesPadding(windows[i]);
}

/// What element `k` of the window reads along dimension `i`, in position
/// `place` of the tile whose first position is `first`.
TiledConvolution::Seen TiledConvolution::see(unsigned i, unsigned place,
                                             Value first, Value k) {
  const WindowDim &dim = windows[i];
  const Window &w = dim.window;
  Value at = e.add(scaled(first, w.stride), scaled(k, w.dilation));
  if (w.low != 0)
    at = e.add(at, constant(-w.low));
  if (w.baseDilation > 1)
    at = arith::DivSIOp::create(b, loc, at, constant(w.baseDilation)); // exact
  if (int64_t(i) == shape.tiledSpatial && place > 0)
    at = e.add(at, constant(place * shape.period * w.stride / w.baseDilation));
  if (!seesPadding(dim) || isClipped(i))
    return {at, {}};
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at,
                                       constant(dim.size));
  return {arith::SelectOp::create(b, loc, exists, at, constant(0)), exists};
}

/// The offset in the input of what window element `k` of an input feature reads
/// in position `place` of the tile.
TiledConvolution::Seen TiledConvolution::see(unsigned place, const At &at,
                                             ValueRange k, Value input) {
  ArrayRef<int64_t> l = op.getLhsDims();
  const StridedView &view = at.lhs.view;
  Value from =
      e.add(constant(view.first), scaled(at.sample, view.strides[l[0]]));
  if (shape.tiledSpatial < 0)
    from = e.add(from, constant(place * view.strides[l[0]]));
  from = e.add(from, scaled(e.add(at.firstInput, input), view.strides[l[1]]));
  Value exists;
  for (auto [dim, each] : llvm::enumerate(k)) {
    Seen seen = see(dim, place, at.places[dim], each);
    if (seen.exists)
      exists =
          exists
              ? arith::AndIOp::create(b, loc, exists, seen.exists).getResult()
              : seen.exists;
    from = e.add(from, scaled(seen.at, windows[dim].lhs));
  }
  return {from, exists};
}

SmallVector<Value> TiledConvolution::products(const Tile &current,
                                              Value feature, const At &at,
                                              ValueRange k, Value input,
                                              int64_t count, ValueRange sums) {
  ArrayRef<int64_t> r = op.getRhsDims();
  Operand lhs = at.lhs, rhs = at.rhs;
  Value weights = scaled(input, rhs.view.strides[r[1]]);
  if (!at.panel)
    weights = e.add(weights, scaled(feature, rhs.view.strides[r[0]]));
  weights = e.add(weights, constant(rhs.view.first));
  for (auto [dim, i] : llvm::zip_equal(windows, k))
    weights = e.add(weights, scaled(i, dim.rhs));
  Values columns, next;
  for (int64_t v = 0; v < current.columns; ++v) {
    int64_t left =
        along == Lanes::Inputs ? count : current.features - v * lanes;
    int64_t step = along == Lanes::Inputs ? rhs.view.strides[r[0]] : lanes;
    columns.push_back(rhs.vectors.loadFirst(
        rhs.view.pointer, e.add(weights, constant(v * step)), lanes, left));
  }
  Value zero = vectors.zeros(lanes);
  for (int64_t i = 0; i < current.places; ++i) {
    auto [from, inside] = see(i, at, k, input);
    auto orZero = [&, exists = inside](Value x) {
      return exists
                 ? arith::SelectOp::create(b, loc, exists, x, zero).getResult()
                 : x;
    };
    Value shared;
    if (along == Lanes::Outputs)
      shared = orZero(lhs.vectors.loadSplat(lhs.view.pointer, from, lanes));
    else if (along == Lanes::Inputs)
      shared =
          orZero(lhs.vectors.loadFirst(lhs.view.pointer, from, lanes, count));
    for (int64_t v = 0; v < current.columns; ++v) {
      Value x = shared;
      if (along == Lanes::Channels) {
        Value channel = e.add(from, e.add(feature, constant(v * lanes)));
        x = orZero(lhs.vectors.loadFirst(lhs.view.pointer, channel, lanes,
                                         current.features - v * lanes));
      }
      next.push_back(
          vectors.multiplyAdd(x, columns[v], sums[i * current.columns + v]));
    }
  }
  return next;
}

void TiledConvolution::store(const Tile &current, Value feature, const At &at,
                             ArrayRef<Value> sums) {
  Value pointer = e.memoryOf(op.getResult());
  ArrayRef<int64_t> strides = shape.result.strides;
  int64_t stride = strides[op.getResultDims()[1]];
  for (int64_t i = 0; i < current.places; ++i)
    for (int64_t v = 0; v < current.columns; ++v) {
      Value sum = sums[i * current.columns + v];
      Value to =
          e.add(at.result, constant(i * shape.period * strides[shape.tiled]));
      to = e.add(to, scaled(feature, stride));
      if (along != Lanes::Inputs) {
        vectors.storeFirst(sum, pointer, e.add(to, constant(v * lanes)),
                           current.features - v * lanes);
        continue;
      }
      vectors.store(vectors.sumOfLanes(sum), pointer,
                    e.add(to, constant(v * stride)));
    }
}

} // namespace weft::cpu
