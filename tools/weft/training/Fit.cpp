//===- Fit.cpp - weft fit -------------------------------------------------===//

#include "weft/tools/weft/programs/Gpus.h"
#include "weft/tools/weft/programs/OutputFile.h"
#include "weft/tools/weft/programs/Statistics.h"
#include "weft/tools/weft/training/FitSettings.h"
#include "weft/tools/weft/training/NumericsCheck.h"
#include "weft/tools/weft/training/SavedWeights.h"
#include "weft/tools/weft/training/TrainingSession.h"
#include "weft/training/callbacks/CallbackTable.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

static std::atomic<bool> interrupted{false};
static std::atomic<int> statusOfSignal{128 + SIGINT};

/// Handles signals: the first Ctrl-C or SIGTERM ends the run after the current
/// step; the second at once.
static void stopAfterThisStep(int signal) {
  statusOfSignal = 128 + signal;
  if (interrupted.exchange(true))
    _exit(128 + signal);
}

/// Whether this process writes files: only rank 0 does; the others send it
/// missing data.
static bool writesFiles(const FitFlags &flags) {
  return weft_processes_rank(flags.processes) == 0;
}

/// Tests the outputs before any work, so that a run does not fail at its end
/// over a mistyped folder.
static Status tryOutputs(const FitFlags &flags) {
  for (const std::string *path :
       {&flags.save, &flags.saveWeights, &flags.history, &flags.stats})
    if (!path->empty() && writesFiles(flags))
      if (Status writable = tryOutput(*path); !writable)
        return writable;
  return {};
}

/// Writes --save-weights, in the format of the name.
static Status saveWeights(const FitFlags &flags, TrainingSession &session) {
  if (flags.saveWeights.empty())
    return {};
  if (!holdsKerasWeights(flags.saveWeights))
    return writeValues(flags.saveWeights, session.state(), writesFiles(flags));
  return session.source().saveWeights(flags.saveWeights, session.state(),
                                      flags.maxShardSize, writesFiles(flags));
}

/// Writes the numbers of a table's texts beside a file of weights.
static Status saveVocabulary(const FitFlags &flags, const std::string &path) {
  const auto &vocabulary = flags.data.source.vocabulary;
  return vocabulary && writesFiles(flags) && !path.empty()
             ? vocabulary->writeBeside(path)
             : Status();
}

/// Writes the model and its weights: before other results, as they took the
/// most work.
static Status saveResults(const FitFlags &flags, TrainingSession &session) {
  if (!flags.save.empty())
    if (Status saved = session.source().saveModel(
            flags.save, flags.weights, session.state(), writesFiles(flags));
        !saved)
      return saved;
  if (Status saved = saveWeights(flags, session); !saved)
    return saved;
  for (const std::string *path : {&flags.save, &flags.saveWeights})
    if (Status saved = saveVocabulary(flags, *path); !saved)
      return saved;
  return {};
}

/// Saves for callbacks: all processes read the values, one writes the file.
static Status saveForCallback(const FitFlags &flags, TrainingSession &session,
                              const std::string &path, bool weightsAlone) {
  const StepSource &source = session.source();
  if (Status saved = saveVocabulary(flags, path); !saved)
    return saved;
  return weightsAlone
             ? source.saveWeights(path, session.state(), flags.maxShardSize,
                                  writesFiles(flags))
             : source.saveModel(path, flags.weights, session.state(),
                                writesFiles(flags));
}

static FitOptions fitOptions(const FitFlags &flags, TrainingSession &session,
                             MersenneTwister *generator) {
  FitOptions options;
  options.batchSize = session.batchSize();
  options.canSaveModel = [&](bool weightsAlone) {
    return weightsAlone ? Status{}
                        : session.source().canSaveModel(flags.weights);
  };
  options.saveModel = [&](const std::string &path, bool weightsAlone) {
    return saveForCallback(flags, session, path, weightsAlone);
  };
  options.dropRemainder = flags.dropRemainder;
  options.verbose = flags.json ? 0 : flags.verbose;
  options.terminal = flags.bar || isatty(STDOUT_FILENO);
  options.stop = &interrupted;
  options.epochs = flags.epochs;
  options.print = printNow;
  options.warn = warn;
  if (writesFiles(flags))
    options.note = note;
  options.initialEpoch = flags.initialEpoch;
  options.shuffle = flags.shuffle;
  options.stepsPerEpoch = flags.stepsPerEpoch;
  options.validationBatchSize = flags.data.validationBatchSize;
  options.validationSteps = flags.validationSteps;
  options.validationEpochs = flags.validationEpochs;
  options.processes = flags.processes;
  options.maxSteps = flags.maxSteps;
  options.settings = fitSettings(flags, session);
  options.seed = session.source().seed();
  options.seedIsGiven = flags.model.seed.has_value();
  options.keepSteps = flags.historySteps;
  options.generator = generator;
  if (flags.processes)
    options.vote = [&flags](bool mine) {
      int any = mine;
      // The next step reports a process that has died.
      weft_error_free(weft_processes_vote(flags.processes, mine, &any));
      return any != 0;
    };
  return options;
}

