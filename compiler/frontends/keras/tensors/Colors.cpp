//===- Colors.cpp - images in other colours -------------------------------===//

#include "weft/compiler/frontends/keras/tensors/Colors.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Value weft::keras::grayOf(Tensors &t, Value rgb, int64_t dim) {
  SmallVector<int64_t> shape(t.shape(rgb));
  shape[dim] = 1;
  Value weights = t.castLike(t.constant({0.2989f, 0.587f, 0.114f}, {3}), rgb);
  return t.reshape(t.make<DotOp>(rgb, weights, ArrayRef<int64_t>{dim},
                                 ArrayRef<int64_t>{0}, ArrayRef<int64_t>{},
                                 ArrayRef<int64_t>{}),
                   shape);
}

std::array<Value, 3> weft::keras::hsvOf(Tensors &t, Value rgb, int64_t dim) {
  auto element = cast<FloatType>(tensorType(rgb).getElementType());
  const llvm::fltSemantics &type = element.getFloatSemantics();
  double least =
      std::ldexp(1.0, 1 - int(llvm::APFloat::semanticsPrecision(type)));
  Value isSmall = t.compare(CompareKind::LT, t.make<AbsOp>(rgb), least);
  Value x = t.select(isSmall, t.splat(0, rgb), rgb);
  Value r = t.slice(x, dim, 0, 1), g = t.slice(x, dim, 1, 2),
        b = t.slice(x, dim, 2, 3);
  Value zero = t.splat(0, r), one = t.splat(1, r);
  Value value = t.make<MaxOp>(t.make<MaxOp>(r, g), b);
  Value range = t.sub(value, t.make<MinOp>(t.make<MinOp>(r, g), b));
  Value isBright = t.compare(CompareKind::GT, value, zero);
  Value isWide = t.compare(CompareKind::GT, range, zero);
  Value saturation =
      t.select(isBright, t.div(range, t.select(isBright, value, one)), zero);
  Value norm = t.div(one, t.mul(t.select(isWide, range, one), 6.0));
  auto from = [&](Value a, Value b, double begin) {
    return t.add(t.mul(norm, t.sub(a, b)), begin);
  };
  Value hue = t.select(t.compare(CompareKind::EQ, value, g),
                       from(b, r, 2.0 / 6.0), from(r, g, 4.0 / 6.0));
  hue = t.select(t.compare(CompareKind::EQ, value, r), t.mul(norm, t.sub(g, b)),
                 hue);
  Value turn = t.castLike(t.compare(CompareKind::LT, hue, zero), hue);
  return {t.add(t.select(isWide, hue, zero), turn), saturation, value};
}

Value weft::keras::rgbOf(Tensors &t, const std::array<Value, 3> &hsv,
                         int64_t dim) {
  auto [hue, saturation, value] = hsv;
  Value rest = t.make<RemOp>(hue, t.splat(1, hue));
  Value positive =
      t.select(t.compare(CompareKind::LT, rest, 0.0), t.add(rest, 1.0), rest);
  Value place = t.mul(positive, 6.0);
  auto clipped = [&](Value x) { return t.min(t.max(x, 0), 1); };
  auto beside = [&](double middle) {
    return t.make<AbsOp>(t.add(place, -middle));
  };
  Value plain = t.sub(1.0, saturation);
  auto colour = [&](Value share) {
    return t.mul(value, t.add(plain, t.mul(saturation, clipped(share))));
  };
  return t.concatenate({colour(t.add(beside(3), -1.0)),
                        colour(t.sub(2.0, beside(2))),
                        colour(t.sub(2.0, beside(4)))},
                       dim);
}

Value weft::keras::inRange(Tensors &t, Value x, std::array<double, 2> from,
                           std::array<double, 2> to) {
  if (from == to)
    return x;
  Value share = t.div(t.add(x, -from[0]), from[1] - from[0]);
  return t.add(t.mul(share, to[1] - to[0]), to[0]);
}
