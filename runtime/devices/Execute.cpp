#include "weft/runtime/abi/profile.h"
#include "weft/runtime/devices/RunCounts.h"
#include "weft/runtime/devices/RunResults.h"

#include <algorithm>
#include <tuple>
#include <utility>

using namespace weft::runtime;

/// Checks a port's buffer: it is the runtime's, has the same shards of an equal
/// array on the devices, and is used once, except for a donation.
static Status checkPort(weft_runtime &runtime, const weft::Port &port,
                        weft_buffer *buffer, weft_buffer *donatedArgument) {
  if (!buffer)
    return makeError(StatusCode::InvalidArgument, "no buffer for \"", port.name,
                     "\"");
  if (buffer->runtime != &runtime)
    return makeError(StatusCode::InvalidArgument, "the buffer for \"",
                     port.name, "\" belongs to another runtime");
  if (buffer->isOnHost)
    return makeError(StatusCode::InvalidArgument, "the buffer for \"",
                     port.name,
                     "\" is on the host; copy it to the devices with "
                     "weft_buffer_assign");
  if (buffer->port != &port && buffer->port->signature != port.signature)
    return makeError(StatusCode::InvalidArgument, "\"", port.name,
                     "\" is given the buffer of \"", buffer->port->name,
                     "\", which has another dtype, shape or layout");
  if (donatedArgument) {
    if (buffer != donatedArgument)
      return makeError(StatusCode::InvalidArgument, "output \"", port.name,
                       "\" reuses a donated input and needs its buffer");
    return {};
  }
  if (buffer->check == runtime.checks)
    return makeError(StatusCode::InvalidArgument, "the buffer for \"",
                     port.name,
                     "\" is already bound to another port of this run");
  buffer->check = runtime.checks;
  return {};
}

static Status checkPorts(weft_runtime &runtime, const Plan &plan,
                         weft_buffer *const *inputs,
                         weft_buffer *const *outputs) {
  ++runtime.checks;
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (Status ok = checkPort(runtime, plan.inputs[i], inputs[i], nullptr); !ok)
      return ok;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    int64_t donatedArgument = plan.outputs[i].donatedFrom;
    if (Status ok =
            checkPort(runtime, plan.outputs[i], outputs[i],
                      donatedArgument < 0 ? nullptr : inputs[donatedArgument]);
        !ok)
      return ok;
  }
  return {};
}

/// The memory of one port on the device at one position.
struct PortMemory {
  uintptr_t begin, end;
  const weft::Port *port;
  bool isWritten;
  size_t position;
};

/// The memory that ports of this process have; an output that reuses a donated
/// input is the input's.
static std::vector<PortMemory> memoryOfPorts(const weft_runtime &runtime,
                                             const Plan &plan,
                                             void *const *inputs,
                                             void *const *outputs) {
  size_t positions = plan.mesh.devices.size();
  Ownership owners = runtime.ownership(plan.mesh);
  std::vector<std::vector<int64_t>> firsts = runtime.firsts(plan);
  bool isShared =
      runtime.isSharing() &&
      sharesPorts(plan, firsts, {outputs, plan.outputs.size() * positions});
  std::vector<PortMemory> all;
  auto add = [&](const weft::Port &port, void *const *locals, bool isWritten) {
    int32_t shared = isShared ? plan.buffers[port.buffer].shared : -1;
    auto isCounted = [&](size_t p) {
      auto first = shared < 0 ? p : size_t(firsts[size_t(shared)][p]);
      return first != p && locals[first] == locals[p];
    };
    for (size_t p = 0; p < positions; ++p)
      if (auto begin = reinterpret_cast<uintptr_t>(locals[p]);
          owners.isOwn(int64_t(p)) && plan.bytesAt(port, int64_t(p)) &&
          !isCounted(p))
        all.push_back({begin, begin + port.localBytes, &port, isWritten, p});
  };
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    add(plan.inputs[i], inputs + i * positions, plan.inputs[i].donatedTo >= 0);
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    if (plan.outputs[i].donatedFrom < 0)
      add(plan.outputs[i], outputs + i * positions, true);
  return all;
}

