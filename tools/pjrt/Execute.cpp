//===- Execute.cpp - one run of a program ---------------------------------===//
//
// Runs return results at once, as promises; the run itself is enqueued in the
// runtime, and its ticket keeps or breaks the promise. A program whose last run
// was shorter than it takes to wake another thread runs on the caller's thread,
// if nothing is enqueued before it.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"
#include "weft/tools/pjrt/transfers/HostCalls.h"
#include "weft/tools/pjrt/transfers/Tickets.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>

using namespace weft;
using namespace weft::pjrt;

namespace {

/// A copy of an array in another order of its dimensions, or in the same.
struct ArrayCopy {
  StoragePtr from, to;
  const Port *port;
  MemoryOrder fromOrder, toOrder;

  void make() const {
    size_t element = factsOf(port->type).bytes();
    copyArray(to->data(), toOrder, from->data(),
              byteStrides(port->local, fromOrder, element).data(), port->local,
              element);
  }
};

/// Memory of one run, by port and position of the mesh. The program's arrays
/// are row-major.
struct Run {
  std::shared_ptr<const Executable> executable;
  std::vector<StoragePtr> inputs, outputs;
  std::vector<ArrayCopy> before, after;
  std::vector<PromisePtr> needed;
  std::chrono::steady_clock::time_point enqueued;
  PromisePtr done = std::make_shared<Promise>();
  HostTransfers transfers;
};

std::vector<void *> pointersOf(const std::vector<StoragePtr> &all) {
  std::vector<void *> pointers;
  for (const StoragePtr &storage : all)
    pointers.push_back(storage->data());
  return pointers;
}

/// The bytes that one device sent in the last run.
uint64_t bytesMoved(const weft_runtime *runtime) {
  const weft_counter *counters = nullptr;
  uint64_t bytes = 0;
  for (size_t i = 0, n = weft_runtime_counters(runtime, &counters); i < n; ++i)
    bytes += counters[i].bytes;
  return bytes;
}

/// The reason why an argument will not exist, if that is known; or null.
const PJRT_Error *brokenArgument(const Run &run) {
  for (const PromisePtr &promise : run.needed)
    if (promise->isSettled() && promise->failure())
      return promise->failure();
  return nullptr;
}

/// Seconds of a run below which the next one is short: a run that another thread
/// began, which took time to wake, and one on the caller's thread.
constexpr double kShortElsewhere = 100e-6, kShortHere = 60e-6;

/// Ends a run. Called on a thread of the runtime, before later work begins, or
/// on the thread that requested it.
void end(const Run &run, const std::string &failed, bool ranHere) {
  PJRT_Client &client = *run.executable->client;
  client.transfers.removeFirst();
  std::string why = failed.empty() ? run.transfers.failure() : failed;
  auto begun = std::max(run.enqueued, client.lastRunEnded);
  client.lastRunEnded = std::chrono::steady_clock::now();
  double seconds =
      std::chrono::duration<double>(client.lastRunEnded - begun).count();
  run.executable->loaded->isShort.store(
      seconds < (ranHere ? kShortHere : kShortElsewhere),
      std::memory_order_relaxed);
  if (why.empty()) {
    for (const ArrayCopy &copy : run.after)
      copy.make();
    if (Report *report = run.executable->loaded->report.get())
      report->ran(seconds, bytesMoved(client.madeRuntime));
  }
  PJRT_Error failure{kInternal, "Weft: " + why};
  run.done->settle(why.empty() ? brokenArgument(run) : &failure);
  client.dispatcher.runEnded();
}

/// Whether the run is over before another thread would begin it.
bool mayRunHere(const Run &run) {
  const LoadedProgram &loaded = *run.executable->loaded;
  return loaded.isShort.load(std::memory_order_relaxed) && !loaded.callsHost &&
         !isRunEnding() && run.executable->client->dispatcher.hasOneRun();
}

/// Enqueues a run, or ends it on failure. Called by the dispatcher: inputs that
/// are still missing are results of work that was enqueued before.
void begin(const std::shared_ptr<Run> &run) {
  PJRT_Client &client = *run->executable->client;
  const PJRT_Error *broken = brokenArgument(*run);
  if (broken || run->done->isSettled()) { // poisoned before it began
    run->done->settle(broken);
    client.dispatcher.runEnded();
    return;
  }
  for (const ArrayCopy &copy : run->before)
    copy.make();
  std::string why;
  weft_ticket *ticket = nullptr;
  client.transfers.add(&run->transfers);
  run->enqueued = std::chrono::steady_clock::now();
  weft_runtime *runtime = client.runtime(why);
  if (runtime && mayRunHere(*run)) {
    end(*run,
        takeMessage(weft_execute_local(
            runtime, run->executable->loaded->program,
            pointersOf(run->inputs).data(), pointersOf(run->outputs).data())),
        /*ranHere=*/true);
    return;
  }
  if (runtime)
    why = takeMessage(
        weft_execute_local_async(runtime, run->executable->loaded->program,
                                 pointersOf(run->inputs).data(),
                                 pointersOf(run->outputs).data(), &ticket));
  if (why.empty()) {
    whenDone(ticket, [run](const std::string &failed) {
      end(*run, failed, /*ranHere=*/false);
    });
    return;
  }
  client.transfers.removeLast();
  PJRT_Error failure{kInternal, "Weft: " + why};
  run->done->settle(&failure);
  client.dispatcher.runEnded();
}

PJRT_Error *wrongArgument(const PJRT_Buffer *buffer, const Port &port,
                          size_t index) {
  auto text = [](const std::vector<int64_t> &dims) {
    std::string out;
    for (int64_t dim : dims)
      out += (out.empty() ? "" : ",") + std::to_string(dim);
    return "(" + out + ")";
  };
  return error(kInvalidArgument,
               "argument " + std::to_string(index) + " has shape " +
                   text(buffer->dims) + " on a device, the program takes " +
                   text(port.local) + " of element type number " +
                   std::to_string(factsOf(port.type).pjrt));
}

/// The memory of a row-major array; that of a copy if the array has another
/// order. Requires the buffer's lock.
StoragePtr rowMajorMemory(const PJRT_Buffer &buffer, const Port &port,
                          Run &run) {
  MemoryOrder order = rowMajor(buffer.dims.size());
  if (buffer.order == order)
    return buffer.storage;
  auto copy = std::make_shared<Storage>(port.localBytes, buffer.device->use);
  run.before.push_back({buffer.storage, copy, &port, buffer.order, order});
  return copy;
}

/// Collects the memory of each argument; an error if one does not fit or has
/// been deleted, else null.
PJRT_Error *takeInputs(LoadedExecutable_Execute_Args *args,
                       const LoadedProgram &loaded, Run &run) {
  size_t positions = args->num_devices;
  for (size_t i = 0; i < args->num_args; ++i)
    for (size_t p = 0; p < positions; ++p) {
      const Port &port = loaded.inputs[i];
      PJRT_Buffer *buffer = args->argument_lists[port.facts.devices[p]][i];
      std::lock_guard<std::mutex> guard(buffer->mutex);
      if (!buffer->storage)
        return error(kInvalidArgument, "argument " + std::to_string(i) +
                                           " has been deleted or donated");
      if (buffer->type != BufferType(factsOf(port.type).pjrt) ||
          buffer->dims != port.local)
        return wrongArgument(buffer, port, i);
      run.inputs.push_back(rowMajorMemory(*buffer, port, run));
      if (!buffer->ready->isSettled() || buffer->ready->failure())
        run.needed.push_back(buffer->ready);
    }
  return nullptr;
}

bool mayDonate(const ExecuteOptions *options, size_t input) {
  for (size_t i = 0; i < options->num_non_donatable_input_indices; ++i)
    if (options->non_donatable_input_indices[i] == static_cast<int64_t>(input))
      return false;
  return true;
}

/// An error if memory that the run may overwrite is given twice, as jaxlib's
/// other clients say it; or null. Requires collected inputs.
PJRT_Error *givenTwice(const LoadedExecutable_Execute_Args *args,
                       const LoadedProgram &loaded, const Run &run) {
  std::map<const Storage *, size_t> first;
  auto isDonated = [&](size_t input) {
    return loaded.inputs[input].donatedTo >= 0 &&
           mayDonate(args->options, input);
  };
  for (size_t at = 0; at < run.inputs.size(); ++at) {
    size_t input = at / args->num_devices;
    auto [found, isNew] = first.emplace(run.inputs[at].get(), input);
    // Shards of one array on several devices may have one memory.
    if (isNew || found->second == input ||
        !(isDonated(input) || isDonated(found->second)))
      continue;
    bool both = isDonated(input) && isDonated(found->second);
    return error(kInvalidArgument,
                 "arguments " + std::to_string(found->second) + " and " +
                     std::to_string(input) + " are one array, and " +
                     (both               ? "both are donated: f(donate(a), "
                                           "donate(a))"
                      : isDonated(input) ? "the second is donated: f(a, "
                                           "donate(a))"
                                         : "the first is donated: "
                                           "f(donate(a), a)") +
                     "; donate a copy");
  }
  return nullptr;
}

/// The position whose memory a result has at a position.
size_t holderOf(const Run &run, size_t output, size_t position) {
  const Executable &executable = *run.executable;
  return executable.client->shares
             ? size_t(executable.loaded->holders[output][position])
             : position;
}

/// An argument that a result takes the memory of.
struct Donation {
  LoadedExecutable_Execute_Args *args;
  const Port &argument, &result;
  Run &run;

