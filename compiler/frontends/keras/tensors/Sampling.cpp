//===- Sampling.cpp - images at other places ------------------------------===//

#include "weft/compiler/frontends/keras/tensors/Sampling.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {
/// An element next to a position along one dimension.
struct Neighbour {
  Value index;   ///< i32, within the dimension
  Value isValid; ///< i1; null: valid
  Value weight;  ///< f32; null: 1
};
} // namespace

/// The remainder with the sign of the divisor, as in Python.
static Value modulo(Tensors &t, Value x, double divisor) {
  Value by = t.splat(divisor, x);
  return t.make<RemOp>(t.add(t.make<RemOp>(x, by), by), by);
}

static Neighbour inside(Tensors &t, Value index, Value weight, int64_t size,
                        const std::string &fillMode) {
  double count = double(size);
  if (fillMode == "nearest")
    return {t.clamp(index, 0, count - 1), {}, weight};
  if (fillMode == "wrap")
    return {modulo(t, index, count), {}, weight};
  if (fillMode == "constant") {
    Value isValid = t.make<AndOp>(t.compare(CompareKind::GE, index, 0),
                                  t.compare(CompareKind::LT, index, count));
    return {t.clamp(index, 0, count - 1), isValid, weight};
  }
  // The index is mirrored at the borders; the border elements are repeated.
  Value odd = t.add(t.mul(index, 2.0), 1 + 2 * count);
  Value there = t.make<AbsOp>(t.add(modulo(t, odd, 4 * count), -2 * count));
  return {t.div(t.add(there, -1.0), 2.0), {}, weight};
}

static SmallVector<Neighbour> neighbours(Tensors &t, Value place, int64_t size,
                                         const Sampling &sampling) {
  if (sampling.interpolation == "nearest")
    return {inside(t, t.toInteger(t.make<RoundOp>(place)), {}, size,
                   sampling.fillMode)};
  Value below = t.make<FloorOp>(place);
  Value share = t.sub(place, below), index = t.toInteger(below);
  return {inside(t, index, t.sub(1.0, share), size, sampling.fillMode),
          inside(t, t.add(index, 1.0), share, size, sampling.fillMode)};
}

/// Gathers the elements of x (batch, height, width, features) at rows and
/// columns, which are (batch, height, width).
static Value elementsAt(Tensors &t, Value x, Value rows, Value columns) {
  SmallVector<int64_t> one(t.shape(rows));
  one.push_back(1);
  Value indices =
      t.concatenate({t.reshape(rows, one), t.reshape(columns, one)}, 3);
  int64_t features = t.size(x, 3);
  int64_t sizes[] = {1, 1, 1, features};
  return t.make<GatherOp>(x.getType(), x, indices, ArrayRef<int64_t>{3},
                          ArrayRef<int64_t>{1, 2}, ArrayRef<int64_t>{0},
                          ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1, 2},
                          uint64_t(3), ArrayRef<int64_t>(sizes));
}

/// The product of the position along `dim` and a factor, (batch, height,
/// width). Without a factor it is the position if `isOne`, else null.
static Value term(Tensors &t, Value factor, bool isOne, Value like,
                  int64_t dim) {
  if (!factor && !isOne)
    return {};
  auto numbers = tensorType(like).clone(t.builder.getI32Type());
  Value position = t.toFloat(
      t.make<IotaOp>(numbers, t.builder.getI64IntegerAttr(dim), Value()));
  return factor ? t.mul(position, t.along(factor, like, 0)) : position;
}

static Value sum(Tensors &t, ArrayRef<Value> terms) {
  Value out;
  for (Value each : terms)
    if (each)
      out = out ? t.add(out, each) : each;
  return out;
}

Value weft::keras::affined(Tensors &t, Value images, const Affine &places,
                           const Sampling &sampling) {
  Value x = t.toFloat(images);
  auto shape = t.shape(x).drop_back();
  Value like = t.splat(0, tensorType(x).clone(shape));
  auto offset = [&](Value v) -> Value { return v ? t.along(v, like, 0) : v; };
  Value row = sum(t, {term(t, places.b1, true, like, 1),
                      term(t, places.b0, false, like, 2), offset(places.b2)});
  Value column = sum(t, {term(t, places.a1, false, like, 1),
                         term(t, places.a0, true, like, 2), offset(places.a2)});
  Value out;
  for (const Neighbour &r : neighbours(t, row, t.size(x, 1), sampling))
    for (const Neighbour &c : neighbours(t, column, t.size(x, 2), sampling)) {
      auto wide = [&](Value v) {
        return t.make<BroadcastOp>(v, t.shape(x), ArrayRef<int64_t>{0, 1, 2});
      };
      Value part = elementsAt(t, x, r.index, c.index);
      if (r.isValid)
        part = t.select(wide(t.make<AndOp>(r.isValid, c.isValid)), part,
                        t.splat(sampling.fillValue, part));
      if (r.weight)
        part = t.mul(wide(t.mul(r.weight, c.weight)), part);
      out = out ? t.add(out, part) : part;
    }
  return out;
}
