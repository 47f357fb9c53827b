//===- Serving.cpp - libWeftServing.so ------------------------------------===//

#include "weft/runtime/abi/serving.h"

#include "weft/base/DeviceList.h"
#include "weft/runtime/program/Error.h"
#include "weft/tools/weft/programs/BoundProgram.h"
#include "weft/tools/weft/programs/StepArchive.h"
#include "weft/tools/weft/training/SavedWeights.h"
#include "weft/training/Trainer.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;
using runtime::guarded;
using runtime::makeError;

namespace {
/// A port of the data, with its number in the program.
struct DataPort {
  size_t index;
  Port port;
};
} // namespace

struct weft_model {
  const pid_t process = ::getpid();
  OwnedRuntime runtime;
  std::map<int64_t, OwnedProgram> programs;
  std::unique_ptr<ModelState> state; // destroyed before the runtime
  std::unique_ptr<Trainer> trainer;
  std::vector<int64_t> sizes;
  std::vector<DataPort> inputs, outputs; ///< ports of the smallest batch size
  const weft_program *smallest() const {
    return programs.begin()->second.get();
  }
};

static Error refused(const std::string &message) {
  return {message, StatusCode::InvalidArgument};
}

/// Loads the predict steps of the file.
static Status loadSteps(const std::string &path, weft_model &model,
                        int64_t &devices) {
  auto steps = readSteps(path, devices);
  if (!steps)
    return steps.error();
  std::string has;
  for (const CompiledStep &step : *steps) {
    has += (has.empty() ? "" : ", ") + step.kind + " of " +
           std::to_string(step.batch);
    if (step.kind != "predict")
      continue;
    weft_program *loaded = nullptr;
    if (Status read = takeError(weft_program_load_memory(
            step.image.data(), step.image.size(), &loaded));
        !read)
      return read.in(path);
    model.programs[step.batch].reset(loaded);
  }
  if (model.programs.empty())
    return Error{path + ": has no predict step, but " + has +
                 "; compile the model with " + Option{"step", "predict"}};
  for (const auto &[size, program] : model.programs)
    model.sizes.push_back(size);
  return {};
}

/// Binds variables with their values, and makes the loop over batches.
static Status bind(weft_model &model, const std::string &path,
                   const char *weights) {
  model.state = std::make_unique<ModelState>(model.runtime.get());
  for (const auto &[size, program] : model.programs) {
    if (Status ready = takeError(weft_program_prepare(program.get())); !ready)
      return ready.in(path);
    if (Status added = model.state->addPorts(program.get()); !added)
      return added.in(path);
  }
  if (weights) {
    auto load = [&](const StoredArray &value) {
      return model.state->load(value).in(weights);
    };
    if (Status loaded = visitWeights(weights, *model.state, load); !loaded)
      return loaded;
  }
  if (Status begun = model.state->initialise(); !begun)
    return begun.in(path);
  model.trainer = std::make_unique<Trainer>(
      model.runtime.get(), *model.state,
      [&model](StepKind, int64_t size) -> Result<weft_program *> {
        return model.programs.at(size).get();
      });
  return {};
}

static void findData(weft_model &model) {
  auto ports = inputPorts(model.smallest());
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].isData())
      model.inputs.push_back({i, ports[i]});
  ports = outputPorts(model.smallest());
  for (size_t o = 0; o < ports.size(); ++o)
    if (ports[o].role == Role::Output)
      model.outputs.push_back({o, ports[o]});
}

static Status open(const char *steps, const char *weights, const char *devices,
                   weft_model **out) {
  if (!steps || !out)
    return refused("weft_model_open: steps or out is NULL; give a .weft file "
                   "and where the model goes");
  auto model = std::make_unique<weft_model>();
  int64_t needed = 0;
  if (Status loaded = loadSteps(steps, *model, needed); !loaded)
    return Error{loaded.error().message, StatusCode::InvalidFile};
  std::string text =
      devices ? devices : DeviceList{DeviceKind::Cpu, needed}.text();
  weft_runtime *created = nullptr;
  if (Status made = takeError(weft_runtime_create(text.c_str(), 0, &created));
      !made)
    return made;
  model->runtime.reset(created);
  if (Status bound = bind(*model, steps, weights); !bound)
    return Error{bound.error().message, StatusCode::InvalidFile};
  findData(*model);
  *out = model.release();
  return {};
}

