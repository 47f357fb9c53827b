//===- LegacyWeights.h - the weights of a model's .h5 file ------*- C++ -*-===//
//
//   Result<KerasH5> file = readKerasH5("m.h5");
//   auto model = readLegacyModel({file->config, file->training, file->version});
//   auto datasets = legacyDatasets(*file, *model, "m.h5"); // layers/dense/vars/0
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_KERAS_LEGACYWEIGHTS_H
#define WEFT_TOOLS_KERAS_LEGACYWEIGHTS_H

#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/data/formats/KerasH5.h"

namespace weft::keras {

/// The file's weights under the names that the model's .keras file gives them
/// (savedVariables), those that such a file does not hold by their paths, and
/// the optimizer's variables if Keras 3 wrote them. Fails if a layer has another
/// number of weights, or a weight another shape.
weft::Result<std::vector<StoredArray>> legacyDatasets(const KerasH5 &file,
                                                      const Model &model,
                                                      const std::string &where);

/// Where an .h5 file has a weight: number `weight` of the `weights` of layer
/// `layer`, which is counted among the `layers` that have weights. Keras does
/// not look at their names.
struct LegacyPlace {
  std::string path, layerName;
  size_t layer, layers, weight, weights;
};
std::vector<LegacyPlace> legacyPlaces(const Model &model);

} // namespace weft::keras

#endif // WEFT_TOOLS_KERAS_LEGACYWEIGHTS_H
