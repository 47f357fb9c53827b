//===- StepSource.h - where a training session's programs come from -------===//
//
//   std::unique_ptr<StepSource> steps = *StepCompiler::open(flags); // model.json, model.keras
//   auto image = steps->compile("train", 128);                      // bytes of a .weft file
//
// A Keras model is compiled (StepCompiler), and so is a file of weft.trace
// (TracedSteps); a .weft file contains programs (CompiledSteps), so that
// training from one needs no compiler.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_TRAINING_STEPSOURCE_H
#define WEFT_TOOLS_WEFT_TRAINING_STEPSOURCE_H

#include "weft/tools/weft/Commands.h"
#include "weft/training/ModelState.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace weft::tool {

class StepSource {
public:
  virtual ~StepSource() = default;
  /// The bytes of a .weft file of a step. An error whose diagnostic was printed
  /// has no message.
  virtual Result<std::vector<uint8_t>> compile(const std::string &step,
                                               int64_t batchSize) = 0;
  /// Whether there is such a step; the error lists those that exist.
  virtual Status find(const std::string &step, int64_t batchSize) const;
  /// The batch sizes for which there is such a step; empty: any.
  virtual std::vector<int64_t> batchSizes(const std::string &step) const;
  const std::string &modelFile() const { return flags.model; }
  const DeviceList &devices() const { return usedDevices; }
  int64_t batchSize() const { return flags.batchSize; }
  /// The seed, which at least determines the order of the samples.
  uint64_t seed() const { return seedValue; }
  /// Whether initial values depend on seed().
  virtual bool drawsBySeed() const { return false; }
  /// What of the steps changes a training's results, as an object of JSON:
  /// model, loss, metrics, optimizer and rate; or a hash of the program that
  /// the steps were made from. Layouts and devices are no part of it.
  virtual std::string settings() const = 0;
  /// Values of the model's file, by variable path.
  virtual const std::vector<StoredArray> &savedWeights() const;
  /// Makes programs of train and evaluate take `sample_weight` from here on.
  virtual void takeSampleWeight(const std::map<std::string, Shape> &) {}
  /// Checks, before any work, whether saveModel can write; `weights` is
  /// --weights.
  virtual Status canSaveModel(const std::string &weights) const;
  /// Writes a .keras file that Keras loads. A source without a model writes a
  /// copy of the archive `weights` with the variables' values. All processes
  /// call this function and the next, to read the values; one of them writes
  /// the file.
  virtual Status saveModel(const std::string &path, const std::string &weights,
                           const ModelState &state, bool writesFile) const;
  /// Writes a .weights.h5 file that Keras loads, or a .weights.json with files
  /// of at most `mostBytes` bytes of weights.
  virtual Status saveWeights(const std::string &path, const ModelState &state,
                             uint64_t mostBytes, bool writesFile) const;
  /// Checks for --verify whether all stages give equal results in the reference
  /// interpreter. Prints differences.
  virtual Status verify(const std::string &step, int64_t batchSize);
  /// Checks for --check-numerics whether a step can be repeated op by op.
  virtual Status canCheckNumerics() const;
  /// The op and layer of the first NaN or infinity of a step, from its inputs
  /// by port.
  virtual Result<std::string>
  findNonFinite(const std::string &step, int64_t batchSize,
                const std::vector<NamedArray> &inputs);

protected:
  ModelFlags flags;
  DeviceList usedDevices;
  uint64_t seedValue = 0;
};

using OpenSteps =
    std::function<Result<std::unique_ptr<StepSource>>(const ModelFlags &)>;

int runFit(const FitFlags &flags, const OpenSteps &open);
int runEvaluate(const EvaluateFlags &flags, const OpenSteps &open);
int runPredict(const EvaluateFlags &flags, const OpenSteps &open);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAINING_STEPSOURCE_H
