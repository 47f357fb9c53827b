#include "weft/training/BoundStep.h"

#include <algorithm>

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
  if (ahead.written.valid())
    ahead.written.wait();
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
    metrics.push_back({o, metricName(outputs[o]), outputs[o].facts.isRunning});
  }
  return {};
}

Status Trainer::BoundStep::gather(const TrainingData &data,
                                  const std::vector<int64_t> &indices,
                                  Bytes &to) const {
  to.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isData())
      continue;
    const TrainingData::Column *column = data.column(inputs[i].name);
    if (!column)
      return Error{"no array is given for " + inputs[i].name + "; add " +
                   Option{"data", "FILE.npz"}};
    Shape shape = column->sample;
    shape.insert(shape.begin(), int64_t(indices.size()));
    if (shape != inputs[i].shape)
      return Error{"the program takes " + inputs[i].name + " of shape " +
                   text(inputs[i].shape) + ", the batch has " + text(shape) +
                   "; compile it for this batch size"};
    if (Status ok =
            TrainingData::gather(*column, indices, inputs[i].type, to[i]);
        !ok)
      return ok;
  }
  return {};
}

Status Trainer::BoundStep::write(const Bytes &batch, const Buffers &to) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].isData())
      if (Status ok = takeError(
              weft_buffer_write(to[i], batch[i].data(), batch[i].size()));
          !ok)
        return ok;
  return {};
}

Status Trainer::BoundStep::createSpare(Buffers &made, uint64_t &bytes) const {
  made.assign(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isData())
      continue;
    if (Status ok = takeError(weft_input_create(runtime, program, i, &made[i]));
        !ok)
      return ok;
    weft_port port;
    if (Status ok = takeError(weft_program_input(program, i, &port)); !ok)
      return ok;
    bytes += port.device_bytes;
  }
  return {};
}

bool Trainer::BoundStep::hasSpare(const std::function<bool(bool mine)> &lack) {
  bool isDonated =
      std::any_of(inputs.begin(), inputs.end(), [](const Port &port) {
        return port.isData() && port.donatedTo >= 0;
      });
  if (isDonated || std::exchange(askedForSpare, true))
    return !spare.empty();
  Buffers made;
  uint64_t bytes = 0;
  bool lacks = !createSpare(made, bytes);
  if (lack ? lack(lacks) : lacks) {
    for (weft_buffer *buffer : made)
      weft_buffer_free(buffer);
    return false;
  }
  for (weft_buffer *buffer : made)
    if (buffer)
      owned.push_back(buffer);
  spare = std::move(made);
  spareBytes = bytes;
  return true;
}

void Trainer::BoundStep::prefetch(const TrainingData &data,
                                  const std::vector<int64_t> &indices,
                                  BackgroundThread &thread, bool onDevices) {
  if (ahead.written.valid())
    return;
  ahead.data = &data;
  ahead.indices = indices;
  ahead.onDevices = onDevices;
  ahead.written = thread.start([this] {
    Status gathered = gather(*ahead.data, ahead.indices, bytesAhead);
    return gathered && ahead.onDevices ? write(bytesAhead, spare) : gathered;
  });
}

Status Trainer::BoundStep::takeBatch(const TrainingData &data,
                                     const std::vector<int64_t> &indices) {
  Status written;
  if (ahead.written.valid()) {
    written = ahead.written.get();
    if (ahead.data == &data && ahead.indices == indices)
      return written ? takeAhead() : written;
  }
  written = gather(data, indices, bytes);
  return written ? write(bytes, inputBuffers) : written;
}

Status Trainer::BoundStep::takeAhead() {
  if (!ahead.onDevices)
    return write(bytesAhead, inputBuffers);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].isData())
      std::swap(inputBuffers[i], spare[i]);
  return {};
}

bool Trainer::BoundStep::isCopied(size_t output) const {
  return outputs[output].holdsState() &&
         outputBuffers[output] != state->buffer(outputs[output].name);
}

