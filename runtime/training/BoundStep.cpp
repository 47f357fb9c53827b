#include "weft/runtime/training/BoundStep.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace weft {

using Clock = std::chrono::steady_clock;

Result<std::unique_ptr<Trainer::BoundStep>>
Trainer::BoundStep::bind(weft_runtime *runtime, weft_program *program,
                         ModelState &state) {
  auto step = std::make_unique<BoundStep>();
  step->runtime = runtime;
  step->program = program;
  step->state = &state;
  step->inputs = inputPorts(program);
  step->outputs = outputPorts(program);
  if (Status ok = state.addPorts(program); !ok)
    return ok.error();
  if (Status ok = step->bindInputs(); !ok)
    return ok.error();
  if (Status ok = step->bindOutputs(); !ok)
    return ok.error();
  return step;
}

Trainer::BoundStep::~BoundStep() {
  for (weft_buffer *buffer : owned)
    weft_buffer_free(buffer);
}

Status Trainer::BoundStep::bindInputs() {
  for (size_t i = 0; i < inputs.size(); ++i) {
    weft_buffer *buffer = nullptr;
    if (inputs[i].holdsState()) {
      buffer = state->buffer(inputs[i].name);
    } else if (inputs[i].isData()) {
      if (Status ok =
              takeError(weft_input_create(runtime, program, i, &buffer));
          !ok)
        return ok;
      owned.push_back(buffer);
    } else {
      return Error{
          "the program's input " + inputs[i].name +
          " is neither a variable nor data; a training loop cannot bind it"};
    }
    inputBuffers.push_back(buffer);
  }
  return {};
}

Status Trainer::BoundStep::bindOutputs() {
  for (size_t o = 0; o < outputs.size(); ++o) {
    weft_buffer *buffer = nullptr;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].donatedTo == int(o))
        buffer = inputBuffers[i];
    if (!buffer) {
      if (Status ok =
              takeError(weft_output_create(runtime, program, o, &buffer));
          !ok)
        return ok;
      owned.push_back(buffer);
    }
    outputBuffers.push_back(buffer);
    if (outputs[o].role != Role::Metric)
      continue;
    metrics.push_back({o, metricName(outputs[o]),
                       metadataEntry(outputs[o], "running") == true &&
                           elementCount(outputs[o].shape) == 1});
  }
  return {};
}

Status Trainer::BoundStep::writeBatch(const TrainingData &data,
                                      const std::vector<int64_t> &indices) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isData())
      continue;
    const TrainingData::Column *column = data.column(inputs[i].name);
    if (!column)
      return Error{"no array is given for " + inputs[i].name +
                   "; add --data FILE.npz"};
    Shape shape = column->array->shape;
    shape[0] = int64_t(indices.size());
    if (shape != inputs[i].shape)
      return Error{"the program takes " + inputs[i].name + " of shape " +
                   text(inputs[i].shape) + ", the batch has " + text(shape) +
                   "; compile it for this batch size"};
    TrainingData::gather(*column, indices, inputs[i].type, batch);
    if (Status ok = takeError(
            weft_buffer_write(inputBuffers[i], batch.data(), batch.size()));
        !ok)
      return ok;
  }
  return {};
}

Status Trainer::BoundStep::takeStateOutputs() {
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!outputs[o].holdsState() ||
        outputBuffers[o] == state->buffer(outputs[o].name))
      continue;
    Result<Array> value = readOutput(o); // not donated: by way of the host
    if (!value)
      return value.error();
    if (Status ok = state->write(outputs[o].name, *value); !ok)
      return ok;
  }
  return {};
}

Status Trainer::BoundStep::run(const TrainingData &data,
                               const std::vector<int64_t> &indices) {
  if (Status ok = writeBatch(data, indices); !ok)
    return ok;
  auto begin = Clock::now();
  if (Status ok = takeError(weft_execute(runtime, program, inputBuffers.data(),
                                         outputBuffers.data()));
      !ok)
    return ok;
  executeSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return takeStateOutputs();
}

Result<Array> Trainer::BoundStep::readOutput(size_t output) {
  Array array = Array::zeros(outputs[output].type, outputs[output].shape);
  if (Status ok = takeError(weft_buffer_read(
          outputBuffers[output], array.bytes.data(), array.bytes.size()));
      !ok)
    return ok.error();
  return array;
}

Status Trainer::BoundStep::addMetrics(RunningMetrics &mean, int64_t samples,
                                      Logs &alone) {
  RunningMetrics batch;
  for (const auto &[output, name, isRunning] : metrics) {
    Result<Array> value = readOutput(output);
    if (!value)
      return value.error();
    if (isRunning) {
      mean.set(name, float(value->at(0)));
      batch.set(name, float(value->at(0)));
    } else if (value->count() == 2) { // a sum and its count
      mean.addSums(name, float(value->at(0)), float(value->at(1)));
      batch.addSums(name, float(value->at(0)), float(value->at(1)));
    } else if (value->count() == 1) {
      mean.add(name, float(value->at(0)), float(samples));
      batch.addSums(name, float(value->at(0)), 1);
    } else {
      return Error{"the program's metric " + outputs[output].name +
                   " has shape " + text(outputs[output].shape) +
                   "; a metric is a mean, or a sum and its count"};
    }
  }
  alone = batch.logs();
  return {};
}

} // namespace weft
