//===- NodeValues.h - the values of a model's nodes --------------*- C++ -*-===//
//
// Private to the Keras front end: the values that a run over the nodes has
// computed so far, when a model is read or a step is built. As in Keras a mask
// belongs to a tensor, not to a call: a layer that returns its input unchanged
// returns the input's mask too.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_NODEVALUES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_NODEVALUES_H

#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/compiler/frontends/keras/model/Model.h"

#include "llvm/ADT/DenseMap.h"

namespace weft::keras {

class NodeValues {
public:
  std::vector<Value> values; ///< indexed by node

  /// The inputs of the call that makes the node.
  CallInputs inputsOf(const Node &node, const Tensors &t) const;
  /// Sets a tensor's mask, unless it has one.
  void setMask(Value value, Value mask) {
    if (mask)
      masks.try_emplace(value, mask);
  }
  /// Sets the masks that change before the node, whether the tensors have masks
  /// or not.
  void changeMasks(const Node &node) {
    for (auto [tensor, mask] : node.newMasks)
      masks[values[tensor]] = values[mask];
  }
  /// The mask of a tensor, or null.
  Value maskOf(Value value) const { return masks.lookup(value); }
  /// Removes the masks of the inputs of a layer with takesMasksOff.
  void dropMasks(const CallInputs &inputs) {
    for (Value value : inputs.tensors)
      masks.erase(value);
  }

private:
  llvm::DenseMap<Value, Value> masks;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_NODEVALUES_H