static int writeResults(const FitFlags &flags, TrainingSession &session,
                        const History &history, const StepClock &clock) {
  if (Status saved = saveResults(flags, session); !saved)
    return fail(saved.error());
  Status written;
  if (!flags.history.empty())
    written =
        writeOutputFile(flags.history, history.json(flags.historySteps) + "\n");
  if (written && !flags.stats.empty())
    written = writeOutputFile(flags.stats,
                              clock.json(session.runtime(),
                                         session.compileMilliseconds(),
                                         session.trainer().aheadBytes()));
  return written ? 0 : fail(written.error());
}

/// The text "; saved m.keras, w.npz; the same command goes on from state", for
/// a run that ended early.
static std::string savedFiles(const FitFlags &flags,
                              const CallbackList &callbacks) {
  std::string text;
  for (const std::string *path : {&flags.save, &flags.saveWeights})
    if (!path->empty())
      text += (text.empty() ? "; saved " : ", ") + *path;
  bool isBackedUp =
      std::any_of(callbacks.begin(), callbacks.end(),
                  [](const auto &callback) { return callback->isBackup(); });
  if (isBackedUp)
    text += "; the same command goes on from " +
            (flags.backup.empty() ? "its backup" : flags.backup);
  return text;
}

/// Reads the training samples, weighed by class, and those for validation if
/// flags name any or split them off.
static Status readData(const FitFlags &flags, TrainingSession &session,
                       TrainingData &data,
                       std::optional<TrainingData> &validation) {
  auto read = session.data(StepKind::Train, flags.data, DataPurpose::Fit);
  if (!read)
    return read.error();
  data = std::move(*read);
  if (const auto &vocabulary = flags.data.source.vocabulary)
    vocabulary->isOpen = false; // validation has the texts of training
  if (flags.data.namesValidation()) {
    auto other =
        session.data(StepKind::Evaluate, flags.data, DataPurpose::Validation);
    if (!other)
      return other.error();
    validation = std::move(*other);
    data.dropUnread(*validation);
    validation->dropUnread(data);
  } else if (flags.data.validationSplit != 0) {
    auto parts = data.split(flags.data.validationSplit);
    if (!parts)
      return parts.error();
    data = std::move(parts->first);
    validation = std::move(parts->second);
  }
  return flags.data.classWeight.empty()
             ? Status{}
             : data.weighClasses(flags.data.classWeight);
}

/// Warns of arrays that no input and no output takes, of a file that gives both
/// kinds of samples once.
static void warnOfUnknown(const FitFlags &flags, const TrainingData &data,
                          const TrainingData *validation) {
  std::string unknown = data.unknownArrays();
  if (!unknown.empty())
    warn(unknown);
  if (validation && flags.data.validationData != flags.data.data)
    if (unknown = validation->unknownArrays(); !unknown.empty())
      warn(unknown);
}

/// Prints which arrays are used and which are not, and which of their samples
/// are left out. `validation`: of files of its own; or null.
static void printData(const FitFlags &flags, const TrainingData &data,
                      const TrainingData *validation, int64_t batchSize) {
  warnOfUnknown(flags, data, validation);
  if (flags.json || !flags.verbose)
    return;
  printText(data.description());
  if (validation && flags.data.validationData != flags.data.data)
    for (const Message &line : validation->remarks())
      printText(line + "\n");
  int64_t left = data.samples % batchSize;
  if (flags.dropRemainder && left)
    std::printf("--drop-remainder leaves out %lld of %lld samples\n",
                static_cast<long long>(left),
                static_cast<long long>(data.samples));
}

/// Prints the seed if it is not on the command line and a result depends on it.
static void printSeed(const FitFlags &flags, TrainingSession &session) {
  std::error_code none;
  if (!flags.backup.empty() &&
      std::filesystem::exists(flags.backup + "/latest.npz", none))
    return; // the run continues with the backup's seed
  bool shuffles = !flags.initOnly && flags.shuffle != Shuffle::None;
  if (!flags.model.seed && !flags.json &&
      (shuffles ||
       (session.source().drawsBySeed() && session.state().hasDrawn())))
    std::printf("seed %llu\n",
                static_cast<unsigned long long>(session.source().seed()));
}

