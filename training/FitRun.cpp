#include "weft/training/FitRun.h"

#include <algorithm>

using namespace weft;

Trainer::FitRun::FitRun(Trainer &trainer, const TrainingData &data,
                        const FitOptions &options)
    : trainer(trainer), data(data), options(options),
      order({.samples = data.samples,
             .batchSize = options.batchSize,
             .shuffle = options.shuffle,
             .dropRemainder = options.dropRemainder,
             .stepsPerEpoch = options.stepsPerEpoch,
             .firstFit = options.firstFit},
            options.generator) {}

void Trainer::FitRun::print(const std::string &text) {
  if (options.print)
    options.print(text);
}

void Trainer::FitRun::warn(const Message &text) {
  if (options.warn)
    options.warn(text);
}

bool Trainer::FitRun::writesFiles() const {
  return weft_processes_rank(options.processes) == 0;
}

Status Trainer::FitRun::share(std::vector<uint8_t> &bytes) {
  return shareBytes(options.processes, bytes);
}

Status Trainer::FitRun::canSaveModel(bool weightsAlone) const {
  if (!options.canSaveModel || !options.saveModel)
    return Error{"nothing says how to write a model; train with weft fit"};
  return options.canSaveModel(weightsAlone);
}

Status Trainer::FitRun::saveModel(const std::string &path, bool weightsAlone) {
  return options.saveModel(path, weightsAlone);
}

std::set<std::string> Trainer::FitRun::shownNames() const {
  std::set<std::string> names;
  for (const Port &port : train ? train->outputs : std::vector<Port>())
    if (port.role == Role::Metric) {
      names.insert(metricName(port));
      if (options.validation)
        names.insert("val_" + metricName(port));
    }
  return names;
}

std::set<std::string> Trainer::FitRun::listNames() const {
  std::set<std::string> names;
  for (const Port &port : train ? train->outputs : std::vector<Port>())
    if (port.role == Role::Metric && !port.shape.empty() &&
        port.facts.isRunning)
      for (const char *prefix : {"", "val_"})
        names.insert(prefix + metricName(port));
  return names;
}

std::string Trainer::FitRun::rareNames() const {
  return options.validation && !options.validationEpochs.isEachEpoch() ? "val_"
                                                                       : "";
}

std::string Trainer::FitRun::direction(const std::string &metric) const {
  for (const Port &port : train ? train->outputs : std::vector<Port>())
    if (port.role == Role::Metric && metricName(port) == metric)
      if (!port.facts.direction.empty())
        return port.facts.direction;
  return metric == "loss" ? "down" : "";
}

Status Trainer::FitRun::check() const {
  if (options.shuffle != Shuffle::None && !options.generator)
    return Error{
        "shuffling needs a generator; pass one or train without shuffling"};
  if (options.batchSize < 1)
    return Error{Option{"batch_size", std::to_string(options.batchSize)} +
                 ": must be at least 1; give the samples of a step"};
  if (order.batches() == 0)
    return Error{Option{"batch_size", std::to_string(options.batchSize)} +
                 ": the " + std::to_string(data.samples) +
                 " samples fill no batch; choose a smaller one or "
                 "leave out " +
                 Option{"drop_remainder"}};
  return {};
}

/// Whether another step may follow the one that begins.
bool Trainer::FitRun::goesOn() const {
  int64_t before = running ? 1 : 0;
  bool isLastOfEpoch = batches + before + 1 >= order.steps();
  return (!isLastOfEpoch || epoch + 1 < options.epochs) &&
         (!options.maxSteps ||
          history.stepCount + before + 1 < *options.maxSteps);
}

/// Several processes get the same answer: all of them ask at the same points.
bool Trainer::FitRun::runsAhead(const Running &its) const {
  if (!options.runsAhead || !hasFinished || nextSize != its.indices.size())
    return false;
  if (options.callbacks)
    for (const std::shared_ptr<Callback> &callback : *options.callbacks)
      if (callback->awaitsBatch())
        return false;
  return its.step->canRunAhead() && !isStopped(options);
}

/// Checks whether the run ends after this step.
void Trainer::FitRun::checkEnd() {
  history.interrupted |= isStopped(options);
  ended |= history.interrupted ||
           (options.maxSteps && history.stepCount >= *options.maxSteps);
}

Status Trainer::FitRun::begin() {
  epoch = options.initialEpoch;
  ended = options.maxSteps && *options.maxSteps <= 0;
  if (!options.callbacks || options.callbacks->empty())
    return {};
  Result<BoundStep *> first =
      trainer.step(StepKind::Train, std::min(options.batchSize, data.samples));
  if (!first)
    return first.error();
  train = *first;
  if (Status ok = each(&Callback::trainBegin); !ok)
    return ok;
  return each(&Callback::restore);
}

Status Trainer::FitRun::beginEpoch() {
  if (!isInEpoch)
    if (Status ok = each(&Callback::epochBegin); !ok)
      return ok;
  if (options.verbose && options.epochs > 1)
    print("Epoch " + std::to_string(epoch + 1) + "/" +
          std::to_string(options.epochs) + "\n");
  if (std::exchange(isInEpoch, false))
    return {};
  batches = 0;
  metrics.reset();
  order.startEpoch();
  return state().resetMetrics();
}

