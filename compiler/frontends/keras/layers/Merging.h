//===- Merging.h - layers of several tensors ---------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MERGING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MERGING_H

#include "weft/compiler/frontends/keras/layers/Masking.h"
#include "weft/compiler/frontends/keras/tensors/Promotion.h"

namespace weft::keras {

/// Combines tensors of one rank whose shapes can be broadcast to each other, as
/// in NumPy.
class Merging : public Layer {
protected:
  /// The element that stands for a masked one.
  enum class MaskUse {
    Ignored,
    One,  ///< 1; the result is 0 where every tensor is masked
    Other ///< the element of the other tensor
  };
  virtual MaskUse maskUse() const { return MaskUse::Ignored; }
  void options(Options &) override {}
  virtual Tensor combined(Tensors &t, Tensor a, Tensor b) const = 0;
  virtual Tensor finished(Tensors &, Tensor x, size_t) const { return x; }

  Facts facts() const override { return {.takesSeveral = true}; }
  /// The union of the tensors' masks; none if one has no mask, or they differ
  /// in shape.
  Masks masks(Call &c, const CallInputs &inputs) const override {
    Tensor out;
    for (Tensor mask : inputs.masks) {
      if (!mask || (out && c.t.shape(mask) != c.t.shape(out)))
        return {};
      out = out ? out | mask : mask;
    }
    return {out};
  }
  /// The shape to which a and b can be broadcast; empty if there is none.
  static SmallVector<int64_t> commonShape(Tensor a, Tensor b) {
    if (Tensors::rank(a) < Tensors::rank(b))
      std::swap(a, b);
    SmallVector<int64_t> shape(Tensors::shape(a));
    int64_t missing = Tensors::rank(a) - Tensors::rank(b);
    for (int64_t i = 0; i < Tensors::rank(b); ++i) {
      int64_t &size = shape[i + missing], other = Tensors::size(b, i);
      if (size != other && size != 1 && other != 1)
        return {};
      size = size == 1 ? other : size;
    }
    return shape;
  }
  /// The mask in the shape of x, of which it has all dimensions but the last;
  /// null for no mask, or where the layer ignores masks.
  Tensor wideMask(Call &c, Tensor mask, Tensor x) const {
    if (!mask || maskUse() == MaskUse::Ignored)
      return {};
    SmallVector<int64_t> shape(c.t.shape(mask));
    shape.push_back(1);
    mask = c.t.reshape(maskBits(mask), shape);
    return fitsSamples(c, mask, x) ? c.t.stretch(mask, c.t.shape(x)) : Tensor();
  }
  /// Combines the next tensor; `isKnown` is the wide mask of all before.
  Tensor next(Tensors &t, Tensor out, Tensor &isKnown, Tensor x,
              Tensor mask) const {
    if (mask && maskUse() == MaskUse::One)
      x = select(mask, x, 1);
    if (mask && maskUse() == MaskUse::Other)
      x = select(mask, x, out);
    if (isKnown && maskUse() == MaskUse::Other)
      out = select(isKnown, out, x);
    isKnown = isKnown && mask ? isKnown | mask : Tensor();
    return combined(t, out, x);
  }
  Tensor callAll(Call &c, const CallInputs &inputs) const override {
    Tensors &t = c.t;
    Tensor out = inputs.values[0];
    Tensor isKnown = wideMask(c, inputs.mask(), out);
    if (isKnown && maskUse() == MaskUse::One)
      out = select(isKnown, out, 1);
    for (size_t i = 1; i < inputs.values.size(); ++i) {
      Tensor x = inputs.values[i], mask = wideMask(c, inputs.mask(i), x);
      SmallVector<int64_t> shape = commonShape(out, x);
      if (shape.empty() || t.rank(out) != t.rank(x)) {
        c.refuse("cannot combine samples of shapes " + sampleText(out) +
                 " and " + sampleText(x));
        return out;
      }
      for (Tensor *each : {&out, &x, &isKnown, &mask})
        *each = *each ? t.stretch(*each, shape) : Tensor();
      out = next(t, out, isKnown, x, mask);
    }
    if (isKnown && maskUse() == MaskUse::One)
      out = select(isKnown, out, 0);
    return finished(t, out, inputs.values.size());
  }
};

/// The dot products of two tensors along an axis of each, sample by sample.
/// keras.layers.Dot
class Dot : public Layer {
  std::vector<int64_t> axes;
  bool normalize = false;

