//===- SavedWeights.h - weights from and to Keras' files --------*- C++ -*-===//
//
//   // Or .weights.h5, .weights.json, .safetensors, .npz
//   Status ok = visitWeights("m.keras", state, [&](const StoredArray &value) {
//     return state.load(value);
//   });
//
// The facts of a variable's port name its dataset in Keras' files, as
// layers/dense/vars/0.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_TRAINING_SAVEDWEIGHTS_H
#define WEFT_TOOLS_WEFT_TRAINING_SAVEDWEIGHTS_H

#include "weft/data/formats/KerasArchive.h"
#include "weft/training/ModelState.h"

#include <functional>

namespace weft::tool {

/// Datasets of a Keras file by variable path. The state of an optimizer with
/// another number of variables than the model's is left out, with a warning if
/// both have some and it has trained.
Result<std::vector<StoredArray>>
savedValues(const std::vector<StoredArray> &datasets,
            std::vector<SavedVariable> variables, const std::string &where);

/// Refuses integers of 8 bits for a variable of floats, which a quantized model
/// has.
Status checkQuantized(const StoredArray &value, ElementType type,
                      const std::string &where);

/// Warns of members of an archive that Keras does not write.
void warnOfMembers(const std::string &path, const KerasArchive &archive);

using VisitWeights = std::function<Status(const StoredArray &value)>;
/// Passes the values of a file to `visit`, by variable path, one at a time.
/// Fails if the file lacks one of the state's weights.
Status visitWeights(const std::string &path, const ModelState &state,
                    const VisitWeights &visit);

/// Writes all variables except metrics' to an .npz or .safetensors file, block
/// by block. All processes call it; one of them writes the file.
Status writeValues(const std::string &path, const ModelState &state,
                   bool writesFile);
/// Whether a file of this name (.weights.h5, .weights.json) names weights by
/// the datasets of Keras' models.
bool holdsKerasWeights(const std::string &path);

/// Writes a copy of the archive `from` with the state's values for its
/// variables. All processes call it; one of them writes the file.
Status saveArchiveLike(const std::string &path, const std::string &from,
                       const ModelState &state, bool writesFile);

/// Writes a .weights.h5 or .weights.json file of the variables whose ports have
/// a dataset; an error if a weight has none. `mostBytes`: the most bytes of
/// weights in each file that a .weights.json names.
Status saveWeightsByPlace(const std::string &path, const ModelState &state,
                          uint64_t mostBytes, bool writesFile);

/// Checks whether a file could be written there, without writing.
Status tryOutput(const std::string &path);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAINING_SAVEDWEIGHTS_H
