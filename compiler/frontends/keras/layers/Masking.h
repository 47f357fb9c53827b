//===- Masking.h - masks as tensors ------------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MASKING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MASKING_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// A mask as i1; elements of other types are true if not 0.
inline Tensor maskBits(Tensor mask) {
  return tensorType(mask).getElementType().isInteger(1) ? mask : mask != 0;
}

/// Whether the mask can be broadcast to this shape, as in NumPy.
inline bool stretchesTo(Tensor mask, llvm::ArrayRef<int64_t> shape) {
  int64_t missing = int64_t(shape.size()) - Tensors::rank(mask);
  for (int64_t i = 0; missing >= 0 && i < Tensors::rank(mask); ++i)
    if (Tensors::size(mask, i) != 1 &&
        Tensors::size(mask, i) != shape[i + missing])
      return false;
  return missing >= 0;
}

/// Whether the mask can be broadcast to the shape of x; refuses the call
/// otherwise.
inline bool fitsSamples(Call &c, Tensor mask, Tensor x) {
  if (stretchesTo(mask, Tensors::shape(x)))
    return true;
  c.refuse("its mask " + sampleText(mask) + " does not fit samples of shape " +
           sampleText(x) + "; Keras repeats sizes of 1 only");
  return false;
}

/// Masks positions whose elements along the last dimension are all `maskValue`,
/// and sets them to 0. keras.layers.Masking
class Masking : public Layer {
  double maskValue = 0;

  void options(Options &o) override {
    o.number("mask_value", maskValue, kAnyNumber);
  }
  Tensor isKept(Tensors &t, Tensor x) const {
    int64_t dims[] = {t.last(x)};
    return t.reduce(ReduceKind::Or, x != maskValue, dims);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (c.t.rank(x) < 2) {
      c.refuse("needs an input of rank 2 or more");
      return x;
    }
    Tensor kept = c.t.spread(isKept(c.t, x), x, {c.t.last(x)});
    return select(kept, x, 0);
  }
  Masks masks(Call &c, const CallInputs &inputs) const override {
    Tensor x = inputs.values[0];
    return c.t.rank(x) < 2 ? Masks() : Masks{isKept(c.t, x)};
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MASKING_H
