#include "weft/training/callbacks/ModelCheckpoint.h"

#include "weft/base/ClosestName.h"

#include <cstdio>
#include <filesystem>

namespace weft {

void ModelCheckpoint::options(keras::Options &o) {
  o.required("filepath");
  o.file("filepath", filepath);
  monitorOptions(o);
  o.integer("verbose", verbose, keras::kNotNegative);
  o.flag("save_best_only", bestOnly);
  o.flag("save_weights_only", weightsOnly);
  modeOption(o);
  o.countOr("save_freq", everyBatches, {{"epoch", 0}});
  o.maybeNumber("initial_value_threshold", best, keras::kAnyNumber);
  std::string ending = weightsOnly ? ".weights.h5" : ".keras";
  o.check(filepath.empty() || filepath.ends_with(ending),
          "\"filepath\" " + filepath + " must end in " + ending +
              (weightsOnly ? "; \"save_weights_only\" writes such a file"
                           : "; with \"save_weights_only\" in .weights.h5"));
  auto parsed = PythonPattern::parse(filepath);
  o.check(bool(parsed),
          "\"filepath\" " + filepath + ": " + (parsed ? "" : parsed.message()));
  if (parsed)
    pattern = std::move(*parsed);
}

/// Checks that every name of the pattern has a value whenever a file is
/// written.
Status ModelCheckpoint::checkNames(const TrainingRun &run) const {
  std::set<std::string> known = run.shownNames();
  if (everyBatches)
    std::erase_if(known,
                  [](const auto &name) { return name.starts_with("val_"); });
  known.insert("epoch");
  if (everyBatches)
    known.insert("batch");
  for (const std::string &name : pattern.names()) {
    bool isRare = !run.rareNames().empty() && name.starts_with(run.rareNames());
    if (isRare)
      return Error{filepath + ": {" + name +
                   "} has no value in epochs without a validation; leave out " +
                   Option{"validation_freq"}};
    if (run.listNames().contains(name))
      return Error{filepath + ": {" + name +
                   "} gives several numbers, of which a file's name cannot be "
                   "made; name a metric of one number, such as {loss}"};
    if (known.contains(name) || name.starts_with("learning_rate"))
      continue;
    return Error{filepath + ": nothing is called " + name + " " +
                 (everyBatches ? "after a batch" : "at the end of an epoch") +
                 "; " + suggestion(name, known, "there are " + listOf(known))};
  }
  return {};
}

Status ModelCheckpoint::trainBegin(TrainingRun &run) {
  if (Status ok = checkNames(run); !ok)
    return ok;
  if (Status can = run.canSaveModel(weightsOnly); !can)
    return can.in(filepath);
  return MonitorCallback::trainBegin(run);
}

Status ModelCheckpoint::batchEnd(TrainingRun &run, int64_t batch,
                                 const Logs &logs) {
  if (!everyBatches || ++batchesSince < everyBatches)
    return {};
  batchesSince = 0;
  return write(run, batch, logs);
}

Status ModelCheckpoint::epochEnd(TrainingRun &run, Logs &logs) {
  return everyBatches ? Status{} : write(run, std::nullopt, logs);
}

static std::string fiveDigits(double value) {
  char text[400];
  std::snprintf(text, sizeof text, "%.5f", value);
  return text;
}

bool ModelCheckpoint::isWanted(TrainingRun &run, const Logs &logs,
                               const std::string &path) {
  std::string epoch = "\nEpoch " + std::to_string(run.epoch + 1) + ": ";
  auto say = [&](const std::string &text) {
    if (verbose > 0)
      run.print(epoch + text + "\n");
  };
  if (!bestOnly) {
    say("saving model to " + path);
    return true;
  }
  std::optional<double> value = current(logs);
  if (!value) {
    run.warn("Can save best model only with " + monitor +
             " available; give another monitor");
    return true;
  }
  std::string was = best ? fiveDigits(*best) : "None";
  if (!isBetter(*value, best)) {
    say(monitor + " did not improve from " + was);
    return false;
  }
  say(monitor + " improved from " + was + " to " + fiveDigits(*value) +
      ", saving model to " + path);
  best = *value;
  return true;
}

Status ModelCheckpoint::write(TrainingRun &run, std::optional<int64_t> batch,
                              const Logs &logs) {
  std::map<std::string, double> values;
  for (const auto &[name, value] : logs)
    values[name] = value.shown();
  values["epoch"] = double(run.epoch + 1);
  if (batch)
    values["batch"] = double(*batch + 1);
  std::string path = pattern.fill(values);
  if (!isWanted(run, logs, path))
    return {};
  std::error_code ignored; // writing reports the error
  if (auto folder = std::filesystem::path(path).parent_path();
      !folder.empty() && run.writesFiles())
    std::filesystem::create_directories(folder, ignored);
  if (Status ok = run.saveModel(path, weightsOnly); !ok)
    return ok;
  if (verbose > 0)
    run.print("\nEpoch " + std::to_string(run.epoch + 1) +
              ": finished saving model to " + path + "\n");
  return {};
}

void ModelCheckpoint::save(Checkpoint &to) const {
  to.said = {{"batches_since", batchesSince}};
  if (best)
    to.said["best"] = exactNumber(*best);
}

Status ModelCheckpoint::resume(TrainingRun &, const Checkpoint &from) {
  batchesSince = from.integer("batches_since");
  best = from.number("best");
  return {};
}

} // namespace weft