Status Trainer::BoundStep::takeStateOutputs() {
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!isCopied(o))
      continue;
    Result<Array> value = readOutput(o); // not donated: copied through the host
    if (!value)
      return value.error();
    if (Status ok = state->write(outputs[o].name, *value); !ok)
      return ok;
  }
  return {};
}

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Status Trainer::BoundStep::take(const TrainingData &data,
                                const std::vector<int64_t> &indices) {
  auto begin = Clock::now();
  Status taken = takeBatch(data, indices);
  waitSeconds = secondsSince(begin);
  return taken;
}

Status Trainer::BoundStep::execute() {
  if (Status ok = runNow(last); !ok)
    return ok;
  executeSeconds = last.executeSeconds;
  return {};
}

Trainer::BoundStep::Started::~Started() {
  if (!ticket)
    return;
  weft_error_free(weft_ticket_wait(ticket));
  weft_ticket_free(ticket);
}

bool Trainer::BoundStep::canRunAhead() const {
  if (spare.empty()) // the next batch waits for this one to be read
    return false;
  for (size_t o = 0; o < outputs.size(); ++o)
    if (isCopied(o)) // to the host and back, before the next run
      return false;
  return true;
}

Status Trainer::BoundStep::run(Started &out, bool waits) {
  out.begin = Clock::now();
  out.waitSeconds = waitSeconds;
  out.values.clear();
  std::vector<weft_result> results;
  for (const Metric &metric : metrics) {
    const Port &port = outputs[metric.output];
    Array &value = out.values.emplace_back(Array::zeros(port.type, port.shape));
    results.push_back({metric.output, value.bytes.data(), value.bytes.size()});
  }
  return takeError(weft_execute_with_results(
      runtime, program, inputBuffers.data(), outputBuffers.data(),
      results.data(), results.size(), waits ? nullptr : &out.ticket));
}

Status Trainer::BoundStep::runNow(Started &out) {
  if (Status ok = run(out, /*waits=*/true); !ok)
    return ok;
  out.executeSeconds = secondsSince(out.begin);
  return takeStateOutputs();
}

Status Trainer::BoundStep::start(Started &out) {
  return run(out, /*waits=*/false);
}

Status Trainer::BoundStep::finish(Started &run, Clock::time_point before) {
  if (!run.ticket)
    return {};
  Status done = takeError(weft_ticket_wait(run.ticket));
  weft_ticket_free(std::exchange(run.ticket, nullptr));
  run.executeSeconds = secondsSince(std::max(before, run.begin));
  return done;
}

void Trainer::BoundStep::drop(const TrainingData &data) {
  if (ahead.written.valid() && ahead.data == &data)
    ahead.written.wait(), ahead = {};
}

Result<Array> Trainer::BoundStep::readOutput(size_t output) const {
  Array array = Array::zeros(outputs[output].type, outputs[output].shape);
  if (Status ok = takeError(weft_buffer_read(
          outputBuffers[output], array.bytes.data(), array.bytes.size()));
      !ok)
    return ok.error();
  return array;
}

Status Trainer::BoundStep::addMetrics(const Started &run, RunningMetrics &mean,
                                      int64_t samples, Logs &alone) const {
  RunningMetrics batch;
  for (size_t m = 0; m < metrics.size(); ++m) {
    const auto &[output, name, isRunning] = metrics[m];
    const Array *value = &run.values[m];
    if (isRunning && !value->shape.empty()) {
      std::vector<float> list;
      for (int64_t i = 0; i < value->count(); ++i)
        list.push_back(float(value->at(i)));
      mean.setAll(name, list);
      batch.setAll(name, std::move(list));
    } else if (isRunning) {
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
                   "; a metric is a mean, or a sum and its count, or says "
                   "{\"running\": true}"};
    }
  }
  alone = batch.logs();
  return {};
}

} // namespace weft
