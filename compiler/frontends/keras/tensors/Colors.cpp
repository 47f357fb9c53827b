//===- Colors.cpp - images in other colours -------------------------------===//

#include "weft/compiler/frontends/keras/tensors/Colors.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Tensor weft::keras::grayOf(Tensors &t, Tensor rgb, int64_t dim) {
  SmallVector<int64_t> shape(t.shape(rgb));
  shape[dim] = 1;
  Tensor weights = t.castLike(t.constant({0.2989f, 0.587f, 0.114f}, {3}), rgb);
  return t.reshape(t.make<DotOp>(rgb, weights, ArrayRef<int64_t>{dim},
                                 ArrayRef<int64_t>{0}, ArrayRef<int64_t>{},
                                 ArrayRef<int64_t>{}),
                   shape);
}

std::array<Tensor, 3> weft::keras::hsvOf(Tensors &t, Tensor rgb, int64_t dim) {
  auto element = cast<FloatType>(tensorType(rgb).getElementType());
  const llvm::fltSemantics &type = element.getFloatSemantics();
  double least =
      std::ldexp(1.0, 1 - int(llvm::APFloat::semanticsPrecision(type)));
  Tensor isSmall = abs(rgb) < least;
  Tensor x = select(isSmall, 0, rgb);
  Tensor r = t.slice(x, dim, 0, 1), g = t.slice(x, dim, 1, 2),
         b = t.slice(x, dim, 2, 3);
  Tensor zero = t.splat(0, r), one = t.splat(1, r);
  Tensor value = max(max(r, g), b);
  Tensor range = value - min(min(r, g), b);
  Tensor isBright = value > zero;
  Tensor isWide = range > zero;
  Tensor saturation =
      select(isBright, range / select(isBright, value, one), zero);
  Tensor norm = one / (select(isWide, range, one) * 6.0);
  auto from = [&](Tensor a, Tensor b, double begin) {
    return norm * (a - b) + begin;
  };
  Tensor hue = select(value == g, from(b, r, 2.0 / 6.0), from(r, g, 4.0 / 6.0));
  hue = select(value == r, norm * (g - b), hue);
  Tensor turn = t.castLike(hue < zero, hue);
  return {select(isWide, hue, zero) + turn, saturation, value};
}

Tensor weft::keras::rgbOf(Tensors &t, const std::array<Tensor, 3> &hsv,
                          int64_t dim) {
  auto [hue, saturation, value] = hsv;
  Tensor rest = hue % 1;
  Tensor positive = select(rest < 0.0, rest + 1.0, rest);
  Tensor place = positive * 6.0;
  auto clipped = [&](Tensor x) { return min(max(x, 0), 1); };
  auto beside = [&](double middle) { return abs(place + -middle); };
  Tensor plain = 1.0 - saturation;
  auto colour = [&](Tensor share) {
    return value * (plain + saturation * clipped(share));
  };
  return t.concatenate({colour(beside(3) + -1.0), colour(2.0 - beside(2)),
                        colour(2.0 - beside(4))},
                       dim);
}

Tensor weft::keras::inRange(Tensors &t, Tensor x, std::array<double, 2> from,
                            std::array<double, 2> to) {
  if (from == to)
    return x;
  Tensor share = (x + -from[0]) / (from[1] - from[0]);
  return share * (to[1] - to[0]) + to[0];
}
