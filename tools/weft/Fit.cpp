//===- Fit.cpp - weft fit --------------------------------------------------===//

#include "weft/tools/weft/OutputFile.h"
#include "weft/tools/weft/Statistics.h"
#include "weft/tools/weft/TrainingSession.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

static std::atomic<bool> interrupted{false};

/// The first Ctrl-C ends after the step under way; the second ends at once.
static void stopAfterThisStep(int) {
  if (interrupted.exchange(true))
    _exit(130);
}

static bool refuseUnfinished(const FitFlags &flags) {
  if (!flags.save.empty())
    return fail("--save " + flags.save +
                ": writing .keras files is not there yet; use --save-weights "
                "f.npz"),
           true;
  if (flags.verify)
    return fail("--verify is not there yet"), true;
  return false;
}

static FitOptions fitOptions(const FitFlags &flags,
                             MersenneTwister *generator) {
  FitOptions options;
  options.batchSize = flags.model.batchSize;
  options.dropRemainder = flags.dropRemainder;
  options.verbose = flags.json ? 0 : flags.verbose;
  options.terminal = isatty(STDOUT_FILENO);
  options.stop = &interrupted;
  options.epochs = flags.epochs;
  options.shuffle = !flags.noShuffle;
  options.stepsPerEpoch = flags.stepsPerEpoch;
  options.maxSteps = flags.maxSteps;
  options.generator = generator;
  return options;
}

static int writeResults(const FitFlags &flags, TrainingSession &session,
                        const History &history, const StepClock &clock) {
  std::string error;
  if (!flags.history.empty())
    error = writeOutputFile(flags.history,
                            history.json(flags.historySteps) + "\n");
  if (error.empty() && !flags.stats.empty())
    error = writeOutputFile(flags.stats, statisticsJson(session, clock));
  if (!error.empty())
    return fail(error);
  if (flags.saveWeights.empty())
    return 0;
  auto arrays = session.state().save();
  if (!arrays)
    return fail(arrays.message());
  Status written = writeNpz(flags.saveWeights, *arrays);
  return written ? 0 : fail(written.message());
}

int weft::tool::runFit(const FitFlags &flags) {
  if (refuseUnfinished(flags))
    return 1;
  auto session = TrainingSession::open(flags.model, flags.data);
  if (!session)
    return 1;
  if (!flags.model.seed && !flags.json)
    std::printf("seed %llu\n",
                static_cast<unsigned long long>(session->compiler().seed()));
  StepClock clock;
  if (flags.initOnly) {
    Status ready = session->initialise(StepKind::Train, flags.weights);
    return ready ? writeResults(flags, *session, {}, clock)
                 : fail(ready.message());
  }
  auto data = session->data(StepKind::Train, flags.data, DataPurpose::Fit);
  if (!data)
    return fail(data.message());
  std::optional<TrainingData> validation;
  if (!flags.data.validationData.empty()) {
    auto read = session->data(StepKind::Evaluate, flags.data,
                              DataPurpose::Validation);
    if (!read)
      return fail(read.message());
    validation = std::move(*read);
  } else if (flags.data.validationSplit > 0) {
    auto parts = data->split(flags.data.validationSplit);
    if (!parts)
      return fail(parts.message());
    *data = std::move(parts->first);
    validation = std::move(parts->second);
  }
  if (!flags.json && flags.verbose)
    std::printf("%s", data->description().c_str());
  if (Status ready = session->initialise(StepKind::Train, flags.weights);
      !ready)
    return fail(ready.message());

  MersenneTwister generator = MersenneTwister::numpy(
      static_cast<uint32_t>(session->compiler().seed()));
  FitOptions options = fitOptions(flags, &generator);
  options.validation = validation ? &*validation : nullptr;
  std::signal(SIGINT, stopAfterThisStep);
  clock.start();
  auto history = session->trainer().fit(*data, options);
  clock.stop();
  if (!history)
    return fail(history.message());
  clock.steps = history->stepCount;
  if (flags.json)
    std::printf("%s\n", history->json(flags.historySteps).c_str());
  int status = writeResults(flags, *session, *history, clock);
  return history->interrupted && status == 0 ? 130 : status;
}
