#include "weft/runtime/training/Trainer.h"

#include "weft/runtime/training/BoundStep.h"

#include <algorithm>
#include <cstdio>

namespace weft {

Trainer::Trainer(weft_runtime *runtime, ModelState &state,
                 ProgramSource programs)
    : runtime(runtime), state(state), programs(std::move(programs)) {}
Trainer::~Trainer() = default;

static void print(const LoopOptions &options, const std::string &text) {
  if (options.print)
    return options.print(text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

static ProgressBar makeBar(const LoopOptions &options, int64_t target) {
  return ProgressBar({target, options.verbose, options.terminal, options.clock,
                      options.print});
}

static bool stopped(const LoopOptions &options) {
  bool mine = options.stop && options.stop->load();
  return options.vote ? options.vote(mine) : mine;
}

Result<Trainer::BoundStep *> Trainer::step(StepKind kind, int64_t batch) {
  std::unique_ptr<BoundStep> &known = steps[{kind, batch}];
  if (known)
    return known.get();
  Result<weft_program *> program = programs(kind, batch);
  if (!program)
    return program.error();
  Result<std::unique_ptr<BoundStep>> bound =
      BoundStep::bind(runtime, *program, state);
  if (!bound)
    return bound.error();
  known = std::move(*bound);
  // A program may bring variables that were not there before.
  if (Status ok = state.initialise(); !ok)
    return ok.error();
  return known.get();
}

/// What one call of fit() carries from epoch to epoch.
struct Trainer::FitRun {
  const TrainingData &data;
  const FitOptions &options;
  EpochOrder order;
  History history;
  bool ended = false;

  /// After a step: does the run end here?
  bool checkEnd() {
    history.interrupted |= stopped(options);
    ended |= history.interrupted ||
             (options.maxSteps && history.stepCount >= *options.maxSteps);
    return ended;
  }
};

Result<Logs> Trainer::runEpoch(FitRun &run, int64_t epoch) {
  const FitOptions &options = run.options;
  if (options.verbose && options.epochs > 1)
    print(options, "Epoch " + std::to_string(epoch + 1) + "/" +
                       std::to_string(options.epochs) + "\n");
  ProgressBar bar = makeBar(options, run.order.steps());
  RunningMetrics metrics;
  std::vector<int64_t> indices;
  Logs alone;
  int64_t done = 0;
  if (Status ok = state.resetMetrics(); !ok)
    return ok.error();
  run.order.startEpoch();
  while (!run.ended && run.order.next(indices)) {
    Result<BoundStep *> bound = step(StepKind::Train, int64_t(indices.size()));
    if (!bound)
      return bound.error();
    if (options.stepBegin)
      options.stepBegin();
    if (Status ok = (*bound)->run(run.data, indices); !ok)
      return ok.error();
    if (Status ok =
            (*bound)->addMetrics(metrics, int64_t(indices.size()), alone);
        !ok)
      return ok.error();
    run.history.addStep(alone);
    bar.update(++done, metrics.logs());
    if (options.stepEnd)
      options.stepEnd((*bound)->executeSeconds);
    run.checkEnd();
  }
  if (run.order.ranOut())
    print(options, "warning: the data ran out after " + std::to_string(done) +
                       " of " + std::to_string(run.order.steps()) +
                       " steps of this epoch\n");
  Logs logs = metrics.logs();
  if (options.validation && !run.ended) {
    LoopOptions silent = options;
    silent.verbose = 0;
    Result<Logs> validation = evaluate(*options.validation, silent);
    if (!validation)
      return validation.error();
    for (const auto &[name, value] : *validation)
      logs.emplace_back("val_" + name, value);
  }
  bar.update(run.ended ? done : run.order.steps(), logs, /*finalize=*/true);
  return logs;
}

Result<History> Trainer::fit(const TrainingData &data,
                             const FitOptions &options) {
  if (options.shuffle && !options.generator)
    return Error{
        "shuffling needs a generator; pass one or train without shuffling"};
  if (options.batchSize < 1)
    return Error{"--batch-size " + std::to_string(options.batchSize) +
                 ": must be at least 1; give the samples of a step"};
  FitRun run{data,
             options,
             EpochOrder({.samples = data.samples,
                         .batchSize = options.batchSize,
                         .shuffle = options.shuffle,
                         .dropRemainder = options.dropRemainder,
                         .stepsPerEpoch = options.stepsPerEpoch,
                         .firstFit = options.firstFit},
                        options.generator),
             {}};
  if (run.order.batches() == 0)
    return Error{"--batch-size " + std::to_string(options.batchSize) +
                 ": the " + std::to_string(data.samples) +
                 " samples fill no batch; choose a smaller one or "
                 "leave out --drop-remainder"};
  run.ended = options.maxSteps && *options.maxSteps <= 0;
  for (int64_t epoch = options.initialEpoch;
       epoch < options.epochs && !run.ended; ++epoch) {
    Result<Logs> logs = runEpoch(run, epoch);
    if (!logs)
      return logs.error();
    run.history.addEpoch(epoch, *logs);
    if (options.epochEnd && !run.ended && !options.epochEnd(epoch, *logs))
      break;
  }
  if (run.history.stepCount > 0 && !run.history.interrupted)
    if (Status ok = state.takeAverages(); !ok)
      return ok.error();
  return run.history;
}

Result<Logs> Trainer::testLoop(const TrainingData &data,
                               const LoopOptions &options, ProgressBar &bar) {
  EpochOrder order({.samples = data.samples,
                    .batchSize = options.batchSize,
                    .shuffle = false,
                    .dropRemainder = options.dropRemainder},
                   nullptr);
  RunningMetrics metrics;
  std::vector<int64_t> indices;
  Logs alone;
  int64_t done = 0;
  if (Status ok = state.resetMetrics(); !ok)
    return ok.error();
  order.startEpoch();
  while (!stopped(options) && order.next(indices)) {
    Result<BoundStep *> bound =
        step(StepKind::Evaluate, int64_t(indices.size()));
    if (!bound)
      return bound.error();
    if (Status ok = (*bound)->run(data, indices); !ok)
      return ok.error();
    if (Status ok =
            (*bound)->addMetrics(metrics, int64_t(indices.size()), alone);
        !ok)
      return ok.error();
    bar.update(++done, metrics.logs());
  }
  bar.update(done, metrics.logs(), /*finalize=*/true);
  return metrics.logs();
}

static int64_t batchesOf(const TrainingData &data, const LoopOptions &options) {
  return EpochOrder({.samples = data.samples,
                     .batchSize = options.batchSize,
                     .shuffle = false,
                     .dropRemainder = options.dropRemainder},
                    nullptr)
      .batches();
}

Result<Logs> Trainer::evaluate(const TrainingData &data,
                               const LoopOptions &options) {
  ProgressBar bar = makeBar(options, batchesOf(data, options));
  return testLoop(data, options, bar);
}

Result<std::vector<NamedArray>> Trainer::predict(const TrainingData &data,
                                                 const LoopOptions &options) {
  ProgressBar bar = makeBar(options, batchesOf(data, options));
  EpochOrder order({.samples = data.samples,
                    .batchSize = options.batchSize,
                    .shuffle = false,
                    .dropRemainder = options.dropRemainder},
                   nullptr);
  std::vector<NamedArray> out;
  std::vector<int64_t> indices;
  int64_t done = 0;
  order.startEpoch();
  while (!stopped(options) && order.next(indices)) {
    Result<BoundStep *> bound =
        step(StepKind::Predict, int64_t(indices.size()));
    if (!bound)
      return bound.error();
    if (Status ok = (*bound)->run(data, indices); !ok)
      return ok.error();
    size_t slot = 0;
    for (size_t o = 0; o < (*bound)->outputs.size(); ++o) {
      if ((*bound)->outputs[o].role != Role::Output)
        continue;
      Result<Array> part = (*bound)->readOutput(o);
      if (!part)
        return part.error();
      if (slot == out.size()) {
        out.push_back({(*bound)->outputs[o].name, std::move(*part)});
      } else {
        Array &whole = out[slot].array;
        whole.shape[0] += part->shape[0];
        whole.bytes.insert(whole.bytes.end(), part->bytes.begin(),
                           part->bytes.end());
      }
      ++slot;
    }
    bar.update(++done, {});
  }
  bar.update(done, {}, /*finalize=*/true);
  return out;
}

} // namespace weft
