//===- NodeValues.cpp - the values of a model's nodes ---------------------===//

#include "weft/compiler/frontends/keras/model/NodeValues.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// Sets the masks that the call's argument `mask` gives, which have precedence
/// over the masks of the tensors.
static void giveMasks(CallInputs &inputs) {
  const Argument *written = inputs.arguments.keyword("mask");
  if (!written)
    return;
  ArrayRef<Argument> items =
      written->isList() ? ArrayRef(written->items) : ArrayRef(*written);
  for (size_t i = 0; i < items.size() && i < inputs.masks.size(); ++i)
    if (items[i].isTensor())
      inputs.masks[i] = inputs.tensors[items[i].integer];
}

CallInputs NodeValues::inputsOf(const Node &node) const {
  CallInputs out;
  out.arguments = node.arguments;
  for (unsigned input : node.inputs) {
    out.tensors.push_back(values[input]);
    out.tensorMasks.push_back(maskOf(values[input]));
  }
  size_t count = node.arguments.positionalTensors();
  out.values = SmallVector<Value>(ArrayRef(out.tensors).take_front(count));
  out.masks = ArrayRef(out.tensorMasks).take_front(count).vec();
  giveMasks(out);
  return out;
}
