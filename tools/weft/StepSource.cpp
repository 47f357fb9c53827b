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
                               const std::vector<NamedArray> &values,
                               uint64_t mostBytes) const {
  return saveWeightsByPlace(path, state, values, mostBytes);
}

bool StepSource::verify(const std::string &, int64_t) {
  fail("--verify compares the stages of a model; leave it out for " +
       modelFile());
  return false;
}

Status StepSource::canCheckNumerics() const {
  return Error{"--check-numerics does a step again, op by op, from a Keras "
               "model; " +
               modelFile() + " holds steps: give the model, or leave it out"};
}

Result<std::string> StepSource::findNonFinite(const std::string &, int64_t,
                                              const std::vector<NamedArray> &) {
  return canCheckNumerics().error();
}
