#include "weft/training/callbacks/TensorBoard.h"

#include "weft/training/callbacks/LearningRates.h"

namespace weft {

void TensorBoard::options(keras::Options &o) {
  o.file("log_dir", folder);
  o.integer("histogram_freq", histogramEvery, keras::kNotNegative);
  // Keras writes a graph of its objects, which do not exist here.
  o.flag("write_graph", writesGraph);
  o.refused("write_images", "histogram_freq draws weights", "false");
  o.flag("write_steps_per_second", writesSpeed);
  o.countOr("update_freq", everyBatches, {{"epoch", 0}, {"batch", 1}});
  o.refused("profile_batch", Option{"stats"} + " has times of steps", "0");
  o.refused("embeddings_freq", "ModelCheckpoint saves weights", "0");
  o.refused("embeddings_metadata", "ModelCheckpoint saves weights");
}

Status TensorBoard::trainBegin(TrainingRun &run) {
  batches = 0;
  for (const std::string &name : run.listNames())
    return Error{"TensorBoard: metric \"" + name +
                 "\" gives several numbers, a chart shows one; leave the "
                 "callback out, or give a metric for each number"};
  if (!run.writesFiles())
    return {};
  Result<EventFile> file = EventFile::create(folder + "/train");
  if (!file)
    return file.error();
  train.emplace(std::move(*file));
  return {};
}

Status TensorBoard::epochBegin(TrainingRun &) {
  epochStart = Clock::now();
  batchesBefore = batches;
  return {};
}

Status TensorBoard::batchEnd(TrainingRun &, int64_t, const Logs &logs) {
  ++batches;
  if (!train || !everyBatches || batches % everyBatches != 0)
    return {};
  for (const auto &[name, value] : logs)
    train->scalar("batch_" + name, batches, float(value.shown()));
  return train->flush();
}

/// The number of the optimizer's steps, in this run and before it.
static Result<int64_t> iterationsOf(const TrainingRun &run,
                                    const ModelState &state) {
  for (const ModelState::Variable &variable : state.variables())
    if (variable.port.name.ends_with("/iteration") &&
        variable.port.role == Role::State) {
      Result<Array> value = state.read(variable.port.name);
      if (!value)
        return value.error();
      return int64_t(value->at(0));
    }
  return run.steps;
}

Status TensorBoard::writeValidation(TrainingRun &run, const Logs &logs) {
  Result<int64_t> iterations = iterationsOf(run, run.state());
  if (!iterations)
    return iterations.error();
  for (const auto &[name, value] : logs) {
    if (!name.starts_with("val_") || !run.writesFiles())
      continue;
    if (!validation) {
      Result<EventFile> file = EventFile::create(folder + "/validation");
      if (!file)
        return file.error();
      validation.emplace(std::move(*file));
    }
    std::string metric = name.substr(4);
    validation->scalar("evaluation_" + metric + "_vs_iterations", *iterations,
                       float(value.shown()));
    validation->scalar("epoch_" + metric, run.epoch, float(value.shown()));
  }
  return validation ? validation->flush() : Status{};
}

Status TensorBoard::writeEpoch(TrainingRun &run, const Logs &logs) {
  Logs shown;
  for (const auto &entry : logs)
    if (!entry.first.starts_with("val_"))
      shown.push_back(entry);
  if (Status ok = addRates(run.state(), shown); !ok)
    return ok;
  if (writesSpeed) {
    std::chrono::duration<double> seconds = Clock::now() - epochStart;
    shown.emplace_back("steps_per_second",
                       double(batches - batchesBefore) / seconds.count());
  }
  for (const auto &[name, value] : shown)
    if (train)
      train->scalar("epoch_" + name, run.epoch, float(value.shown()));
  return {};
}

/// Writes the weights' histograms. All processes read the weights; one writes.
Status TensorBoard::writeWeights(TrainingRun &run) {
  for (const StoredArray &weight : run.state().storedWeights()) {
    Result<Histogram> histogram = Histogram::of(weight);
    if (!histogram)
      return histogram.error();
    if (train)
      train->histogram(weight.name + "/histogram", run.epoch, *histogram);
  }
  return {};
}

Status TensorBoard::epochEnd(TrainingRun &run, Logs &logs) {
  if (Status ok = writeValidation(run, logs); !ok)
    return ok;
  if (Status ok = writeEpoch(run, logs); !ok)
    return ok;
  if (histogramEvery && run.epoch % histogramEvery == 0)
    if (Status ok = writeWeights(run); !ok)
      return ok;
  return train ? train->flush() : Status{};
}

void TensorBoard::save(Checkpoint &to) const {
  to.said = {{"batches", batches}};
}

Status TensorBoard::resume(TrainingRun &, const Checkpoint &from) {
  batches = batchesBefore = from.integer("batches");
  epochStart = Clock::now();
  return {};
}

} // namespace weft
