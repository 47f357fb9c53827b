//===- Reshaping.h - layers that only move elements --------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESHAPING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESHAPING_H

#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/layout/Sizes.h"

namespace weft::keras {

/// Reshapes samples; one size may be null (-1), and is computed.
/// keras.layers.Reshape
class Reshape : public Layer {
  std::vector<int64_t> targetShape;

  void options(Options &o) override { o.shape("target_shape", targetShape); }
  Facts facts() const override { return {.takesIntegers = true}; }
  Tensor call(Call &c, Tensor x) const override {
    int64_t known = 1, unknown = 0;
    for (int64_t size : targetShape)
      size == -1 ? void(++unknown)
                 : void(known = saturatingMultiply(known, size));
    int64_t count = tensorBytes(c.t.shape(x).drop_front(), 1);
    if (unknown > 1 || known < 1 ||
        (unknown ? count % known : count - known) != 0) {
      c.refuse("cannot reshape " + sampleText(x) + " to " +
               shapeText(targetShape));
      return x;
    }
    SmallVector<int64_t> shape = {c.t.size(x, 0)};
    for (int64_t size : targetShape)
      shape.push_back(size == -1 ? count / known : size);
    return c.t.reshape(x, shape);
  }
};

/// Transposes samples: dimension i is dimension dims[i] - 1 of the input.
/// keras.layers.Permute
class Permute : public Layer {
  std::vector<int64_t> order;

  void options(Options &o) override { o.shape("dims", order); }
  Facts facts() const override { return {.takesIntegers = true}; }
  Tensor call(Call &c, Tensor x) const override {
    SmallVector<int64_t> permutation = {0};
    permutation.append(order.begin(), order.end());
    SmallVector<int64_t> sorted = permutation;
    llvm::sort(sorted);
    bool isGood = int64_t(sorted.size()) == c.t.rank(x);
    for (auto [i, dim] : llvm::enumerate(sorted))
      isGood &= dim == int64_t(i);
    // JAX returns the tensor itself for an identity permutation, so it keeps
    // its mask.
    if (isGood)
      return permutation == sorted ? x : c.t.transpose(x, permutation);
    c.refuse("\"dims\" " + shapeText(order) +
             " is no order of the dimensions of samples of shape " +
             sampleText(x) + ", which are counted from 1");
    return x;
  }
};

/// Repeats (batch, features) to (batch, n, features).
/// keras.layers.RepeatVector
class RepeatVector : public Layer {
  int64_t n = 0;

  void options(Options &o) override { o.integer("n", n, kPositive); }
  Facts facts() const override { return {.takesIntegers = true}; }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, 2))
      return x;
    return c.t.make<BroadcastOp>(
        x, SmallVector<int64_t>{c.t.size(x, 0), n, c.t.size(x, 1)},
        ArrayRef<int64_t>{0, 2});
  }
};

/// Returns x.  keras.layers.Identity
class Identity : public Layer {
  void options(Options &) override {}
  Facts facts() const override {
    return {.takesIntegers = true, .passesMask = true};
  }
  Tensor call(Call &, Tensor x) const override { return x; }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESHAPING_H
