//===- NodeValues.cpp - the values of a model's nodes ---------------------===//

#include "weft/compiler/frontends/keras/model/NodeValues.h"
#include "weft/compiler/frontends/keras/layers/MaskArgument.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

CallInputs NodeValues::inputsOf(const Node &node, const Tensors &t) const {
  CallInputs out;
  out.arguments = node.arguments;
  for (unsigned input : node.inputs) {
    out.tensors.push_back(t(values[input]));
    out.tensorMasks.push_back(t(maskOf(values[input])));
  }
  size_t count = node.arguments.positionalTensors();
  out.values = SmallVector<Tensor>(ArrayRef(out.tensors).take_front(count));
  out.masks = ArrayRef(out.tensorMasks).take_front(count).vec();
  giveMasks(out);
  return out;
}