/// Checks that memory to which the program writes is no other port's, nor a
/// part of it. Memory that is only read may be shared.
static Status checkDisjoint(std::vector<PortMemory> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const PortMemory &a, const PortMemory &b) {
                     return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
                   });
  // The memory that begins earlier and reaches furthest, among all ports and
  // among those that are written.
  const PortMemory *any = nullptr, *written = nullptr;
  for (const PortMemory &one : all) {
    const PortMemory *other = one.isWritten ? any : written;
    if (other && one.begin < other->end)
      return makeError(StatusCode::InvalidArgument, "the memory for \"",
                       one.port->name, "\" at position ", one.position,
                       " overlaps that for \"", other->port->name,
                       "\" at position ", other->position,
                       ", and the program writes to one of them; give each "
                       "port memory of its own");
    if (!any || any->end < one.end)
      any = &one;
    if (one.isWritten && (!written || written->end < one.end))
      written = &one;
  }
  return {};
}

/// Checks that every pointer of a position of this process is set and aligned,
/// donated memory is the same, and other memory that is written is apart.
static Status checkLocal(const weft_runtime &runtime, const Plan &plan,
                         void *const *inputs, void *const *outputs) {
  size_t positions = plan.mesh.devices.size();
  Ownership owners = runtime.ownership(plan.mesh);
  auto check = [&](const weft::Port &port, void *const *locals) -> Status {
    for (size_t p = 0; p < positions; ++p)
      if (owners.isOwn(int64_t(p)) &&
          holds(plan.mesh, port.layout, int64_t(p)) &&
          (!locals[p] || reinterpret_cast<uintptr_t>(locals[p]) % 64))
        return makeError(StatusCode::InvalidArgument, "the memory for \"",
                         port.name, "\" at position ", p,
                         locals[p] ? " is not aligned to 64 bytes; align it"
                                   : " is null; allocate it");
    return {};
  };
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (Status ok = check(plan.inputs[i], inputs + i * positions); !ok)
      return ok;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    if (Status ok = check(plan.outputs[i], outputs + i * positions); !ok)
      return ok;
    int64_t donatedArgument = plan.outputs[i].donatedFrom;
    for (size_t p = 0; donatedArgument >= 0 && p < positions; ++p)
      if (owners.isOwn(int64_t(p)) &&
          outputs[i * positions + p] != inputs[donatedArgument * positions + p])
        return makeError(StatusCode::InvalidArgument, "output \"",
                         plan.outputs[i].name,
                         "\" reuses a donated input and needs its memory");
  }
  return checkDisjoint(memoryOfPorts(runtime, plan, inputs, outputs));
}

using Ports = std::vector<void *>;

/// The addresses of the ports of a run, and their buffers, if any.
struct Binding {
  Ports inputs, outputs;
  std::vector<weft_buffer *> buffers; ///< each buffer once
};

static Status bindBuffers(weft_runtime &runtime, const Plan &plan,
                          weft_buffer *const *inputs,
                          weft_buffer *const *outputs, Binding &out) {
  if (Status ok = checkPorts(runtime, plan, inputs, outputs); !ok)
    return ok;
  auto add = [&](Ports &ports, weft_buffer *buffer, bool isFirst) {
    ports.insert(ports.end(), buffer->addresses.begin(),
                 buffer->addresses.end());
    if (isFirst)
      out.buffers.push_back(buffer);
  };
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    add(out.inputs, inputs[i], true);
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    add(out.outputs, outputs[i], plan.outputs[i].donatedFrom < 0);
  return {};
}

static Status bindLocal(const weft_runtime &runtime, const Plan &plan,
                        void *const *inputs, void *const *outputs,
                        Binding &out) {
  if (Status ok = checkLocal(runtime, plan, inputs, outputs); !ok)
    return ok;
  size_t positions = plan.mesh.devices.size();
  out.inputs.assign(inputs, inputs + plan.inputs.size() * positions);
  out.outputs.assign(outputs, outputs + plan.outputs.size() * positions);
  return {};
}

/// The memory of each position, for runs that keep devices apart.
static std::vector<std::pair<int64_t, const DeviceMemory *>>
memoryOf(const Binding &binding) {
  std::vector<std::pair<int64_t, const DeviceMemory *>> out;
  for (const weft_buffer *buffer : binding.buffers)
    for (size_t p = 0; p < buffer->locals.size(); ++p)
      if (const DeviceMemory *memory = buffer->memoryOf(p))
        out.emplace_back(int64_t(p), memory);
  return out;
}

/// Fails if the program calls functions of a host that the runtime lacks.
static Status checkHost(const weft_runtime &runtime, const Plan &plan) {
  if (!runtime.host.call)
    for (const Collective &collective : plan.collectives)
      if (const auto *its = std::get_if<weft::HostCall>(&collective.code))
        return makeError(StatusCode::InvalidArgument,
                         "the program calls function ", its->function,
                         " of its host, which has none; run it from the "
                         "script it was made in");
  return {};
}

