//===- Wrappers.h - layers that call another one -----------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WRAPPERS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WRAPPERS_H

#include "weft/compiler/frontends/keras/layers/Recurrent.h"

namespace weft::keras {

/// One recurrent layer from the first time to the last, one back.
/// keras.layers.Bidirectional
class Bidirectional : public Layer {
  std::optional<std::string> mergeMode = "concat";
  LayerPtr written, backward, forward;

  void options(Options &o) override {
    o.maybeChoice("merge_mode", mergeMode, {"concat", "sum", "mul", "ave"});
    o.check(mergeMode.has_value(),
            "\"merge_mode\" is null, which asks for two results; merge them");
    // Keras constructs the forward layer twice, which draws seeds twice.
    o.object("layer", written, layerTable());
    o.object("backward_layer", backward, layerTable());
    o.object("layer", forward, layerTable());
    auto first = std::dynamic_pointer_cast<const Recurrent>(forward),
         second = std::dynamic_pointer_cast<const Recurrent>(backward);
    o.check(first && second,
            "\"layer\" and \"backward_layer\" must be recurrent layers");
    o.check(!first || !second || first->goBackwards != second->goBackwards,
            "\"layer\" and \"backward_layer\" have the same \"go_backwards\"; "
            "one of them goes backwards");
    o.check(!first || !second ||
                first->returnSequences == second->returnSequences,
            "\"layer\" and \"backward_layer\" differ in "
            "\"return_sequences\"; set it alike");
  }
  Value call(Call &c, Value x) const override {
    Tensors &t = c.t;
    Value there = c.runOption(*forward, "forward_layer", x);
    Value back = c.runOption(*backward, "backward_layer", x);
    if (static_cast<const Recurrent &>(*forward).returnSequences)
      back = t.make<ReverseOp>(back, ArrayRef<int64_t>{1});
    if (*mergeMode == "concat") {
      if (t.shape(there).drop_back() == t.shape(back).drop_back())
        return t.concatenate({there, back}, -1);
    } else if (t.shape(there) == t.shape(back)) {
      return *mergeMode == "mul"   ? t.mul(there, back)
             : *mergeMode == "sum" ? t.add(there, back)
                                   : t.div(t.add(there, back), 2.0);
    }
    c.refuse("merges results of shapes " + sampleText(there) + " and " +
             sampleText(back) + "; give its layers one size");
    return there;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WRAPPERS_H
