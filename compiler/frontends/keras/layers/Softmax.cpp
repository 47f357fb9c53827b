//===- Softmax.cpp - keras.layers.Softmax ---------------------------------===//

#include "weft/compiler/frontends/keras/layers/Softmax.h"
#include "weft/compiler/frontends/keras/layers/Masking.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

Tensor Softmax::callAll(Call &c, const CallInputs &inputs) const {
  Tensors &t = c.t;
  Tensor x = inputs.values[0], mask = inputs.mask();
  if (!c.hasAxes(x, axis))
    return x;
  if (mask && !fitsSamples(c, mask, x))
    return x;
  if (!mask)
    return t.softmax(x, t.dims(x, axis));
  bool isNumber = isa<FloatType>(tensorType(mask).getElementType());
  mask = isNumber ? mask > 0.5 : maskBits(mask);
  mask = t.stretch(mask, t.shape(x));
  double least = tensorType(x).getElementType().isF16() ? -3e4 : -1e9;
  Tensor out = t.softmax(select(mask, x, least), t.dims(x, axis));
  return select(mask, out, 0);
}
