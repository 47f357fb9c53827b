//===- StepSource.cpp - what sources without a model have in common -------===//

#include "weft/tools/weft/StepSource.h"

#include "weft/tools/weft/SavedWeights.h"

using namespace weft;
using namespace weft::tool;

Status StepSource::find(const std::string &, int64_t) const { return {}; }

std::vector<int64_t> StepSource::batchSizes(const std::string &) const {
  return {};
}

const std::vector<NamedArray> &StepSource::savedWeights() const {
  static const std::vector<NamedArray> none;
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
                             const ModelState &state,
                             const std::vector<NamedArray> &values) const {
  return saveArchiveLike(path, weights, state, values);
}

Status StepSource::saveWeights(const std::string &path, const ModelState &state,
                               const std::vector<NamedArray> &values) const {
  return saveWeightsByPlace(path, state, values);
}

bool StepSource::verify(const std::string &, int64_t) {
  fail("--verify compares the stages of a model; leave it out for " +
       modelFile());
  return false;
}