  PJRT_Buffer *buffer(size_t position) const {
    return args
        ->argument_lists[result.facts.devices[position]][result.donatedFrom];
  }
  StoragePtr &input(size_t position) const {
    return run.inputs[result.donatedFrom * args->num_devices + position];
  }
  bool isAllowed() const {
    return mayDonate(args->options, result.donatedFrom);
  }

  /// Whether others use the memory: a reference, an argument, or an array that
  /// has this memory, too, and is not donated with it to the same result.
  bool isUsedElsewhere(size_t position) const {
    const StoragePtr &memory = input(position);
    long buffers = 0, inputs = 0, sharers = 0;
    bool referred = false;
    size_t holder = holderOf(run, size_t(argument.donatedTo), position);
    for (size_t p = 0; p < args->num_devices; ++p) {
      if (holderOf(run, size_t(argument.donatedTo), p) != holder)
        continue;
      PJRT_Buffer &its = *buffer(p);
      std::lock_guard<std::mutex> guard(its.mutex);
      if (its.storage != memory)
        continue;
      referred |= its.externalReferences > 0;
      sharers = std::max(sharers, its.sharers.use_count());
      ++buffers;
      inputs += input(p) == memory;
    }
    return referred || sharers > buffers ||
           std::count(run.inputs.begin(), run.inputs.end(), memory) > inputs;
  }