  Facts facts() const override { return {.takesSeveral = true}; }
  void options(Options &o) override {
    o.axes("axes", axes);
    o.check(!axes.empty() && axes.size() <= 2,
            "\"axes\" must be one axis or two");
    o.flag("normalize", normalize);
  }
  /// x divided by its 2-norm along the dimension.
  static Tensor unit(Tensors &t, Tensor x, int64_t dim) {
    Tensor root = rsqrt(t.reduce(ReduceKind::Sum, x * x, {dim}));
    return x * t.spread(min(root, 1 / kEpsilon), x, {dim});
  }
  Tensor callAll(Call &c, const CallInputs &inputs) const override {
    Tensors &t = c.t;
    Tensor a = inputs.values[0], b = inputs.values.back();
    if (inputs.values.size() != 2) {
      c.refuse("must be called with two tensors, not " +
               std::to_string(inputs.values.size()));
      return a;
    }
    if (!c.hasSampleAxes(a, axes[0]) || !c.hasSampleAxes(b, axes.back()))
      return a;
    int64_t i = t.dims(a, axes[0])[0], j = t.dims(b, axes.back())[0];
    if (t.size(a, i) != t.size(b, j)) {
      c.refuse("cannot multiply samples of shapes " + sampleText(a) + " and " +
               sampleText(b) + " along axes " + std::to_string(i) + " and " +
               std::to_string(j) + "; their sizes must be equal");
      return a;
    }
    if (normalize) {
      a = unit(t, a, i);
      b = unit(t, b, j);
    }
    Tensor out = t.make<DotOp>(a, b, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{j},
                               ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0});
    return t.rank(out) == 1 ? t.reshape(out, {t.size(out, 0), 1}) : out;
  }
};

/// keras.layers.Add
class Add : public Merging {
  Tensor combined(Tensors &t, Tensor a, Tensor b) const override {
    return a + b;
  }
};

/// A difference of exactly two tensors.  keras.layers.Subtract
class Subtract : public Merging {
  Tensor combined(Tensors &t, Tensor a, Tensor b) const override {
    return a - b;
  }
  Tensor callAll(Call &c, const CallInputs &inputs) const override {
    if (inputs.values.size() != 2)
      c.refuse("must be called with two tensors, not " +
               std::to_string(inputs.values.size()));
    return Merging::callAll(c, inputs);
  }
};

/// keras.layers.Multiply
class Multiply : public Merging {
  MaskUse maskUse() const override { return MaskUse::One; }
  Tensor combined(Tensors &t, Tensor a, Tensor b) const override {
    return a * b;
  }
};

/// keras.layers.Average
class Average : public Merging {
  Tensor combined(Tensors &t, Tensor a, Tensor b) const override {
    return a + b;
  }
  Tensor finished(Tensors &t, Tensor x, size_t count) const override {
    return x / double(count);
  }
};

/// keras.layers.Maximum
class Maximum : public Merging {
  MaskUse maskUse() const override { return MaskUse::Other; }
  Tensor combined(Tensors &t, Tensor a, Tensor b) const override {
    return max(a, b);
  }
};

/// keras.layers.Minimum
class Minimum : public Merging {
  MaskUse maskUse() const override { return MaskUse::Other; }
  Tensor combined(Tensors &t, Tensor a, Tensor b) const override {
    return min(a, b);
  }
};

/// Concatenates tensors along an axis.  keras.layers.Concatenate
class Concatenate : public Layer {
  int64_t axis = -1;

  Facts facts() const override {
    return {.takesSeveral = true, .takesIntegers = true};
  }
  void options(Options &o) override { o.integer("axis", axis, kAnyNumber); }
  Tensor callAll(Call &c, const CallInputs &inputs) const override {
    Tensor first = inputs.values[0];
    if (!c.hasSampleAxes(first, axis))
      return first;
    int64_t dim = c.t.dims(first, axis)[0];
    SmallVector<int64_t> shape(c.t.shape(first));
    shape[dim] = 0;
    for (Tensor x : inputs.values) {
      SmallVector<int64_t> other(c.t.shape(x));
      if (c.t.rank(x) == c.t.rank(first))
        shape[dim] += std::exchange(other[dim], shape[dim]);
      SmallVector<int64_t> wanted = shape;
      if (c.t.rank(x) == c.t.rank(first))
        other[dim] = wanted[dim];
      if (other != wanted) {
        c.refuse("cannot join samples of shapes " + sampleText(first) +
                 " and " + sampleText(x) + " along axis " +
                 std::to_string(axis));
        return first;
      }
    }
    SmallVector<Tensor> values(inputs.values);
    toCommonType(c.t, values);
    return c.t.concatenate(values, dim);
  }
  /// The masks of the inputs, broadcast to the inputs, concatenated along
  /// `axis` and reduced by `or` along the last dimension. An input without a
  /// mask is valid everywhere.
  Masks masks(Call &c, const CallInputs &inputs) const override {
    Tensors &t = c.t;
    if (!c.hasSampleAxes(inputs.values[0], axis) ||
        llvm::none_of(inputs.masks, [](Tensor mask) { return bool(mask); }))
      return {};
    SmallVector<Tensor> parts;
    int64_t dim = t.dims(inputs.values[0], axis)[0];
    for (auto [x, mask] : llvm::zip_equal(inputs.values, inputs.masks)) {
      auto bits = tensorType(x).clone(t.builder.getI1Type());
      SmallVector<int64_t> kept;
      for (int64_t i = 0; mask && i < t.rank(mask); ++i)
        kept.push_back(i);
      parts.push_back(mask ? t.make<BroadcastOp>(mask, t.shape(x), kept)
                           : t.splat(1, bits));
    }
    Tensor joined = t.concatenate(parts, dim);
    return {t.reduce(ReduceKind::Or, joined, {t.last(joined)})};
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MERGING_H
