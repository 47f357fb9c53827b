//===- TrainingSession.h - a model on devices -------------------*- C++ -*-===//
//
// The steps and the runtime of one command: programs are made when a batch size
// first needs them, all for one set of variables.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_TRAINING_TRAININGSESSION_H
#define WEFT_TOOLS_WEFT_TRAINING_TRAININGSESSION_H

#include "weft/tools/weft/training/StepSource.h"
#include "weft/training/Trainer.h"

#include <map>

namespace weft::tool {

class TrainingSession {
public:
  static Result<std::unique_ptr<TrainingSession>>
  open(const ModelFlags &flags, const OpenSteps &open, const DataFlags &data,
       DataPurpose purpose, weft_processes *processes);
  ~TrainingSession();

  /// The program of a step for a batch size, compiled at the first call.
  Result<weft_program *> program(StepKind kind, int64_t batch);
  /// The arrays that the flags name for the program's ports.
  Result<TrainingData> data(StepKind kind, const DataFlags &flags,
                            DataPurpose purpose);
  /// Sets the values of the model's file, then those of a weights file, if any,
  /// then initial values of variables without one.
  Status initialise(StepKind kind, const std::string &weightsFile);
  Trainer &trainer() { return *loop; }
  ModelState &state() { return *variables; }
  StepSource &source() { return *steps; }
  int64_t batchSize() const { return steps->batchSize(); }
  /// The hash of the values of the file that --weights names; 0 without one.
  uint64_t weightsHash() const { return hashOfWeights; }
  weft_runtime *runtime() { return devices; }
  /// Whether a step may begin, and its batch be written, before the last one is
  /// over. On CPUs of several processes no thread may use the network meanwhile.
  bool canBeginBeforeEnd() const;
  double compileMilliseconds() const { return compileMs; }

private:
  TrainingSession() = default;
  Status loadWeights(const std::string &path);
  /// Makes the steps take weights of samples if flags or files give any.
  Status findWeights(const DataFlags &data, DataPurpose purpose);
  Status checkSampleWeight(StepKind kind, const std::vector<Port> &ports) const;
  /// The error with the name of the model's file before it.
  Error ofModel(const Error &error) const;
  std::unique_ptr<StepSource> steps;
  weft_processes *processes = nullptr; ///< not owned
  /// The flag or file that weighs samples; empty if none does.
  std::string weightsOf;
  /// Whether each training sample has a weight of its own.
  bool weighsEach = false;
  weft_runtime *devices = nullptr;
  std::unique_ptr<ModelState> variables;
  std::unique_ptr<Trainer> loop;
  std::map<std::pair<StepKind, int64_t>, weft_program *> programs;
  double compileMs = 0;
  uint64_t hashOfWeights = 0;
  std::optional<uint64_t> givenSeed; ///< the number of --seed
};

/// Reads the numbers of a table's texts that are beside the weights, or beside
/// the model. Only training may add some, if there is no such file.
Status readVocabulary(DataFlags &data, const std::string &model,
                      const std::string &weights, DataPurpose purpose);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAINING_TRAININGSESSION_H
