//===- Evaluate.cpp - weft evaluate and weft predict ----------------------===//

#include "weft/tools/weft/programs/Gpus.h"
#include "weft/tools/weft/training/SavedWeights.h"
#include "weft/tools/weft/training/TrainingSession.h"

#include <cstdio>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

static LoopOptions loopOptions(const EvaluateFlags &flags, int64_t batchSize) {
  LoopOptions options;
  options.batchSize = batchSize;
  options.verbose = flags.json ? 0 : flags.verbose;
  options.print = printNow;
  options.terminal = isatty(STDOUT_FILENO);
  return options;
}

/// Prints what the file of --data has besides the arrays that are read.
static void printNotes(const EvaluateFlags &flags, const TrainingData &data) {
  if (std::string unknown = data.unknownArrays(); !unknown.empty())
    warn(unknown);
  for (const Message &line : data.remarks())
    if (flags.verbose && !flags.json)
      note(line);
}

int weft::tool::runEvaluate(const EvaluateFlags &given, const OpenSteps &open) {
  EvaluateFlags flags = given;
  if (Status read = readVocabulary(flags.data, flags.model.model, flags.weights,
                                   DataPurpose::Evaluate);
      !read)
    return fail(read.error());
  auto opened = TrainingSession::open(flags.model, open, flags.data,
                                      DataPurpose::Evaluate, flags.processes);
  if (!opened)
    return fail(opened.error());
  TrainingSession *session = opened->get();
  auto data =
      session->data(StepKind::Evaluate, flags.data, DataPurpose::Evaluate);
  if (!data)
    return fail(data.error());
  printNotes(flags, *data);
  Status ready = session->initialise(StepKind::Evaluate, flags.weights);
  if (!ready)
    return fail(ready.error());
  auto logs = session->trainer().evaluate(
      *data, loopOptions(flags, session->batchSize()));
  if (!logs)
    return fail(logs.error());
  OwnCodeWarnings().print(session->runtime());
  if (flags.json)
    std::printf("%s\n", logsJson(*logs).c_str());
  else
    for (auto &[name, value] : *logs)
      printText(name + " " + plainText(value) + "\n");
  return 0;
}

int weft::tool::runPredict(const EvaluateFlags &given, const OpenSteps &open) {
  EvaluateFlags flags = given;
  if (Status read = readVocabulary(flags.data, flags.model.model, flags.weights,
                                   DataPurpose::Predict);
      !read)
    return fail(read.error());
  bool writes = weft_processes_rank(flags.processes) == 0;
  if (Status writable = writes ? tryOutput(flags.out) : Status{}; !writable)
    return fail(writable.error());
  auto opened = TrainingSession::open(flags.model, open, flags.data,
                                      DataPurpose::Predict, flags.processes);
  if (!opened)
    return fail(opened.error());
  TrainingSession *session = opened->get();
  auto data =
      session->data(StepKind::Predict, flags.data, DataPurpose::Predict);
  if (!data)
    return fail(data.error());
  printNotes(flags, *data);
  Status ready = session->initialise(StepKind::Predict, flags.weights);
  if (!ready)
    return fail(ready.error());
  LoopOptions options = loopOptions(flags, session->batchSize());
  options.batchSizes = session->source().batchSizes("predict");
  if (flags.model.namesBatchSize && !options.batchSizes.empty())
    options.batchSizes = {session->batchSize()};
  auto outputs = session->trainer().predict(*data, options);
  if (!outputs)
    return fail(outputs.error());
  OwnCodeWarnings().print(session->runtime());
  bool isArchive = flags.out.ends_with(".npz");
  if (outputs->size() != 1 && !isArchive)
    return fail("--out " + flags.out + ": the model has " +
                std::to_string(outputs->size()) +
                " outputs; name a file that holds several arrays, p.npz");
  Status written = !writes     ? Status{}
                   : isArchive ? writeNpz(flags.out, *outputs)
                               : writeNpy(flags.out, outputs->front().array);
  return written ? 0 : fail(written.error());
}
