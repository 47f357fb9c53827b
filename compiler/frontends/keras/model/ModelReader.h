//===- ModelReader.h - from JSON to the model -------------------*- C++ -*-===//
//
// Private to the Keras front end: the steps of readModel, one in each file.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_MODELREADER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_MODELREADER_H

#include "weft/base/config/OptionReader.h"
#include "weft/compiler/frontends/keras/model/Graph.h"

namespace weft::keras {

/// A layer as in the file, and whether it is built right after its construction
/// under its own name (build_config).
struct LayerDraft {
  std::shared_ptr<Layer> layer;
  std::string className;
  bool isBuiltAlone = false;
};
/// Reads one entry of "layers"; `error` names the layer.
LayerDraft readLayer(const Json &json, Status &status);
/// Reads layers and graphs of the file; `options` give shapes of inputs.
void readGraphs(const Json &json, const ModelOptions &options, Model &model,
                Graphs &graphs, Status &status);
/// Reads optimizer, loss and metrics of compile_config with the options'
/// overrides.
void readCompileConfig(const Json *json, const ModelOptions &options,
                       Model &model, Status &status);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_MODELREADER_H
