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
#include "weft/runtime/data/KerasH5.h"

namespace weft::keras {

/// The file's weights under the names that the model's .keras file gives them
/// (savedVariables), those that such a file does not hold by their paths, and
/// the optimizer's variables if Keras 3 wrote them. Fails if a layer has another
/// number of weights, or a weight another shape.
weft::Result<std::vector<StoredArray>> legacyDatasets(const KerasH5 &file,
                                                      const Model &model,
                                                      const std::string &where);

/// Whether the file has a state of an optimizer that is not taken over, as
/// Keras 2 keeps others.
bool losesOptimizer(const KerasH5 &file);

} // namespace weft::keras

#endif // WEFT_TOOLS_KERAS_LEGACYWEIGHTS_H