  /// Donates the argument at a position if that is allowed. Returns the memory
  /// of the result: the argument's, or a copy of it if it must remain or is also
  /// used elsewhere.
  StoragePtr take(size_t position) const {
    PJRT_Buffer &its = *buffer(position);
    StoragePtr &memory = input(position);
    bool copied = memory != storageOf(&its); // the run has its own copy
    if (!copied && (!isAllowed() || isUsedElsewhere(position))) {
      auto copy = std::make_shared<Storage>(memory->size(), its.device->use);
      MemoryOrder order = rowMajor(argument.local.size());
      run.before.push_back({memory, copy, &argument, order, order});
      memory = copy;
    }
    return memory;
  }

  /// Deletes the arrays that are donated.
  void end() const {
    for (size_t p = 0; isAllowed() && p < args->num_devices; ++p) {
      PJRT_Buffer &its = *buffer(p);
      std::lock_guard<std::mutex> guard(its.mutex);
      its.storage = nullptr;
      its.sharers = nullptr;
    }
  }
};

/// The memory to which the program writes one result, by position. Devices that
/// share it have that of the first of them; its argument stands for theirs.
std::vector<StoragePtr> outputMemory(LoadedExecutable_Execute_Args *args,
                                     const LoadedProgram &loaded, size_t o,
                                     Run &run) {
  const Port &port = loaded.outputs[o];
  std::vector<StoragePtr> out;
  std::optional<Donation> donation;
  if (port.donatedFrom >= 0)
    donation.emplace(
        Donation{args, loaded.inputs[port.donatedFrom], port, run});
  for (size_t p = 0; p < args->num_devices; ++p) {
    PJRT_Device *device = run.executable->devices[port.facts.devices[p]];
    if (size_t holder = holderOf(run, o, p); holder != p)
      out.push_back(out[holder]);
    else if (donation)
      out.push_back(donation->take(p));
    else
      out.push_back(std::make_shared<Storage>(port.localBytes, device->use));
  }
  for (size_t p = 0; donation && p < out.size(); ++p)
    donation->input(p) = out[p];
  if (donation)
    donation->end();
  return out;
}

void makeOutputs(LoadedExecutable_Execute_Args *args,
                 const LoadedProgram &loaded, Run &run) {
  for (size_t o = 0; o < loaded.outputs.size(); ++o) {
    const Port &port = loaded.outputs[o];
    std::vector<StoragePtr> all = outputMemory(args, loaded, o, run);
    std::vector<std::shared_ptr<const bool>> sharers(all.size());
    for (size_t p = 0; p < args->num_devices; ++p) {
      int64_t partition = port.facts.devices[p];
      PJRT_Device *device = run.executable->devices[partition];
      StoragePtr memory = all[p];
      run.outputs.push_back(memory);
      if (MemoryOrder order = rowMajor(port.local.size());
          port.facts.minorToMajor != order) {
        auto given = std::make_shared<Storage>(port.localBytes, device->use);
        run.after.push_back(
            {memory, given, &port, order, port.facts.minorToMajor});
        memory = given;
      }
      PJRT_Buffer *made =
          makeBuffer(BufferType(factsOf(port.type).pjrt), port.local,
                     device->memories[memoryKindOf(port)], memory, run.done,
                     port.facts.minorToMajor);
      args->output_lists[partition][o] = made;
      size_t holder = holderOf(run, o, p);
      if (holder == p || memory != all[holder])
        continue;
      if (!sharers[holder]) {
        sharers[holder] = std::make_shared<const bool>(true);
        args->output_lists[port.facts.devices[holder]][o]->sharers =
            sharers[holder];
      }
      made->sharers = sharers[holder];
    }
  }
}

/// The error of memory that could not be allocated for the run, which then has
/// no results; null if all is there.
PJRT_Error *missingMemory(LoadedExecutable_Execute_Args *args,
                          const LoadedProgram &loaded, const Run &run) {
  auto isMissing = [](const StoragePtr &memory) { return !memory->data(); };
  auto lacks = [&](const std::vector<ArrayCopy> &copies) {
    return std::ranges::any_of(
        copies, [&](const ArrayCopy &copy) { return isMissing(copy.to); });
  };
  if (std::ranges::none_of(run.inputs, isMissing) &&
      std::ranges::none_of(run.outputs, isMissing) && !lacks(run.before) &&
      !lacks(run.after))
    return nullptr;
  size_t bytes = 0;
  for (size_t o = 0; o < loaded.outputs.size(); ++o) {
    bytes += loaded.outputs[o].localBytes;
    for (size_t p = 0; p < args->num_devices; ++p)
      delete args->output_lists[loaded.outputs[o].facts.devices[p]][o];
  }
  return error(kResourceExhausted,
               "no memory for the results of the program, " +
                   std::to_string(bytes) +
                   " bytes on a device; run a smaller one, or delete arrays");
}

/// The promises that must be settled before the run is enqueued. Copies by the
/// host come before the run, once all of their data has arrived.
Dispatcher::Promises heldBackBy(const Run &run) {
  Dispatcher::Promises out;
  for (const PromisePtr &promise : run.needed)
    if (promise->holdsBack() || !run.before.empty())
      out.push_back(promise);
  return out;
}

} // namespace

