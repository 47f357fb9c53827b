//===- SavedModel.h - weights from files, models to files -------*- C++ -*-===//
//
//   auto values = readWeights("m.keras", model);  // or .weights.h5, or .npz
//   state.load(*values, /*strict=*/false);
//   saveModel("trained.keras", model, *state.save());
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_SAVEDMODEL_H
#define WEFT_TOOLS_WEFT_SAVEDMODEL_H

#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/runtime/data/KerasArchive.h"

namespace weft::tool {

/// Datasets of a Keras file by variable path. An optimizer state of another
/// size than the model's is left out with a warning, as Keras does.
Result<std::vector<NamedArray>>
savedValues(const std::vector<NamedArray> &datasets, const keras::Model &model,
            const std::string &where);

/// Values by variable path; the kind of file is told by its content.
Result<std::vector<NamedArray>> readWeights(const std::string &path,
                                            const keras::Model &model);

/// A .keras file that Keras loads; `values` by variable path.
Status saveModel(const std::string &path, const keras::Model &model,
                 const std::vector<NamedArray> &values);

/// Finds out whether a file could be written there, and writes nothing.
Status tryOutput(const std::string &path);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_SAVEDMODEL_H
