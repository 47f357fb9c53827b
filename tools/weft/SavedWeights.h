//===- SavedWeights.h - weights from and to Keras' files --------*- C++ -*-===//
//
//   // Or .weights.h5, .weights.json, .safetensors, .npz
//   Status ok = visitWeights("m.keras", state, [&](auto &values) {
//     return state.load(values, /*strict=*/false);
//   });
//
// The metadata of a variable's port says where such files hold it:
// {"saved": "layers/dense/vars/0"}.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_SAVEDWEIGHTS_H
#define WEFT_TOOLS_WEFT_SAVEDWEIGHTS_H

#include "weft/runtime/data/KerasArchive.h"
#include "weft/runtime/training/ModelState.h"

#include <functional>

namespace weft::tool {

/// Datasets of a Keras file by variable path. An optimizer state of another
/// size than the model's is left out with a warning, as Keras does.
Result<std::vector<NamedArray>>
savedValues(const std::vector<NamedArray> &datasets,
            std::vector<SavedVariable> variables, const std::string &where);

using VisitWeights = std::function<Status(std::vector<NamedArray> &values)>;
/// Hands on values by variable path, as many at a time as the kind of file makes
/// needful: a .keras or .weights.h5 file whole, a part of a .weights.json, one array
/// of an .npz or .safetensors. Each of the state's weights has one.
Status visitWeights(const std::string &path, const ModelState &state,
                    const VisitWeights &visit);

/// Writes all variables to an .npz or .safetensors file, of which one at a time is
/// in memory. All processes take part; one of them writes the file.
Status writeValues(const std::string &path, const ModelState &state,
                   bool writesFile);
/// Is it a file by the places of variables in Keras' models?
bool holdsKerasWeights(const std::string &path);

/// The archive `from` with other values for its variables.
Status saveArchiveLike(const std::string &path, const std::string &from,
                       const ModelState &state,
                       const std::vector<NamedArray> &values);

/// A .weights.h5 or .weights.json file of the variables whose ports say their
/// place. `mostBytes`: of one of the files that a .weights.json names.
Status saveWeightsByPlace(const std::string &path, const ModelState &state,
                          const std::vector<NamedArray> &values,
                          uint64_t mostBytes);

/// Finds out whether a file could be written there, and writes nothing.
Status tryOutput(const std::string &path);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_SAVEDWEIGHTS_H