/// The caller's arrays as columns of the training data.
static TrainingData columnsOf(const weft_model &model,
                              const void *const *inputs, int64_t samples) {
  TrainingData data;
  data.samples = samples;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const Port &port = model.inputs[i].port;
    Shape shape = port.shape;
    shape[0] = samples;
    Array array = Array::zeros(port.type, shape);
    std::memcpy(array.bytes.data(), inputs[i], array.bytes.size());
    data.columns.push_back({port, port.name,
                            std::make_shared<MemoryRows>(std::move(array)),
                            Shape(shape.begin() + 1, shape.end())});
  }
  return data;
}

/// Checks the caller's arrays, and that the model's threads are of this
/// process.
static Status checkCall(const weft_model *model, const void *const *inputs,
                        void *const *outputs) {
  if (!model || !inputs || !outputs)
    return refused("weft_model_predict: model, inputs or outputs is NULL; give "
                   "a model of weft_model_open and its arrays");
  if (model->process != ::getpid())
    return makeError(StatusCode::InvalidArgument,
                     "the model was opened in process ", model->process,
                     ", from which this one (", ::getpid(),
                     ") was forked without its threads; open the model after "
                     "the fork, or start processes with spawn");
  for (size_t i = 0; i < model->inputs.size(); ++i)
    if (!inputs[i])
      return refused("weft_model_predict: the array of input \"" +
                     model->inputs[i].port.name +
                     "\" is NULL; give an array with a row for each sample");
  for (size_t o = 0; o < model->outputs.size(); ++o)
    if (!outputs[o])
      return refused("weft_model_predict: the array of output \"" +
                     model->outputs[o].port.name +
                     "\" is NULL; give an array with a row for each sample");
  return {};
}

static Status predict(weft_model &model, const void *const *inputs,
                      int64_t samples, void *const *outputs) {
  if (samples < 1)
    return refused("weft_model_predict: samples is " + std::to_string(samples) +
                   ", must be at least 1; give the "
                   "rows of the inputs");
  LoopOptions options;
  options.verbose = 0;
  options.batchSizes = model.sizes;
  auto results =
      model.trainer->predict(columnsOf(model, inputs, samples), options);
  if (!results)
    return results.error();
  for (size_t o = 0; o < results->size(); ++o)
    std::memcpy(outputs[o], (*results)[o].array.bytes.data(),
                (*results)[o].array.bytes.size());
  return {};
}

/// Describes a port of the smallest batch size.
static Status describe(const weft_model &model,
                       const std::vector<DataPort> &ports, size_t number,
                       bool isInput, weft_port *out) {
  if (number >= ports.size())
    return refused("the model has " + std::to_string(ports.size()) +
                   (isInput ? " inputs" : " outputs") + ", none has number " +
                   std::to_string(number) + "; count from 0");
  return takeError(
      isInput
          ? weft_program_input(model.smallest(), ports[number].index, out)
          : weft_program_output(model.smallest(), ports[number].index, out));
}

extern "C" {

WEFT_EXPORT weft_error *weft_model_open(const char *steps, const char *weights,
                                        const char *devices, weft_model **out) {
  return guarded([&] { return open(steps, weights, devices, out); });
}

WEFT_EXPORT void weft_model_free(weft_model *model) {
  // In a forked process the threads that the destructor awaits do not exist.
  if (model && model->process == ::getpid())
    delete model;
}

WEFT_EXPORT size_t weft_model_batch_sizes(const weft_model *model,
                                          const int64_t **out) {
  *out = model->sizes.data();
  return model->sizes.size();
}

WEFT_EXPORT size_t weft_model_input_count(const weft_model *model) {
  return model->inputs.size();
}

WEFT_EXPORT size_t weft_model_output_count(const weft_model *model) {
  return model->outputs.size();
}

WEFT_EXPORT weft_error *weft_model_input(const weft_model *model, size_t input,
                                         weft_port *out) {
  return guarded(
      [&] { return describe(*model, model->inputs, input, true, out); });
}

WEFT_EXPORT weft_error *weft_model_output(const weft_model *model,
                                          size_t output, weft_port *out) {
  return guarded(
      [&] { return describe(*model, model->outputs, output, false, out); });
}

WEFT_EXPORT weft_error *weft_model_predict(weft_model *model,
                                           const void *const *inputs,
                                           int64_t samples,
                                           void *const *outputs) {
  return guarded([&]() -> Status {
    if (Status ok = checkCall(model, inputs, outputs); !ok)
      return ok;
    return predict(*model, inputs, samples, outputs);
  });
}

} // extern "C"