Status Trainer::FitRun::startBatch(const std::vector<int64_t> &indices,
                                   std::unique_ptr<Running> &out) {
  Result<BoundStep *> bound =
      trainer.step(StepKind::Train, int64_t(indices.size()));
  if (!bound)
    return bound.error();
  BoundStep &step = **bound;
  if (options.stepBegin)
    if (Status ok = options.stepBegin(); !ok)
      return ok;
  std::vector<int64_t> next;
  if (goesOn())
    order.peek(next);
  nextSize = next.size();
  if (Status ok = step.take(data, indices); !ok)
    return ok;
  out.reset(new Running{&step, indices});
  if (!runsAhead(*out)) {
    trainer.prefetch(StepKind::Train, data, next);
    return step.runNow(out->run);
  }
  if (Status ok = step.start(out->run); !ok)
    return ok;
  trainer.prefetch(StepKind::Train, data, next); // after this step's batch
  return {};
}

Status Trainer::FitRun::runBatch(const std::vector<int64_t> &indices,
                                 ProgressBar &bar) {
  std::unique_ptr<Running> next;
  Status started = startBatch(indices, next);
  std::unique_ptr<Running> before = std::exchange(running, std::move(next));
  if (before) // its failure comes first
    if (Status ok = finish(std::move(before), bar); !ok)
      return ok;
  return started;
}

Status Trainer::FitRun::finish(std::unique_ptr<Running> its, ProgressBar &bar) {
  auto samples = int64_t(its->indices.size());
  BoundStep &step = *its->step;
  if (Status ok = step.finish(its->run, finished); !ok)
    return ok;
  Logs alone;
  if (Status ok = step.addMetrics(its->run, metrics, samples, alone); !ok)
    return ok;
  hasFinished = true;
  finished = std::chrono::steady_clock::now();
  history.addStep(options.keepSteps ? alone : Logs());
  steps = history.stepCount;
  ++batches;
  Logs logs = metrics.logs();
  if (Status ok = each(&Callback::batchEnd, batches - 1, logs); !ok)
    return ok;
  bar.update(batches, logs);
  if (options.stepEnd)
    if (Status ok =
            options.stepEnd({its->run.executeSeconds, its->run.waitSeconds,
                             its->indices, alone});
        !ok)
      return ok;
  if (!running) // else the run ends with the step that has begun
    checkEnd();
  return each(&Callback::settled, false);
}

Status Trainer::FitRun::validate(Logs &logs) {
  if (!options.validation || !options.validationEpochs.contains(epoch))
    return {};
  LoopOptions silent = options;
  silent.verbose = 0;
  silent.batchSize = options.validationBatchSize.value_or(options.batchSize);
  silent.steps = options.validationSteps;
  Result<Logs> validation = trainer.evaluate(*options.validation, silent);
  if (!validation)
    return validation.error();
  for (const auto &[name, value] : *validation)
    logs.emplace_back("val_" + name, value);
  return {};
}

Status Trainer::FitRun::runEpoch() {
  if (Status ok = beginEpoch(); !ok)
    return ok;
  ProgressBar bar = makeBar(options, order.steps());
  std::vector<int64_t> indices;
  for (;;) {
    if (running && !runsAhead(*running))
      if (Status ok = finish(std::move(running), bar); !ok)
        return ok;
    if (ended || stop || !order.next(indices))
      break;
    if (Status ok = runBatch(indices, bar); !ok)
      return ok;
  }
  if (running)
    if (Status ok = finish(std::move(running), bar); !ok)
      return ok;
  if (order.ranOut())
    warn("epoch " + std::to_string(epoch + 1) + ": the data ran out after " +
         std::to_string(batches) + " of " + std::to_string(order.steps()) +
         " steps; a pass over it ends an epoch: choose fewer with " +
         Option{"steps_per_epoch"});
  Logs logs = metrics.logs();
  if (!ended)
    if (Status ok = validate(logs); !ok)
      return ok;
  if (!history.interrupted)
    if (Status ok = each(&Callback::epochEnd, logs); !ok)
      return ok;
  bar.update(ended ? batches : order.steps(), logs, /*finalize=*/true);
  history.addEpoch(epoch, logs);
  if (history.interrupted)
    return {};
  ++epoch;
  batches = 0;
  return each(&Callback::settled, true);
}

Result<History> Trainer::FitRun::fit() {
  if (Status ok = check(); !ok)
    return ok.error();
  if (Status ok = begin(); !ok)
    return ok.error();
  while (epoch < options.epochs && !ended && !stop)
    if (Status ok = runEpoch(); !ok)
      return ok.error();
  if (history.stepCount > 0 && !history.interrupted)
    if (Status ok = state().takeAverages(); !ok)
      return ok.error();
  if (!history.interrupted)
    if (Status ok = each(&Callback::trainEnd); !ok)
      return ok.error();
  return history;
}

Result<History> Trainer::fit(const TrainingData &data,
                             const FitOptions &options) {
  EndOfData end{*this, data};
  return FitRun(*this, data, options).fit();
}