PJRT_Error *weft::pjrt::execute(LoadedExecutable_Execute_Args *args) {
  auto executable = args->executable->value;
  if (isAnsweringHostCall())
    return error(kFailedPrecondition,
                 "a host callback runs a program on the devices that wait for "
                 "it; give it JAX's CPU: JAX_PLATFORMS=weft,cpu");
  const LoadedProgram &loaded = *executable->loaded;
  if (args->num_devices != executable->devices.size() ||
      args->num_args != loaded.inputs.size())
    return error(kInvalidArgument,
                 "the program takes " + std::to_string(loaded.inputs.size()) +
                     " arguments on " +
                     std::to_string(executable->devices.size()) +
                     " devices, it is given " + std::to_string(args->num_args) +
                     " on " + std::to_string(args->num_devices));
  executable->client->dispatcher.awaitRoom();
  auto run = std::make_shared<Run>();
  run->done->isWork = true;
  run->done->callsHost = loaded.callsHost;
  run->executable = executable;
  run->transfers.belongTo(run->done);
  if (PJRT_Error *why = run->transfers.collect(*args->options, loaded))
    return why;
  if (PJRT_Error *why = takeInputs(args, loaded, *run))
    return why;
  if (PJRT_Error *why = givenTwice(args, loaded, *run))
    return why;
  makeOutputs(args, loaded, *run);
  if (PJRT_Error *why = missingMemory(args, loaded, *run))
    return why;
  if (args->device_complete_events)
    for (size_t d = 0; d < args->num_devices; ++d)
      args->device_complete_events[d] = new PJRT_Event{run->done};
  executable->client->launches.add(args->options->launch_id, executable,
                                   run->done);
  Dispatcher &dispatcher = executable->client->dispatcher;
  dispatcher.runAdded();
  dispatcher.add(heldBackBy(*run), [run] { begin(run); });
  return nullptr;
}
