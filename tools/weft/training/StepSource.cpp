//===- StepSource.cpp - the base of sources without a model ---------------===//

#include "weft/tools/weft/training/StepSource.h"

#include "weft/tools/weft/training/SavedWeights.h"

using namespace weft;
using namespace weft::tool;

Status StepSource::find(const std::string &, int64_t) const { return {}; }

std::vector<int64_t> StepSource::batchSizes(const std::string &) const {
  return {};
}

const std::vector<StoredArray> &StepSource::savedWeights() const {
  static const std::vector<StoredArray> none;
  return none;
}

Status StepSource::canSaveModel(const std::string &weights) const {
  if (weights.ends_with(".keras"))
    return {};
  return Error{modelFile() +
               " holds steps, and no model that Keras could load; give the "
               "model as --weights model.keras, or write the values alone with "
               "--save-weights w.npz"};
}

Status StepSource::saveModel(const std::string &path,
                             const std::string &weights,
                             const ModelState &state, bool writesFile) const {
  return saveArchiveLike(path, weights, state, writesFile);
}

Status StepSource::saveWeights(const std::string &path, const ModelState &state,
                               uint64_t mostBytes, bool writesFile) const {
  return saveWeightsByPlace(path, state, mostBytes, writesFile);
}

Status StepSource::verify(const std::string &, int64_t) {
  return Error{"--verify compares the stages of a model; leave it out for " +
               modelFile()};
}

Status StepSource::canCheckNumerics() const {
  return Error{"--check-numerics does a step again, op by op; " + modelFile() +
               " holds machine code: give the model or the traced step that it "
               "was compiled from, or leave the flag out"};
}

Result<std::string> StepSource::findNonFinite(const std::string &, int64_t,
                                              const std::vector<NamedArray> &) {
  return canCheckNumerics().error();
}
