//===- Wrappers.h - layers that call another one -----------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WRAPPERS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WRAPPERS_H

#include "weft/compiler/frontends/keras/layers/InnerModel.h"
#include "weft/compiler/frontends/keras/layers/Recurrent.h"

namespace weft::keras {

/// Runs one recurrent layer forward in time and one backward.
/// keras.layers.Bidirectional
class Bidirectional : public Layer {
  std::optional<std::string> mergeMode = "concat";
  LayerPtr written, backward, forward;

  void options(Options &o) override {
    o.maybeChoice("merge_mode", mergeMode, {"concat", "sum", "mul", "ave"});
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
    o.check(!first || !second || first->returnState == second->returnState,
            "\"layer\" and \"backward_layer\" differ in \"return_state\"; "
            "set it alike");
  }
  bool returnsSequences() const {
    return static_cast<const Recurrent &>(*forward).returnSequences;
  }
  Facts facts() const override {
    return {.tensors = {"sequences", "initial_state", "mask"}};
  }
  Masks masks(Call &, const CallInputs &inputs) const override {
    if (!returnsSequences())
      return {};
    return Masks(mergeMode ? 1 : 2, inputs.mask());
  }
  /// The inputs of the forward or backward layer: the value, its mask, and the
  /// layer's initial states.
  CallInputs half(const CallInputs &inputs, ArrayRef<Tensor> states) const {
    Tensor mask = Recurrent::usedMask(inputs);
    CallInputs out(inputs.values[0], mask);
    if (mask)
      out.give("mask", {mask});
    if (!states.empty())
      out.give("initial_state", states);
    out.giveFlag(Recurrent::kZeroOutput, returnsSequences());
    return out;
  }
  Tensor merged(Call &c, Tensor there, Tensor back) const {
    Tensors &t = c.t;
    if (*mergeMode == "concat") {
      if (t.shape(there).drop_back() == t.shape(back).drop_back())
        return t.concatenate({there, back}, -1);
    } else if (t.shape(there) == t.shape(back)) {
      return *mergeMode == "mul"   ? there * back
             : *mergeMode == "sum" ? there + back
                                   : (there + back) / 2.0;
    }
    c.refuse("merges results of shapes " + sampleText(there) + " and " +
             sampleText(back) + "; give its layers one size");
    return there;
  }
  /// The merged output, or both outputs; then the states of both layers.
  std::vector<Tensor> results(Call &c,
                              const CallInputs &inputs) const override {
    SmallVector<Tensor> states = inputs.list("initial_state");
    if (states.size() % 2) {
      c.refuse("is called with " + std::to_string(states.size()) +
               " tensors as \"initial_state\"; half of them are for its layer "
               "and half for its backward layer");
      return {inputs.values[0]};
    }
    size_t count = states.size() / 2;
    auto there =
        c.runOptionAll(*forward, "forward_layer",
                       half(inputs, ArrayRef(states).take_front(count)))
            .values;
    auto back = c.runOptionAll(*backward, "backward_layer",
                               half(inputs, ArrayRef(states).drop_front(count)))
                    .values;
    if (returnsSequences() && c.t.rank(back[0]) > 1)
      back[0] = c.t.make<ReverseOp>(back[0], ArrayRef<int64_t>{1});
    std::vector<Tensor> out;
    if (mergeMode)
      out.push_back(merged(c, there[0], back[0]));
    else
      out = {there[0], back[0]};
    out.insert(out.end(), there.begin() + 1, there.end());
    out.insert(out.end(), back.begin() + 1, back.end());
    return out;
  }
};

/// Applies a layer or a model at each time of a sequence.
/// keras.layers.TimeDistributed
class TimeDistributed : public Layer {
  LayerPtr layer;
  RegularizerPtr outputRegularizer;

  void options(Options &o) override {
    o.object("layer", layer, innerLayerTable());
    o.check(layer != nullptr, "\"layer\" must be a layer");
    o.object("activity_regularizer", outputRegularizer, regularizerTable());
  }
  Facts facts() const override {
    Facts inner = layer ? layer->facts() : Facts();
    auto attributeOf = [layer = layer](const std::string &inside) {
      llvm::StringRef rest = inside;
      return rest.consume_front("layer/")
                 ? "layer/" + layer->savedPath(rest.str())
                 : inside;
    };
    return {.tensors = {"inputs", "mask"},
            .takesIntegers = inner.takesIntegers,
            .castsIntegers = inner.castsIntegers,
            .passesMask = true,
            .activityRegularizer = outputRegularizer,
            .attributeOf = attributeOf};
  }
  Tensor callAll(Call &c, const CallInputs &inputs) const override {
    Tensor x = inputs.values[0], mask = inputs.mask();
    if (c.t.rank(x) < 3) {
      c.refuse(
          "takes sequences of rank 3 or more with the batch, but is called "
          "with samples of shape " +
          sampleText(x));
      return x;
    }
    if (mask && (c.t.rank(mask) < 2 ||
                 c.t.shape(mask).take_front(2) != c.t.shape(x).take_front(2))) {
      c.refuse("its mask " + sampleText(mask) +
               " does not fit samples of shape " + sampleText(x) +
               "; masks have a value for each time");
      return x;
    }
    return c.runOptionForTimes(*layer, "layer", x, mask);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_WRAPPERS_H
