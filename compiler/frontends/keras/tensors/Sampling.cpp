//===- Sampling.cpp - images at other places ------------------------------===//

#include "weft/compiler/frontends/keras/tensors/Sampling.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {
/// An element next to a position along one dimension.
struct Neighbour {
  Tensor index;   ///< i32, within the dimension
  Tensor isValid; ///< i1; null: valid
  Tensor weight;  ///< f32; null: 1
};
} // namespace

/// The remainder with the sign of the divisor, as in Python.
static Tensor modulo(Tensors &t, Tensor x, double divisor) {
  Tensor by = t.splat(divisor, x);
  return (x % by + by) % by;
}

static Neighbour inside(Tensors &t, Tensor index, Tensor weight, int64_t size,
                        const std::string &fillMode) {
  double count = double(size);
  if (fillMode == "nearest")
    return {t.clamp(index, 0, count - 1), {}, weight};
  if (fillMode == "wrap")
    return {modulo(t, index, count), {}, weight};
  if (fillMode == "constant") {
    Tensor isValid = (index >= 0) & (index < count);
    return {t.clamp(index, 0, count - 1), isValid, weight};
  }
  // The index is mirrored at the borders; the border elements are repeated.
  Tensor odd = index * 2.0 + (1 + 2 * count);
  Tensor there = abs(modulo(t, odd, 4 * count) + -2 * count);
  return {(there + -1.0) / 2.0, {}, weight};
}

static SmallVector<Neighbour> neighbours(Tensors &t, Tensor place, int64_t size,
                                         const Sampling &sampling) {
  if (sampling.interpolation == "nearest")
    return {inside(t, t.toInteger(round(place)), {}, size, sampling.fillMode)};
  Tensor below = floor(place);
  Tensor share = place - below, index = t.toInteger(below);
  return {inside(t, index, 1.0 - share, size, sampling.fillMode),
          inside(t, index + 1.0, share, size, sampling.fillMode)};
}

/// Gathers the elements of x (batch, height, width, features) at rows and
/// columns, which are (batch, height, width).
static Tensor elementsAt(Tensors &t, Tensor x, Tensor rows, Tensor columns) {
  SmallVector<int64_t> one(t.shape(rows));
  one.push_back(1);
  Tensor indices =
      t.concatenate({t.reshape(rows, one), t.reshape(columns, one)}, 3);
  int64_t features = t.size(x, 3);
  int64_t sizes[] = {1, 1, 1, features};
  return t.make<GatherOp>(x.type(), x, indices, ArrayRef<int64_t>{3},
                          ArrayRef<int64_t>{1, 2}, ArrayRef<int64_t>{0},
                          ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1, 2},
                          uint64_t(3), ArrayRef<int64_t>(sizes));
}

/// The product of the position along `dim` and a factor, (batch, height,
/// width). Without a factor it is the position if `isOne`, else null.
static Tensor term(Tensors &t, Tensor factor, bool isOne, Tensor like,
                   int64_t dim) {
  if (!factor && !isOne)
    return {};
  auto numbers = tensorType(like).clone(t.builder.getI32Type());
  Tensor position = t.toFloat(
      t.make<IotaOp>(numbers, t.builder.getI64IntegerAttr(dim), Tensor()));
  return factor ? position * t.along(factor, like, 0) : position;
}

static Tensor sum(ArrayRef<Tensor> terms) {
  Tensor out;
  for (Tensor each : terms)
    if (each)
      out = out ? out + each : each;
  return out;
}

Tensor weft::keras::affined(Tensors &t, Tensor images, const Affine &places,
                            const Sampling &sampling) {
  Tensor x = t.toFloat(images);
  auto shape = t.shape(x).drop_back();
  Tensor like = t.splat(0, tensorType(x).clone(shape));
  auto offset = [&](Tensor v) -> Tensor { return v ? t.along(v, like, 0) : v; };
  Tensor row = sum({term(t, places.b1, true, like, 1),
                    term(t, places.b0, false, like, 2), offset(places.b2)});
  Tensor column = sum({term(t, places.a1, false, like, 1),
                       term(t, places.a0, true, like, 2), offset(places.a2)});
  Tensor out;
  for (const Neighbour &r : neighbours(t, row, t.size(x, 1), sampling))
    for (const Neighbour &c : neighbours(t, column, t.size(x, 2), sampling)) {
      auto wide = [&](Tensor v) {
        return t.make<BroadcastOp>(v, t.shape(x), ArrayRef<int64_t>{0, 1, 2});
      };
      Tensor part = elementsAt(t, x, r.index, c.index);
      if (r.isValid)
        part = select(wide(r.isValid & c.isValid), part, sampling.fillValue);
      if (r.weight)
        part = wide(r.weight * c.weight) * part;
      out = out ? out + part : part;
    }
  return out;
}