/// Makes the callbacks that flags name.
static Result<CallbackList> callbacksOf(const FitFlags &flags) {
  CallbackList list;
  for (const std::string &text : flags.callbacks) {
    auto made = makeCallback(text, "--callback");
    if (!made)
      return made.error();
    list.push_back(std::move(*made));
  }
  if (flags.backup.empty())
    return list;
  keras::Json config = {{"backup_dir", flags.backup}};
  if (flags.saveEvery)
    config["save_freq"] = *flags.saveEvery;
  auto backup = makeCallback(
      keras::Json{{"class_name", "BackupAndRestore"}, {"config", config}},
      "--backup");
  if (!backup)
    return backup.error();
  list.push_back(std::move(*backup));
  return list;
}

/// Ends the callbacks; a backup is removed, as the results are written.
static int endCallbacks(const FitFlags &flags, const CallbackList &callbacks) {
  for (const auto &callback : callbacks)
    if (Status ok = callback->resultsSaved(writesFiles(flags)); !ok)
      return fail(ok.error());
  return 0;
}

static int train(const FitFlags &flags, TrainingSession &session,
                 const CallbackList &callbacks, StepClock &clock) {
  TrainingData data;
  std::optional<TrainingData> validation;
  if (Status read = readData(flags, session, data, validation); !read)
    return fail(read.error());
  printData(flags, data, flags.data.namesValidation() ? &*validation : nullptr,
            session.batchSize());
  if (Status ready = session.initialise(StepKind::Train, flags.weights); !ready)
    return fail(ready.error());
  printSeed(flags, session);

  MersenneTwister generator =
      MersenneTwister::numpy(static_cast<uint32_t>(session.source().seed()));
  FitOptions options = fitOptions(flags, session, &generator);
  options.callbacks = &callbacks;
  options.validation = validation ? &*validation : nullptr;
  std::signal(SIGINT, stopAfterThisStep);
  if (!flags.processes) // JoinedProcesses handles SIGTERM for several processes
    std::signal(SIGTERM, stopAfterThisStep);
  NumericsCheck numerics(session, data, flags.processes);
  options.runsAhead = !flags.checkNumerics && session.canBeginBeforeEnd();
  options.stepBegin = [&] {
    Status kept = flags.checkNumerics ? numerics.begin() : Status{};
    clock.beginStep();
    return kept;
  };
  OwnCodeWarnings ownCode;
  options.stepEnd = [&](const FitOptions::StepReport &step) {
    ownCode.print(session.runtime());
    clock.endStep(session.runtime(), step.executeSeconds, step.waitSeconds);
    return flags.checkNumerics ? numerics.end(step.indices, step.logs)
                               : Status{};
  };
  auto history = session.trainer().fit(data, options);
  if (!history)
    return fail(history.error());
  if (flags.json)
    std::printf("%s\n", history->json(flags.historySteps).c_str());
  int status = writeResults(flags, session, *history, clock);
  if (!history->interrupted || status != 0)
    return status ? status : endCallbacks(flags, callbacks);
  std::fprintf(stderr, "weft: interrupted after %lld steps%s\n",
               static_cast<long long>(history->stepCount),
               savedFiles(flags, callbacks).c_str());
  return statusOfSignal;
}

int weft::tool::runFit(const FitFlags &given, const OpenSteps &open) {
  FitFlags flags = given;
  if (!writesFiles(flags))
    flags.history = flags.stats = "";
  if (Status writable = tryOutputs(flags); !writable)
    return fail(writable.error());
  if (Status read = readVocabulary(flags.data, flags.model.model, flags.weights,
                                   DataPurpose::Fit);
      !read)
    return fail(read.error());
  auto callbacks = callbacksOf(flags);
  if (!callbacks)
    return fail(callbacks.error());
  auto opened = TrainingSession::open(flags.model, open, flags.data,
                                      DataPurpose::Fit, flags.processes);
  if (!opened)
    return fail(opened.error());
  TrainingSession *session = opened->get();
  if (!flags.save.empty())
    if (Status can = session->source().canSaveModel(flags.weights); !can)
      return fail(can.error().in("--save"));
  if (flags.checkNumerics)
    if (Status can = session->source().canCheckNumerics(); !can)
      return fail(can.error());
  if (flags.verify && writesFiles(flags))
    if (Status equal = session->source().verify("train", session->batchSize());
        !equal)
      return fail(equal.error());
  StepClock clock;
  if (flags.initOnly) {
    Status ready = session->initialise(StepKind::Train, flags.weights);
    if (ready)
      printSeed(flags, *session);
    return ready ? writeResults(flags, *session, {}, clock)
                 : fail(ready.error());
  }
  return train(flags, *session, *callbacks, clock);
}
