//===- SavedModel.h - a Keras model's files ---------------------*- C++ -*-===//
//
//   auto values = savedValues(archive.weights, savedVariables(model), "m.keras");
//   saveModel("trained.keras", model, state.stored());
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_KERAS_SAVEDMODEL_H
#define WEFT_TOOLS_KERAS_SAVEDMODEL_H

#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/data/formats/KerasArchive.h"

namespace weft::keras {

std::vector<SavedVariable> savedVariables(const Model &model);
/// The variables that Keras on the other side of version 3.10 saves at other
/// places, with those places.
std::vector<SavedVariable> savedElsewhere(const Model &model);

/// Writes a .keras file that Keras loads; `values` by variable path. Without
/// `writesFile` the values are only read (writeKerasArchive).
Status saveModel(const std::string &path, const Model &model,
                 const std::vector<StoredArray> &values,
                 bool writesFile = true);

/// Writes the weights of such a file only: .weights.h5, or .weights.json and
/// files of at most `mostBytes` bytes of weights.
Status saveModelWeights(const std::string &path, const Model &model,
                        const std::vector<StoredArray> &values,
                        uint64_t mostBytes, bool writesFiles = true);

} // namespace weft::keras

#endif // WEFT_TOOLS_KERAS_SAVEDMODEL_H
