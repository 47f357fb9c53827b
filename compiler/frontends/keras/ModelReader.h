//===- ModelReader.h - from JSON to the model -------------------*- C++ -*-===//
//
// Private to the Keras front end: the parts of readModel, one a file.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODELREADER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODELREADER_H

#include "weft/compiler/frontends/keras/Json.h"
#include "weft/compiler/frontends/keras/Model.h"

namespace weft::keras {

/// A layer as read, before its place in the graph is known. Initializers are
/// in the order in which Keras constructs them.
struct LayerDraft {
  Layer layer;
  Initializer kernelInitializer, biasInitializer;
  bool useBias = false;
  bool drawsState = false;          ///< dropout with a rate
  std::optional<int64_t> stateSeed; ///< its seed, where the file has one
  bool builtAlone = false;         ///< has a build_config: paths have no prefix
  std::string prefix;              ///< the Sequential that builds it, or empty
  std::vector<int64_t> inputShape; ///< Input: sample shape, -1 unknown
};

/// Reads the layer's own config; `error` names the layer.
LayerDraft readLayer(const Json &json, std::string &error);
Initializer readInitializer(const Json *json, const std::string &otherwise,
                            const std::string &where, std::string &error);
/// Does the initializer draw a seed when it is constructed?
bool drawsSeed(const Initializer &initializer);
/// Refuses every type policy but float32.
void readPolicy(Fields &config);
/// Sample shape of a layer's result.
std::vector<int64_t> resultShape(const Layer &layer,
                                 const std::vector<int64_t> &input,
                                 std::string &error);
/// Optimizer, loss and metrics of compile_config with the options' overrides.
void readCompileConfig(const Json *json, const ModelOptions &options,
                       Model &model, std::string &error);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODELREADER_H
