#include "weft/runtime/devices/cpu/Runtime.h"

#include <algorithm>
#include <cstring>

using namespace weft::runtime;

/// A port takes buffers of the runtime that hold the same parts of an equal
/// array on each device; no buffer twice, but for a donation.
static Error checkPort(weft_runtime &runtime, const PortInfo &port,
                       weft_buffer *buffer, weft_buffer *donor) {
  if (!buffer)
    return makeError(WEFT_INVALID_ARGUMENT, "no buffer for \"", port.name,
                     "\"");
  if (buffer->runtime != &runtime)
    return makeError(WEFT_INVALID_ARGUMENT, "the buffer for \"", port.name,
                     "\" belongs to another runtime");
  if (buffer->port != &port && buffer->port->signature != port.signature)
    return makeError(WEFT_INVALID_ARGUMENT, "\"", port.name,
                     "\" is given the buffer of \"", buffer->port->name,
                     "\", which has another dtype, shape or layout");
  if (donor) {
    if (buffer != donor)
      return makeError(WEFT_INVALID_ARGUMENT, "output \"", port.name,
                       "\" takes over a donated input and needs its buffer");
    return nullptr;
  }
  if (buffer->lastRun == runtime.runs)
    return makeError(WEFT_INVALID_ARGUMENT, "the buffer for \"", port.name,
                     "\" is already bound to another port of this run");
  buffer->lastRun = runtime.runs;
  return nullptr;
}

static Error checkPorts(weft_runtime &runtime, const Plan &plan,
                        weft_buffer *const *inputs,
                        weft_buffer *const *outputs) {
  ++runtime.runs;
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (Error e = checkPort(runtime, plan.inputs[i], inputs[i], nullptr))
      return e;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    int64_t donor = plan.outputs[i].donatedFrom;
    if (Error e = checkPort(runtime, plan.outputs[i], outputs[i],
                            donor < 0 ? nullptr : inputs[donor]))
      return e;
  }
  return nullptr;
}

static void bind(weft_runtime &runtime, const Plan &plan, Executor &executor,
                 weft_buffer *const *inputs, weft_buffer *const *outputs) {
  std::vector<uint64_t> key = {runtime.arenaVersion};
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    key.push_back(inputs[i]->id);
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    key.push_back(outputs[i]->id);
  executor.bind(key, [&](int64_t position, size_t index) -> void * {
    const BufferInfo &buffer = plan.buffers[index];
    if (buffer.input >= 0)
      return inputs[buffer.input]->locals[position].data();
    if (buffer.output >= 0)
      return outputs[buffer.output]->locals[position].data();
    if (buffer.kind == BufferKind::constant)
      return const_cast<uint8_t *>(plan.constants) + buffer.offset;
    int64_t device = plan.mesh.devices[position];
    return static_cast<char *>(runtime.arenas[device].data()) + buffer.offset;
  });
}

/// As above, from memory of the caller's.
static void bindLocal(weft_runtime &runtime, const Plan &plan,
                      Executor &executor, void *const *inputs,
                      void *const *outputs) {
  size_t positions = plan.mesh.devices.size();
  // Unlike numbers of buffers, addresses never begin with this.
  std::vector<uint64_t> key = {~uint64_t(0), runtime.arenaVersion};
  for (size_t i = 0; i < plan.inputs.size() * positions; ++i)
    key.push_back(reinterpret_cast<uint64_t>(inputs[i]));
  for (size_t i = 0; i < plan.outputs.size() * positions; ++i)
    key.push_back(reinterpret_cast<uint64_t>(outputs[i]));
  executor.bind(key, [&](int64_t position, size_t index) -> void * {
    const BufferInfo &buffer = plan.buffers[index];
    if (buffer.input >= 0)
      return inputs[buffer.input * positions + position];
    if (buffer.output >= 0)
      return outputs[buffer.output * positions + position];
    if (buffer.kind == BufferKind::constant)
      return const_cast<uint8_t *>(plan.constants) + buffer.offset;
    int64_t device = plan.mesh.devices[position];
    return static_cast<char *>(runtime.arenas[device].data()) + buffer.offset;
  });
}

/// Every pointer is there and aligned, and donated memory is the same.
static Error checkLocal(const Plan &plan, void *const *inputs,
                        void *const *outputs) {
  size_t positions = plan.mesh.devices.size();
  auto check = [&](const PortInfo &port, void *const *locals) -> Error {
    for (size_t p = 0; p < positions; ++p)
      if (!locals[p] || reinterpret_cast<uintptr_t>(locals[p]) % 64)
        return makeError(WEFT_INVALID_ARGUMENT, "the memory for \"", port.name,
                         "\" at position ", p,
                         " is null or not aligned to 64 bytes");
    return nullptr;
  };
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (Error e = check(plan.inputs[i], inputs + i * positions))
      return e;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    if (Error e = check(plan.outputs[i], outputs + i * positions))
      return e;
    int64_t donor = plan.outputs[i].donatedFrom;
    for (size_t p = 0; donor >= 0 && p < positions; ++p)
      if (outputs[i * positions + p] != inputs[donor * positions + p])
        return makeError(WEFT_INVALID_ARGUMENT, "output \"",
                         plan.outputs[i].name,
                         "\" takes over a donated input and needs its memory");
  }
  return nullptr;
}

static void poison(weft_runtime &runtime, const Plan &plan,
                   weft_buffer *const *outputs) {
  for (int64_t device : plan.mesh.devices)
    if (runtime.arenas[device].data())
      std::memset(runtime.arenas[device].data(), 0xFF, plan.arenaBytes);
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    if (plan.outputs[i].donatedFrom < 0)
      for (Memory &local : outputs[i]->locals)
        if (local.data())
          std::memset(local.data(), 0xFF, local.size());
}

