#include "weft/runtime/devices/cpu/Runtime.h"

#include "weft/runtime/program/Movement.h"

#include <cstring>
#include <set>

using namespace weft::runtime;

static Error createBuffer(weft_runtime *runtime, const weft_program *program,
                          bool isInput, size_t index, weft_buffer **out) {
  if (!runtime || !program || !out)
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  *out = nullptr;
  const Plan &plan = program->program->plan();
  const std::vector<PortInfo> &ports = isInput ? plan.inputs : plan.outputs;
  if (index >= ports.size())
    return makeError(WEFT_INVALID_ARGUMENT, "program \"", plan.name, "\" has ",
                     ports.size(), isInput ? " inputs" : " outputs",
                     ", there is no number ", index);
  const PortInfo &port = ports[index];
  auto buffer = std::make_unique<weft_buffer>(weft_buffer{
      program->program, &port, runtime, 0, 0, {}});
  buffer->locals.resize(size_t(plan.mesh.size()));
  for (int64_t p = 0; p < plan.mesh.size(); ++p) {
    if (!buffer->locals[p].allocate(port.localBytes, p))
      return makeError(WEFT_OUT_OF_MEMORY, "no memory for \"", port.name,
                       "\" on device ", p, ": ", port.localBytes,
                       " bytes; split it over more devices, or take a smaller "
                       "model or batch");
    if (runtime->poison)
      std::memset(buffer->locals[p].data(), 0xFF, port.localBytes);
  }
  std::lock_guard<std::mutex> guard(runtime->mutex);
  buffer->id = runtime->nextBuffer++;
  *out = buffer.release();
  return nullptr;
}

static Error checkGlobal(const weft_buffer *buffer, const void *data,
                         size_t bytes) {
  if (!buffer || (!data && bytes))
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  if (bytes != buffer->port->globalBytes)
    return makeError(WEFT_INVALID_ARGUMENT, "\"", buffer->port->name,
                     "\" has ", buffer->port->globalBytes, " bytes, not ",
                     bytes);
  return nullptr;
}

/// Copies what the device at `position` holds out of or into a global array.
static BoxCopy shardCopy(const weft_buffer &buffer, int64_t position,
                         bool toGlobal) {
  const PortInfo &port = *buffer.port;
  const Plan &plan = buffer.program->plan();
  Box box = own(plan.mesh, port.layout, port.shape, position);
  const std::vector<int64_t> &local = plan.buffers[port.buffer].shape;
  std::vector<int64_t> zero(box.size()), start(box.size()), extent(box.size());
  for (size_t d = 0; d < box.size(); ++d) {
    start[d] = box[d].begin;
    extent[d] = box[d].size();
  }
  int64_t size = elementBytes(port.dtype);
  return toGlobal ? BoxCopy::make(local, zero, port.shape, start, extent, size)
                  : BoxCopy::make(port.shape, start, local, zero, extent, size);
}

extern "C" {

WEFT_EXPORT weft_error *weft_input_create(weft_runtime *runtime,
                                          const weft_program *program,
                                          size_t input, weft_buffer **out) {
  return guarded(
      [&] { return createBuffer(runtime, program, true, input, out); });
}

WEFT_EXPORT weft_error *weft_output_create(weft_runtime *runtime,
                                           const weft_program *program,
                                           size_t output, weft_buffer **out) {
  return guarded(
      [&] { return createBuffer(runtime, program, false, output, out); });
}

WEFT_EXPORT void weft_buffer_free(weft_buffer *buffer) { delete buffer; }

WEFT_EXPORT weft_error *weft_buffer_write(weft_buffer *buffer, const void *data,
                                          size_t bytes) {
  return guarded([&]() -> Error {
    if (Error e = checkGlobal(buffer, data, bytes))
      return e;
    for (size_t p = 0; p < buffer->locals.size(); ++p) {
      if (buffer->runtime->poison)
        std::memset(buffer->locals[p].data(), 0xFF, buffer->locals[p].size());
      shardCopy(*buffer, int64_t(p), false)(data, buffer->locals[p].data());
    }
    return nullptr;
  });
}

WEFT_EXPORT weft_error *weft_buffer_read(const weft_buffer *buffer, void *data,
                                         size_t bytes) {
  return guarded([&]() -> Error {
    if (Error e = checkGlobal(buffer, data, bytes))
      return e;
    const Mesh &mesh = buffer->program->plan().mesh;
    SubAxes axes;
    for (const SubAxes &dim : buffer->port->layout.dims)
      axes.insert(axes.end(), dim.begin(), dim.end());
    std::set<int64_t> read; // shards: copies hold the same bits
    for (size_t p = 0; p < buffer->locals.size(); ++p)
      if (read.insert(coordinate(mesh, int64_t(p), axes)).second)
        shardCopy(*buffer, int64_t(p), true)(buffer->locals[p].data(), data);
    return nullptr;
  });
}

WEFT_EXPORT void *weft_buffer_local(weft_buffer *buffer, int64_t position,
                                    size_t *bytes) {
  if (!buffer || position < 0 || size_t(position) >= buffer->locals.size())
    return nullptr;
  if (bytes)
    *bytes = buffer->locals[position].size();
  return buffer->locals[position].data();
}
}
