//===- TrainingSession.cpp - a model on devices ---------------------------===//

#include "weft/tools/weft/training/TrainingSession.h"

#include "weft/runtime/abi/gpus.h"
#include "weft/tools/weft/training/SavedWeights.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

using namespace weft;
using namespace weft::tool;

/// The options of the arrays that flags name for training, evaluation or
/// prediction, or for validation.
static DataOptions dataOptions(const DataFlags &flags, bool validates) {
  DataOptions options;
  options.data = validates ? flags.validationData : flags.data;
  options.x = validates ? flags.validationX : flags.x;
  options.y = validates ? flags.validationY : flags.y;
  options.sampleWeight =
      validates ? flags.validationWeight : flags.sampleWeight;
  options.divideBy = flags.divideBy.value_or(1);
  options.addChannel = flags.addChannel;
  options.source = flags.source;
  return options;
}

Status weft::tool::readVocabulary(DataFlags &data, const std::string &model,
                                  const std::string &weights,
                                  DataPurpose purpose) {
  if (data.source.inputs.empty() && data.source.targets.empty())
    return {};
  auto read = Vocabulary::beside(weights.empty() ? model : weights);
  if (!read)
    return read.error();
  read->isOpen = purpose == DataPurpose::Fit && !read->isRead;
  data.source.vocabulary = std::make_shared<Vocabulary>(std::move(*read));
  return {};
}

/// Refuses flags of tables and images for which no file is one.
static Status checkSources(const DataFlags &data) {
  std::vector<std::string> paths;
  for (const std::string *path : {&data.data, &data.validationData})
    if (!path->empty())
      paths.push_back(*path);
  for (const std::vector<std::string> *list :
       {&data.x, &data.y, &data.sampleWeight, &data.validationX,
        &data.validationY, &data.validationWeight})
    for (const std::string &argument : *list)
      paths.push_back(sourcePath(argument));
  return checkSourceOptions(paths, data.source);
}

Status TrainingSession::findWeights(const DataFlags &data,
                                    DataPurpose purpose) {
  if (purpose == DataPurpose::Predict)
    return {};
  auto own = weightShapes(dataOptions(data, false), purpose);
  auto others = weightShapes(dataOptions(data, true), DataPurpose::Validation);
  std::string inFile = !data.sampleWeight.empty() || own.empty()
                           ? ""
                           : "sample_weight of " + data.data;
  if (!data.classWeight.empty() && !inFile.empty())
    return Error{"--class-weight and " + inFile +
                 " both weigh samples; give one of them"};
  weightsOf = !data.sampleWeight.empty()
                  ? "--sample-weight " + data.sampleWeight[0]
              : !inFile.empty()           ? inFile
              : !data.classWeight.empty() ? "--class-weight"
              : !data.validationWeight.empty()
                  ? "--validation-sample-weight " + data.validationWeight[0]
              : !others.empty() ? "sample_weight of " + data.validationData
                                : "";
  weighsEach = !data.sampleWeight.empty() || !inFile.empty();
  if (!weightsOf.empty())
    steps->takeSampleWeight(weighsEach ? own : others);
  return {};
}

Result<std::unique_ptr<TrainingSession>>
TrainingSession::open(const ModelFlags &given, const OpenSteps &open,
                      const DataFlags &data, DataPurpose purpose,
                      weft_processes *processes) {
  if (Status known = checkSources(data); !known)
    return known.error();
  std::unique_ptr<TrainingSession> session(new TrainingSession());
  session->processes = processes;
  session->givenSeed = given.seed;
  ModelFlags flags = given;
  if (!flags.seed && processes) { // one seed for all processes
    std::vector<uint8_t> drawn(sizeof(uint32_t));
    uint32_t seed = std::random_device{}();
    std::memcpy(drawn.data(), &seed, sizeof seed);
    if (Status shared = shareBytes(processes, drawn); !shared)
      return shared.error();
    std::memcpy(&seed, drawn.data(), sizeof seed);
    flags.seed = seed;
  }
  flags.shapesOfData = [data] { return inputShapes(dataOptions(data, false)); };
  Result<std::unique_ptr<StepSource>> steps = open(flags);
  if (!steps)
    return steps.error();
  session->steps = std::move(*steps);
  if (Status found = session->findWeights(data, purpose); !found)
    return found.error();
  if (Status made = takeError(weft_runtime_create_among(
          processes, session->steps->devices().text().c_str(), 0,
          &session->devices));
      !made)
    return made.error();
  weft_runtime_graphs(session->devices, flags.graphs);
  weft_runtime_share(session->devices, flags.share);
  if (!flags.collectives.empty())
    if (Status set = takeError(weft_runtime_set_collectives(
            session->devices, flags.collectives.c_str()));
        !set)
      return set.error().in("--collectives");
  session->variables = std::make_unique<ModelState>(session->devices);
  TrainingSession *self = session.get();
  session->loop =
      std::make_unique<Trainer>(session->devices, *session->variables,
                                [self](StepKind kind, int64_t batch) {
                                  return self->program(kind, batch);
                                });
  // Batches are written ahead to devices only without a memory limit, which is
  // for the program alone.
  session->loop->writeAheadOnDevices(
      session->canBeginBeforeEnd() && flags.memory.empty(),
      [processes](bool mine) {
        int any = mine;
        // The next step reports a process that has died.
        weft_error_free(weft_processes_any(processes, mine, &any));
        return any != 0;
      });
  return session;
}

TrainingSession::~TrainingSession() {
  loop.reset();
  variables.reset();
  for (auto &[key, program] : programs)
    weft_program_free(program);
  if (devices)
    weft_runtime_free(devices);
}

