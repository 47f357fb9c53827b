//===- SavedWeights.h - weights from and to Keras' files --------*- C++ -*-===//
//
//   auto values = readWeights("m.keras", state);   // or .weights.h5, or .npz
//   state.load(*values, /*strict=*/false);
//
// The metadata of a variable's port says where such files hold it:
// {"saved": "layers/dense/vars/0"}.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_SAVEDWEIGHTS_H
#define WEFT_TOOLS_WEFT_SAVEDWEIGHTS_H

#include "weft/runtime/data/KerasArchive.h"
#include "weft/runtime/training/ModelState.h"

namespace weft::tool {

/// Datasets of a Keras file by variable path. An optimizer state of another
/// size than the model's is left out with a warning, as Keras does.
Result<std::vector<NamedArray>>
savedValues(const std::vector<NamedArray> &datasets,
            std::vector<SavedVariable> variables, const std::string &where);

/// Values by variable path; the kind of file is told by its content. Each of the
/// state's weights has one.
Result<std::vector<NamedArray>> readWeights(const std::string &path,
                                            const ModelState &state);

/// The archive `from` with other values for its variables.
Status saveArchiveLike(const std::string &path, const std::string &from,
                       const ModelState &state,
                       const std::vector<NamedArray> &values);

/// A .weights.h5 file of the variables whose ports say their place.
Status saveWeightsByPlace(const std::string &path, const ModelState &state,
                          const std::vector<NamedArray> &values);

/// Finds out whether a file could be written there, and writes nothing.
Status tryOutput(const std::string &path);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_SAVEDWEIGHTS_H
