//===- Merging.h - layers of several tensors ---------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MERGING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MERGING_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// Combines tensors of shapes that NumPy would broadcast.
class Merging : public Layer {
protected:
  void options(Options &) override {}
  virtual Value combined(Tensors &t, Value a, Value b) const = 0;
  virtual Value finished(Tensors &, Value x, size_t) const { return x; }

  /// The shape that both are stretched to; empty where there is none.
  static SmallVector<int64_t> commonShape(Value a, Value b) {
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
  Value callAll(Call &c, const CallInputs &inputs) const override {
    Value out = inputs.values[0];
    for (Value x : llvm::drop_begin(inputs.values)) {
      SmallVector<int64_t> shape = commonShape(out, x);
      if (shape.empty() || c.t.rank(out) != c.t.rank(x)) {
        c.refuse("cannot combine samples of shapes " + sampleText(out) +
                 " and " + sampleText(x));
        return out;
      }
      out = combined(c.t, c.t.stretch(out, shape), c.t.stretch(x, shape));
    }
    return finished(c.t, out, inputs.values.size());
  }
};

/// keras.layers.Add
class Add : public Merging {
  Value combined(Tensors &t, Value a, Value b) const override {
    return t.add(a, b);
  }
};

/// Of exactly two.  keras.layers.Subtract
class Subtract : public Merging {
  Value combined(Tensors &t, Value a, Value b) const override {
    return t.sub(a, b);
  }
  Value callAll(Call &c, const CallInputs &inputs) const override {
    if (inputs.values.size() != 2)
      c.refuse("must be called with two tensors, not " +
               std::to_string(inputs.values.size()));
    return Merging::callAll(c, inputs);
  }
};

/// keras.layers.Multiply
class Multiply : public Merging {
  Value combined(Tensors &t, Value a, Value b) const override {
    return t.mul(a, b);
  }
};

/// keras.layers.Average
class Average : public Merging {
  Value combined(Tensors &t, Value a, Value b) const override {
    return t.add(a, b);
  }
  Value finished(Tensors &t, Value x, size_t count) const override {
    return t.div(x, double(count));
  }
};

/// keras.layers.Maximum
class Maximum : public Merging {
  Value combined(Tensors &t, Value a, Value b) const override {
    return t.make<MaxOp>(a, b);
  }
};

/// keras.layers.Minimum
class Minimum : public Merging {
  Value combined(Tensors &t, Value a, Value b) const override {
    return t.make<MinOp>(a, b);
  }
};

/// One after the other along an axis.  keras.layers.Concatenate
class Concatenate : public Layer {
  int64_t axis = -1;

  void options(Options &o) override { o.integer("axis", axis, kAnyNumber); }
  Value callAll(Call &c, const CallInputs &inputs) const override {
    Value first = inputs.values[0];
    if (!c.hasSampleAxes(first, axis))
      return first;
    int64_t dim = c.t.dims(first, axis)[0];
    SmallVector<int64_t> shape(c.t.shape(first));
    shape[dim] = 0;
    for (Value x : inputs.values) {
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
    auto type = tensorType(first).clone(shape);
    return c.t.make<ConcatenateOp>(type, inputs.values, uint64_t(dim));
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MERGING_H