static Error runIsolated(weft_runtime &runtime, const Plan &plan,
                         Executor &executor, weft_buffer *const *inputs,
                         weft_buffer *const *outputs) {
  size_t positions = plan.mesh.devices.size();
  DeviceBorders borders(positions);
  for (size_t device = 0; device < runtime.arenas.size(); ++device)
    borders.add(size_t(std::ranges::find(plan.mesh.devices, int64_t(device)) -
                       plan.mesh.devices.begin()),
                runtime.arenas[device]);
  auto addPort = [&](const weft_buffer &buffer) {
    for (size_t p = 0; p < positions; ++p)
      borders.add(p, buffer.locals[p]);
  };
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    addPort(*inputs[i]);
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    if (plan.outputs[i].donatedFrom < 0)
      addPort(*outputs[i]);
  Error e = executor.run(runtime.workers, &borders);
  if (!e && borders.refused())
    return makeError(WEFT_OUT_OF_MEMORY,
                     "the system refused to protect the "
                     "memory of ",
                     positions,
                     " devices from each other; raise "
                     "vm.max_map_count, or take fewer devices");
  return e;
}

using Counts = std::array<Executor::Count, collectiveKinds>;

/// Devices that take other branches move other bytes: those of all processes.
static Error countElsewhere(weft_runtime &runtime, const Plan &plan,
                            Counts &counts) {
  bool branches =
      std::any_of(plan.instructions.begin(), plan.instructions.end(),
                  [](const Instruction &i) {
                    return i.kind == weft::plan::Operation::JumpUnless;
                  });
  Processes *processes = runtime.processes;
  if (!processes || !branches)
    return nullptr;
  std::vector<Counts> all(size_t(processes->size()), counts);
  std::vector<Message> messages;
  for (int peer = 0; peer < processes->size(); ++peer)
    if (peer != processes->rank()) {
      messages.push_back({.peer = peer,
                          .tag = tags::counts,
                          .in = &all[size_t(peer)],
                          .bytes = sizeof counts});
      messages.push_back({.peer = peer,
                          .tag = tags::counts,
                          .out = &counts,
                          .bytes = sizeof counts});
    }
  if (Error e = processes->exchange(messages))
    return e;
  int first = runtime.ownership(plan.mesh).of(0);
  for (size_t kind = 0; kind < collectiveKinds; ++kind) {
    counts[kind].occurrences = all[size_t(first)][kind].occurrences;
    for (const Counts &some : all)
      counts[kind].bytes = std::max(counts[kind].bytes, some[kind].bytes);
  }
  return nullptr;
}

static void count(weft_runtime &runtime, const Counts &counts) {
  runtime.counters.clear();
  for (size_t kind = 0; kind < counts.size(); ++kind)
    if (counts[kind].occurrences || counts[kind].bytes)
      runtime.counters.push_back({weft::plan::EnumNamesCollectiveKind()[kind],
                                  counts[kind].occurrences,
                                  counts[kind].bytes});
}

/// What every run does: `check` says whether the ports fit, `run` binds them
/// and lets the devices go.
template <typename Port, typename Check, typename Run>
static Error execute(weft_runtime *runtime, const weft_program *program,
                     Port *const *inputs, Port *const *outputs, Check check,
                     Run run) {
  if (!runtime || !program)
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  const Plan &plan = program->program->plan();
  if ((!inputs && !plan.inputs.empty()) || (!outputs && !plan.outputs.empty()))
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  std::lock_guard<std::mutex> guard(runtime->mutex);
  if (Error e = runtime->checkDevices(plan))
    return e;
  if (Error e = check(plan))
    return e;
  Executor *executor;
  if (Error e = runtime->executorFor(program->program, executor))
    return e;
  if (Error e = runtime->growArenas(plan))
    return e;
  Error e = run(plan, *executor);
  Counts counts = executor->counts();
  if (!e)
    e = countElsewhere(*runtime, plan, counts);
  count(*runtime, counts);
  return e;
}

extern "C" WEFT_EXPORT weft_error *weft_execute(weft_runtime *runtime,
                                                const weft_program *program,
                                                weft_buffer *const *inputs,
                                                weft_buffer *const *outputs) {
  auto check = [&](const Plan &plan) {
    return checkPorts(*runtime, plan, inputs, outputs);
  };
  auto run = [&](const Plan &plan, Executor &executor) -> Error {
    bind(*runtime, plan, executor, inputs, outputs);
    if (runtime->poison)
      poison(*runtime, plan, outputs);
    return runtime->isolate
               ? runIsolated(*runtime, plan, executor, inputs, outputs)
               : executor.run(runtime->workers);
  };
  return guarded([&]() -> Error {
    return execute(runtime, program, inputs, outputs, check, run);
  });
}

extern "C" WEFT_EXPORT weft_error *
weft_execute_local(weft_runtime *runtime, const weft_program *program,
                   void *const *inputs, void *const *outputs) {
  auto check = [&](const Plan &plan) {
    return checkLocal(plan, inputs, outputs);
  };
  auto run = [&](const Plan &plan, Executor &executor) -> Error {
    bindLocal(*runtime, plan, executor, inputs, outputs);
    return executor.run(runtime->workers);
  };
  return guarded([&]() -> Error {
    return execute(runtime, program, inputs, outputs, check, run);
  });
}
