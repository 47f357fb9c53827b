#include "weft/training/Trainer.h"

#include "weft/training/BatchPlan.h"
#include "weft/training/BoundStep.h"

using namespace weft;

Trainer::Trainer(weft_runtime *runtime, ModelState &state,
                 ProgramSource programs)
    : runtime(runtime), state(state), programs(std::move(programs)) {}
Trainer::~Trainer() = default;

ProgressBar weft::makeBar(const LoopOptions &options, int64_t target) {
  return ProgressBar({target, options.verbose, options.terminal, options.clock,
                      options.print});
}

bool weft::isStopped(const LoopOptions &options) {
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
  // A program may add variables, which need initial values.
  if (Status ok = state.initialise(); !ok)
    return ok.error();
  return known.get();
}

/// The next batch is written ahead only if its program exists, as another size
/// may have to be compiled first.
void Trainer::prefetch(StepKind kind, const TrainingData &data,
                       const std::vector<int64_t> &next) {
  auto found = steps.find({kind, int64_t(next.size())});
  if (found != steps.end() && found->second)
    found->second->prefetch(data, next, thread,
                            aheadOnDevices &&
                                found->second->hasSpare(devicesLack));
}

Status Trainer::run(BoundStep &step, StepKind kind, const TrainingData &data,
                    const std::vector<int64_t> &indices,
                    const std::vector<int64_t> &next) {
  if (Status ok = step.take(data, indices); !ok)
    return ok;
  prefetch(kind, data, next);
  return step.execute();
}

uint64_t Trainer::aheadBytes() const {
  uint64_t bytes = 0;
  for (const auto &[key, step] : steps)
    bytes += step ? step->spareBytes : 0;
  return bytes;
}

Trainer::EndOfData::~EndOfData() {
  for (auto &[key, step] : trainer.steps)
    if (step)
      step->drop(data);
}

static EpochOrder orderOf(const TrainingData &data,
                          const LoopOptions &options) {
  return EpochOrder({.samples = data.samples,
                     .batchSize = options.batchSize,
                     .shuffle = Shuffle::None,
                     .dropRemainder = options.dropRemainder,
                     .stepsPerEpoch = options.steps},
                    nullptr);
}

Result<Logs> Trainer::testLoop(const TrainingData &data,
                               const LoopOptions &options, ProgressBar &bar) {
  EndOfData end{*this, data};
  EpochOrder order = orderOf(data, options);
  RunningMetrics metrics;
  std::vector<int64_t> indices, next;
  Logs alone;
  int64_t done = 0;
  if (Status ok = state.resetMetrics(); !ok)
    return ok.error();
  order.startEpoch();
  while (!isStopped(options) && order.next(indices)) {
    Result<BoundStep *> bound =
        step(StepKind::Evaluate, int64_t(indices.size()));
    if (!bound)
      return bound.error();
    next.clear();
    if (done + 1 < order.steps())
      order.peek(next);
    if (Status ok = run(**bound, StepKind::Evaluate, data, indices, next); !ok)
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

Result<Logs> Trainer::evaluate(const TrainingData &data,
                               const LoopOptions &options) {
  ProgressBar bar = makeBar(options, orderOf(data, options).steps());
  return testLoop(data, options, bar);
}

/// Plans batches of the given size, or of the sizes with steps.
static std::vector<PlannedBatch> predictPlan(int64_t samples,
                                             const LoopOptions &options) {
  if (!options.batchSizes.empty())
    return planBatches(samples, options.batchSizes);
  auto plan = planBatches(samples, {options.batchSize});
  if (!plan.empty())
    plan.back().size = plan.back().samples; // a program of its own size
  return plan;
}

Result<std::vector<NamedArray>> Trainer::predict(const TrainingData &data,
                                                 const LoopOptions &options) {
  EndOfData end{*this, data};
  std::vector<PlannedBatch> plan = predictPlan(data.samples, options);
  ProgressBar bar = makeBar(options, int64_t(plan.size()));
  std::vector<NamedArray> out;
  int64_t done = 0;
  for (const PlannedBatch &batch : plan) {
    if (isStopped(options))
      break;
    Result<BoundStep *> bound = step(StepKind::Predict, batch.size);
    if (!bound)
      return bound.error();
    std::vector<int64_t> next;
    if (&batch != &plan.back())
      next = paddedIndices(*(&batch + 1));
    if (Status ok =
            run(**bound, StepKind::Predict, data, paddedIndices(batch), next);
        !ok)
      return ok.error();
    size_t slot = 0;
    for (size_t o = 0; o < (*bound)->outputs.size(); ++o) {
      if ((*bound)->outputs[o].role != Role::Output)
        continue;
      Result<Array> part = (*bound)->readOutput(o);
      if (!part)
        return part.error();
      if (batch.samples < batch.size && part->shape[0] == batch.size) {
        part->bytes.resize(part->rowBytes() * batch.samples);
        part->shape[0] = batch.samples;
      }
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
