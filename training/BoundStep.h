//===- BoundStep.h - one program with its buffers ---------------*- C++ -*-===//
//
//   Result<std::unique_ptr<BoundStep>> step = bind(runtime, program, state);
//   Status ok = (*step)->take(data, indices);      // writes the batch
//   (*step)->prefetch(data, next, thread, true);   // the next one, meanwhile
//   ok = (*step)->execute();
//   Status also = (*step)->addMetrics(epochMetrics, samples, batchLogs);
//
// Variables are the ModelState's buffers; batches and results have buffers of
// their own, made once. Batches have two sets of buffers: while the program
// reads one, a thread fills the other (prefetch). If devices have only one set,
// the thread prepares the batch in the host's memory.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_BOUNDSTEP_H
#define WEFT_TRAINING_BOUNDSTEP_H

#include "weft/training/BackgroundThread.h"
#include "weft/training/Trainer.h"

#include <chrono>

namespace weft {

struct Trainer::BoundStep {
  static Result<std::unique_ptr<BoundStep>>
  bind(weft_runtime *runtime, weft_program *program, ModelState &state);
  ~BoundStep();

  /// Begins to write these samples to the buffers that take() will swap in, if
  /// it gets the same samples; does nothing if others wait for take(). `data`
  /// must last until then, or until drop(). `onDevices`: whether to write to a
  /// second set of buffers on the devices, which hasSpare() made. Otherwise the
  /// samples stay in memory of the host, from which take() copies.
  void prefetch(const TrainingData &data, const std::vector<int64_t> &indices,
                BackgroundThread &thread, bool onDevices);
  /// Makes the second set of buffers at the first call, unless a data port is
  /// donated; returns false if there is none. `lack`: as in writeAheadOnDevices().
  bool hasSpare(const std::function<bool(bool mine)> &lack);
  /// The bytes of the second set of buffers on one device.
  uint64_t spareBytes = 0;
  /// Writes these samples to the data ports; if they were written ahead on the
  /// devices, only waits until that is done.
  Status take(const TrainingData &data, const std::vector<int64_t> &indices);
  Status execute();

  /// A run that may not be over. The destructor waits for it.
  struct Started {
    Started() = default;
    Started(const Started &) = delete;
    Started &operator=(const Started &) = delete;
    ~Started();
    weft_ticket *ticket = nullptr; ///< null once it is over
    std::vector<Array> values;     ///< values of the metrics, once it is over
    std::chrono::steady_clock::time_point begin;
    double executeSeconds = 0, waitSeconds = 0;
  };
  /// Whether another run may begin before this one is over.
  bool canRunAhead() const;
  /// Begins a run on the batch that was taken.
  Status start(Started &out);
  /// Runs on the batch that was taken; finish() has nothing left to do.
  Status runNow(Started &out);
  /// Waits for a run, and sets executeSeconds: the time since it began, or since
  /// `before`, when the devices were busy until then.
  Status finish(Started &run, std::chrono::steady_clock::time_point before);
  /// Drops prefetched samples of this data, after they are written.
  void drop(const TrainingData &data);
  /// Adds the metrics of a run to `mean`; `alone` gets this batch's, and of
  /// metrics over all batches the value so far.
  Status addMetrics(const Started &run, RunningMetrics &mean, int64_t samples,
                    Logs &alone) const;
  /// Adds those of the last execute().
  Status addMetrics(RunningMetrics &mean, int64_t samples, Logs &alone) const {
    return addMetrics(last, mean, samples, alone);
  }
  Result<Array> readOutput(size_t output) const;

  weft_runtime *runtime = nullptr;
  weft_program *program = nullptr;
  ModelState *state = nullptr;
  std::vector<Port> inputs, outputs;
  double executeSeconds = 0; ///< time of the last execute(), on the devices
  double waitSeconds = 0;    ///< time of the last take()

private:
  Status bindInputs();
  Status bindOutputs();
  Status takeBatch(const TrainingData &data,
                   const std::vector<int64_t> &indices);
  Status takeAhead();
  Status takeStateOutputs();
  /// Whether an output is a variable that reuses no input's buffer.
  bool isCopied(size_t output) const;
  Status run(Started &out, bool waits);

  /// Buffers by port; those of `spare` are null for ports without data.
  using Buffers = std::vector<weft_buffer *>;
  /// The bytes of a batch, by port.
  using Bytes = std::vector<std::vector<uint8_t>>;
  Status gather(const TrainingData &data, const std::vector<int64_t> &indices,
                Bytes &to) const;
  Status write(const Bytes &batch, const Buffers &to) const;
  Status createSpare(Buffers &made, uint64_t &bytes) const;

  struct Metric {
    size_t output;
    std::string name; ///< loss, of the output metrics/loss
    /// A value over all batches so far, whose state is in ports of the step.
    bool isRunning;
  };
  std::vector<Metric> metrics;
  Buffers inputBuffers, outputBuffers, owned;
  Started last;  ///< what execute() started
  Buffers spare; ///< the other set of data ports; empty if there is none
  bool askedForSpare = false;
  Bytes bytes, bytesAhead; ///< kept to reuse their memory
  /// The batch that is being written to `spare`, or to bytesAhead only.
  struct Ahead {
    const TrainingData *data = nullptr;
    std::vector<int64_t> indices;
    std::future<Status> written;
    bool onDevices = false;
  } ahead;
};

struct Trainer::EndOfData {
  Trainer &trainer;
  const TrainingData &data;
  ~EndOfData();
};

} // namespace weft

#endif // WEFT_TRAINING_BOUNDSTEP_H
