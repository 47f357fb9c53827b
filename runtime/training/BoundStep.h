//===- BoundStep.h - one program with its buffers ---------------*- C++ -*-===//
//
//   Result<std::unique_ptr<BoundStep>> step = bind(runtime, program, state);
//   Status ok = (*step)->run(data, indices);       // writes the batch, executes
//   Status also = (*step)->addMetrics(epochMetrics, samples, batchLogs);
//
// Variables are the ModelState's buffers; batches and results have buffers of
// their own, made once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_TRAINING_BOUNDSTEP_H
#define WEFT_RUNTIME_TRAINING_BOUNDSTEP_H

#include "weft/runtime/training/Trainer.h"

namespace weft {

struct Trainer::BoundStep {
  static Result<std::unique_ptr<BoundStep>>
  bind(weft_runtime *runtime, weft_program *program, ModelState &state);
  ~BoundStep();

  /// Writes these samples to the data ports and executes the program.
  Status run(const TrainingData &data, const std::vector<int64_t> &indices);
  /// Adds the metrics of the last run to `mean`; `alone` gets this batch's.
  Status addMetrics(RunningMetrics &mean, int64_t samples, Logs &alone);
  Result<Array> readOutput(size_t output);

  weft_runtime *runtime = nullptr;
  weft_program *program = nullptr;
  ModelState *state = nullptr;
  std::vector<Port> inputs, outputs;
  double executeSeconds = 0; ///< of the last run, on the devices

private:
  Status bindInputs();
  Status bindOutputs();
  Status writeBatch(const TrainingData &data,
                    const std::vector<int64_t> &indices);
  Status takeStateOutputs();

  struct Metric {
    size_t output;
    std::string name; ///< loss, of the output metrics/loss
    bool isRunning;   ///< its value so far; its state is in ports of the step
  };
  std::vector<Metric> metrics;
  std::vector<weft_buffer *> inputBuffers, outputBuffers, owned;
  std::vector<uint8_t> batch; ///< of one port, kept for its memory
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAINING_BOUNDSTEP_H
