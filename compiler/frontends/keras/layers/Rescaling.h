//===- Rescaling.h - keras.layers.Rescaling ----------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESCALING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESCALING_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

/// x * scale + offset; one number, or one for each feature.
class Rescaling : public Layer {
  std::vector<double> scale = {1}, offset = {0};

  void options(Options &o) override {
    o.numbers("scale", scale);
    o.numbers("offset", offset);
  }
  Facts facts() const override {
    return {.takesIntegers = true, .passesMask = true};
  }
  Tensor call(Call &c, Tensor x) const override {
    for (const std::vector<double> *numbers : {&scale, &offset})
      if (numbers->size() != 1 && int64_t(numbers->size()) != c.t.size(x, -1)) {
        c.refuse("has " + std::to_string(numbers->size()) +
                 " factors, the last dimension is " +
                 std::to_string(c.t.size(x, -1)));
        return x;
      }
    x = c.cast(x);
    return x * c.t.row(scale, x) + c.t.row(offset, x);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESCALING_H