/// Options of enqueueing a run.
struct How {
  bool isAwaited = false;
  RunTimes *times = nullptr;
  std::span<const weft_result> results = {};
};

/// Makes the function that a run calls at its end. `countsApart`: whether it asks
/// other processes for their counts.
static std::function<Status(Status, const CollectiveCounts &)>
endOf(weft_runtime &runtime [[clang::lifetimebound]],
      const Plan &plan [[clang::lifetimebound]], bool countsApart,
      std::function<Status()> readResults) {
  return [&runtime, &plan, countsApart, read = std::move(readResults)](
             Status result, CollectiveCounts counts) {
    if (result && countsApart)
      result = countElsewhere(runtime, counts);
    if (result)
      result = read();
    count(runtime, plan, counts);
    return result;
  };
}

/// The common part of all runs: `bind` binds the memory of the ports, if it
/// fits.
template <typename Port, typename Bind>
static Status enqueue(weft_runtime *runtime, const weft_program *program,
                      Port *const *inputs, Port *const *outputs, const How &how,
                      Bind bind, Ticket &out) {
  if (!runtime || !program)
    return makeError(StatusCode::InvalidArgument, "null argument");
  const Plan &plan = program->program->plan();
  if ((!inputs && !plan.inputs.empty()) || (!outputs && !plan.outputs.empty()))
    return makeError(StatusCode::InvalidArgument, "null argument");
  if (Status ok = runtime->checkProcess(); !ok)
    return ok;
  std::unique_lock<std::mutex> guard(runtime->mutex);
  if (runtime->processes && !runtime->hasPrepared(program->program)) {
    if (Ticket::isCallingBack())
      return makeError(StatusCode::Deadlock,
                       "a callback of a ticket enqueues the first run of \"",
                       plan.name,
                       "\", for which several processes wait until nothing "
                       "is enqueued; run it once before");
    guard.unlock(); // processes compare programs while they are otherwise idle
    guard = runtime->lockIdle();
  }
  Binding binding;
  if (Status ok = runtime->checkDevices(plan); !ok)
    return ok;
  if (Status ok = bind(plan, binding); !ok)
    return ok;
  Run run;
  if (Status ok = runtime->prepared(program->program, run.program); !ok)
    return ok;
  if (Status ok = checkHost(*runtime, plan); !ok)
    return ok;
  constexpr bool areBuffers = std::is_same_v<Port, weft_buffer>;
  std::function<Status()> readResults = [] { return Status(); };
  if constexpr (areBuffers) {
    if (Status ok = bindResults(plan, outputs, how.results, run); !ok)
      return ok;
    readResults = resultReader(outputs, how.results);
  }
  run.inputs = std::move(binding.inputs);
  run.outputs = std::move(binding.outputs);
  run.poison = areBuffers && runtime->poison;
  run.graphs = runtime->graphs;
  run.share = runtime->isSharing();
  run.isolate = areBuffers && runtime->isolate;
  if (run.isolate)
    run.memory = memoryOf(binding);
  bool apart = countsApart(*runtime, plan);
  run.exchangesAtEnd |= apart;
  run.isAwaited = how.isAwaited;
  run.times = how.times;
  run.ended = endOf(*runtime, plan, apart, std::move(readResults));
  out = runtime->devices->enqueue(std::move(run));
  uint64_t number = runtime->tickets->add(out);
  for (weft_buffer *buffer : binding.buffers)
    buffer->lastUse = number;
  return {};
}

static Status enqueueBuffers(weft_runtime *runtime, const weft_program *program,
                             weft_buffer *const *inputs,
                             weft_buffer *const *outputs, const How &how,
                             Ticket &out) {
  if (Status ok = adaptSharing(runtime, program, outputs); !ok)
    return ok;
  auto bind = [&](const Plan &plan, Binding &binding) {
    return bindBuffers(*runtime, plan, inputs, outputs, binding);
  };
  return enqueue(runtime, program, inputs, outputs, how, bind, out);
}

static Status enqueueLocal(weft_runtime *runtime, const weft_program *program,
                           void *const *inputs, void *const *outputs,
                           const How &how, Ticket &out) {
  auto bind = [&](const Plan &plan, Binding &binding) {
    return bindLocal(*runtime, plan, inputs, outputs, binding);
  };
  return enqueue(runtime, program, inputs, outputs, how, bind, out);
}