bool TrainingSession::canBeginBeforeEnd() const {
  return !processes || steps->devices().kind == DeviceKind::Cuda;
}

Error TrainingSession::ofModel(const Error &error) const {
  return error.in(steps->modelFile());
}

Result<weft_program *> TrainingSession::program(StepKind kind, int64_t batch) {
  auto [entry, isNew] = programs.insert({{kind, batch}, nullptr});
  if (!isNew && entry->second)
    return entry->second;
  if (Status known = steps->find(stepName(kind), batch); !known)
    return known.error();
  auto start = std::chrono::steady_clock::now();
  Result<std::vector<uint8_t>> image = std::vector<uint8_t>();
  if (weft_processes_rank(processes) == 0) // compiles for all processes
    image = steps->compile(stepName(kind), batch);
  if (!image)
    return image.error();
  if (Status shared = shareBytes(processes, *image); !shared)
    return shared.error();
  Status loaded = takeError(
      weft_program_load_memory(image->data(), image->size(), &entry->second));
  if (loaded)
    loaded = takeError(weft_program_prepare(entry->second));
  if (!loaded)
    return ofModel(loaded.error());
  compileMs += std::chrono::duration<double, std::milli>(
                   std::chrono::steady_clock::now() - start)
                   .count();
  return entry->second;
}

static std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

static void warnOfNaN(const TrainingData &data) {
  for (const TrainingData::Column &column : data.columns)
    if (column.seen.missing)
      warn(column.source + ": " + std::to_string(column.seen.missing) + " of " +
           std::to_string(column.seen.values) +
           " values are NaN, and so are results computed from them; replace "
           "them, for example with numpy.nan_to_num");
}

/// Warns of labels outside the classes, for which the loss is zero, and of
/// labels with a fraction, which is dropped, as in Keras on JAX.
static void warnOfLabels(const TrainingData &data) {
  for (const TrainingData::Column &column : data.columns) {
    const DataScan &seen = column.seen;
    if (seen.fractional)
      warn(column.source + ": " + std::to_string(seen.fractional) + " of " +
           std::to_string(seen.values) +
           " labels have a fraction, which is dropped (Keras drops it in the "
           "loss, and counts such labels as wrong); give integers, or choose "
           "a loss that is not sparse");
    if (!seen.outside)
      continue;
    int64_t classes = column.port.facts.classes.value_or(0);
    warn(column.source + ": " + std::to_string(seen.outside) + " of " +
         std::to_string(seen.values) + " labels lie outside 0.." +
         std::to_string(classes - 1) + " (they reach from " +
         numberText(seen.low) + " to " + numberText(seen.high) +
         "); their loss is zero, as in Keras; fix the labels, or give the "
         "model more outputs");
  }
}

Status
TrainingSession::checkSampleWeight(StepKind kind,
                                   const std::vector<Port> &ports) const {
  bool takes = std::any_of(ports.begin(), ports.end(), [](const Port &port) {
    return port.role == Role::SampleWeight;
  });
  if (takes || weightsOf.empty() || kind == StepKind::Predict)
    return {};
  return Error{weightsOf + ": " + steps->modelFile() +
               " takes no weights of samples; trace the model with "
               "--sample-weight, or leave the weights out"};
}

Result<TrainingData> TrainingSession::data(StepKind kind,
                                           const DataFlags &flags,
                                           DataPurpose purpose) {
  bool validates = purpose == DataPurpose::Validation;
  auto compiled =
      program(kind, validates ? flags.validationBatchSize.value_or(batchSize())
                              : batchSize());
  if (!compiled)
    return compiled.error();
  auto ports = inputPorts(*compiled);
  if (Status fits = checkSampleWeight(kind, ports); !fits)
    return fits.error();
  DataOptions options = dataOptions(flags, validates);
  options.weightsMayLack = validates || (!weightsOf.empty() && !weighsEach);
  auto selected = selectData(options, purpose, ports);
  if (!selected)
    return selected;
  if (Status same = takeError(
          weft_processes_agree(processes, "training data", selected->hash()));
      !same)
    return same.error();
  warnOfNaN(*selected);
  warnOfLabels(*selected);
  return selected;
}

Status TrainingSession::loadWeights(const std::string &path) {
  uint64_t hash = 0;
  auto take = [&](const StoredArray &array) {
    StoredArray hashed = array;
    hashed.readBlock = [&](const ArrayBlock &block) {
      Result<Array> values = array.readBlock(block);
      if (values)
        hash =
            hash * 31 + weft_hash(values->bytes.data(), values->bytes.size());
      return values;
    };
    Status loaded = variables->load(hashed);
    return loaded.in(path);
  };
  if (Status read = visitWeights(path, *variables, take); !read)
    return read;
  hashOfWeights = hash;
  return takeError(weft_processes_agree(processes, path.c_str(), hash));
}

Status TrainingSession::initialise(StepKind kind,
                                   const std::string &weightsFile) {
  auto compiled = program(kind, batchSize());
  if (!compiled)
    return compiled.error();
  if (Status added = variables->addPorts(*compiled); !added)
    return ofModel(added.error());
  if (givenSeed)
    variables->reseed(*givenSeed);
  Status loaded = variables->load(steps->savedWeights());
  if (!loaded)
    return ofModel(loaded.error());
  if (!weightsFile.empty())
    if (Status read = loadWeights(weightsFile); !read)
      return read;
  // Variables that are in no file get initial values.
  Status made = variables->initialise();
  return made ? made : ofModel(made.error());
}
