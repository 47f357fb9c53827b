//===- ArgumentReader.h - the tensors and arguments of calls -----*- C++ -*-===//
//
// Private to the Keras front end. An entry of "inbound_nodes"
//
//   {"args": [x, v], "kwargs": {"key": null, "use_causal_mask": true}}
//
// of a layer whose parameters are query, value, key (Layer::tensorArguments) is
// read as positional x, "value" v, "use_causal_mask" true: the first parameter
// is always positional, and the others are keywords. A layer that
// readsArguments gets all arguments as written, but "training".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_ARGUMENTREADER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_ARGUMENTREADER_H

#include "weft/base/config/Json.h"
#include "weft/compiler/frontends/keras/model/Graph.h"

namespace weft::keras {

/// Reads inputs and arguments of the call from the node; `layer` is null for a
/// model.
void readArguments(const Json &node, const Layer *layer,
                   const std::string &where, GraphCall &call, Status &status);

/// The tensors of "input_layers" or "output_layers": one, a list, or a dict,
/// whose keys are sorted as Keras sorts them. `keys` is filled for a dict of
/// tensors only.
std::vector<GraphTensor> readTensors(const Json *json, const std::string &where,
                                     std::vector<std::string> &keys,
                                     Status &status);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_ARGUMENTREADER_H
