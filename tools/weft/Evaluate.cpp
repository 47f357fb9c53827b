//===- Evaluate.cpp - weft evaluate and weft predict ----------------------===//

#include "weft/tools/weft/SavedModel.h"
#include "weft/tools/weft/TrainingSession.h"

#include <cstdio>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

static LoopOptions loopOptions(const EvaluateFlags &flags) {
  LoopOptions options;
  options.batchSize = flags.model.batchSize;
  options.verbose = flags.json ? 0 : flags.verbose;
  options.terminal = isatty(STDOUT_FILENO);
  return options;
}

int weft::tool::runEvaluate(const EvaluateFlags &flags) {
  auto session =
      TrainingSession::open(flags.model, flags.data, flags.processes);
  if (!session)
    return 1;
  auto data =
      session->data(StepKind::Evaluate, flags.data, DataPurpose::Evaluate);
  if (!data)
    return fail(data.message());
  Status ready = session->initialise(StepKind::Evaluate, flags.weights);
  if (!ready)
    return fail(ready.message());
  auto logs = session->trainer().evaluate(*data, loopOptions(flags));
  if (!logs)
    return fail(logs.message());
  if (flags.json)
    std::printf("%s\n", logsJson(*logs).c_str());
  else
    for (auto &[name, value] : *logs)
      std::printf("%s %.6g\n", name.c_str(), value);
  return 0;
}

int weft::tool::runPredict(const EvaluateFlags &flags) {
  bool writes = weft_processes_rank(flags.processes) == 0;
  if (Status writable = writes ? tryOutput(flags.out) : Status{}; !writable)
    return fail(writable.message());
  auto session =
      TrainingSession::open(flags.model, flags.data, flags.processes);
  if (!session)
    return 1;
  auto data =
      session->data(StepKind::Predict, flags.data, DataPurpose::Predict);
  if (!data)
    return fail(data.message());
  Status ready = session->initialise(StepKind::Predict, flags.weights);
  if (!ready)
    return fail(ready.message());
  auto outputs = session->trainer().predict(*data, loopOptions(flags));
  if (!outputs)
    return fail(outputs.message());
  if (outputs->size() != 1)
    return fail("--out " + flags.out + ": the model has " +
                std::to_string(outputs->size()) +
                " outputs; only models of one output are supported");
  Status written =
      writes ? writeNpy(flags.out, outputs->front().array) : Status{};
  return written ? 0 : fail(written.message());
}