/// Enqueues with `add` and waits; the devices may work on the calling thread.
template <typename Add, typename Port>
static weft_error *runNow(Add add, weft_runtime *runtime,
                          const weft_program *program, Port *const *inputs,
                          Port *const *outputs, const How &how = {true}) {
  return guarded([&]() -> Status {
    if (Ticket::isCallingBack())
      return makeError(StatusCode::Deadlock,
                       "a callback of a ticket waits for a run, which begins "
                       "when the callback is over; enqueue the run instead");
    Ticket ticket;
    if (Status ok = add(runtime, program, inputs, outputs, how, ticket); !ok)
      return ok;
    runtime->devices->attend(ticket);
    return ticket.wait();
  });
}

template <typename Add, typename Port>
static weft_error *runLater(Add add, weft_runtime *runtime,
                            const weft_program *program, Port *const *inputs,
                            Port *const *outputs, weft_ticket **out,
                            const How &how = {}) {
  return guarded([&]() -> Status {
    if (!out)
      return makeError(StatusCode::InvalidArgument, "null argument");
    *out = nullptr;
    auto handle = std::make_unique<weft_ticket>();
    if (Status ok = add(runtime, program, inputs, outputs, how, handle->ticket);
        !ok)
      return ok;
    *out = handle.release();
    return {};
  });
}

/// The times of a run in the C API.
struct weft_profile {
  std::vector<weft_instruction_time> times;
};

extern "C" {

WEFT_EXPORT weft_error *weft_execute_profiled(weft_runtime *runtime,
                                              const weft_program *program,
                                              weft_buffer *const *inputs,
                                              weft_buffer *const *outputs,
                                              weft_profile **out) {
  if (!out)
    return guarded(
        [] { return makeError(StatusCode::InvalidArgument, "null argument"); });
  *out = nullptr;
  RunTimes times;
  if (weft_error *e = runNow(enqueueBuffers, runtime, program, inputs, outputs,
                             {.isAwaited = true, .times = &times}))
    return e;
  return guarded([&]() -> Status {
    auto profile = std::make_unique<weft_profile>();
    for (const InstructionTime &time : times)
      profile->times.push_back(
          {time.instruction, time.position, time.begin, time.end});
    *out = profile.release();
    return {};
  });
}

WEFT_EXPORT size_t weft_profile_times(const weft_profile *profile,
                                      const weft_instruction_time **out) {
  *out = profile->times.data();
  return profile->times.size();
}

WEFT_EXPORT void weft_profile_free(weft_profile *profile) { delete profile; }

WEFT_EXPORT weft_error *weft_execute(weft_runtime *runtime,
                                     const weft_program *program,
                                     weft_buffer *const *inputs,
                                     weft_buffer *const *outputs) {
  return runNow(enqueueBuffers, runtime, program, inputs, outputs);
}

WEFT_EXPORT weft_error *weft_execute_local(weft_runtime *runtime,
                                           const weft_program *program,
                                           void *const *inputs,
                                           void *const *outputs) {
  return runNow(enqueueLocal, runtime, program, inputs, outputs);
}

WEFT_EXPORT weft_error *weft_execute_async(weft_runtime *runtime,
                                           const weft_program *program,
                                           weft_buffer *const *inputs,
                                           weft_buffer *const *outputs,
                                           weft_ticket **out) {
  return runLater(enqueueBuffers, runtime, program, inputs, outputs, out);
}

WEFT_EXPORT weft_error *weft_execute_with_results(
    weft_runtime *runtime, const weft_program *program,
    weft_buffer *const *inputs, weft_buffer *const *outputs,
    const weft_result *results, size_t result_count, weft_ticket **out) {
  std::span<const weft_result> all(results, results ? result_count : 0);
  if (!out)
    return runNow(enqueueBuffers, runtime, program, inputs, outputs,
                  {.isAwaited = true, .results = all});
  return runLater(enqueueBuffers, runtime, program, inputs, outputs, out,
                  {.results = all});
}

WEFT_EXPORT weft_error *weft_execute_local_async(weft_runtime *runtime,
                                                 const weft_program *program,
                                                 void *const *inputs,
                                                 void *const *outputs,
                                                 weft_ticket **out) {
  return runLater(enqueueLocal, runtime, program, inputs, outputs, out);
}
}
