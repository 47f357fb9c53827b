//===- CudaRuns.cpp - runs of programs on GPUs ----------------------------===//

#include "weft/runtime/devices/cuda/CudaDevices.h"

#include <algorithm>

namespace weft::runtime {

/// Waits for a stream or an event, which may wait for other GPUs by NCCL.
template <typename Point> Status CudaDevices::await(const Point &point) const {
  links->await(point);
  return point.wait();
}

/// Frees memory that runs on the device's GPU may still use.
Status CudaDevices::drop(const Device &device,
                         std::unique_ptr<GpuMemory> &memory) {
  if (!memory)
    return {};
  if (Status ok = await(*firstOn(*device.gpu)->work); !ok)
    return ok;
  memory = nullptr;
  return {};
}

Status CudaDevices::growArenas(const Plan &plan) {
  for (size_t p : ownPositions(plan.mesh)) {
    int64_t number = plan.mesh.devices[p];
    Device &device = devices[size_t(number)];
    if (device.arena && device.arena->bytes() >= plan.arenaBytes)
      continue;
    if (Status ok = drop(device, device.arena); !ok)
      return ok;
    if (Status ok = GpuMemory::allocate(device.gpu, number, plan.arenaBytes,
                                        "the arena", meter, device.arena);
        !ok)
      return ok;
    // The arena is zeroed, as collectives leave out the padding of uneven
    // shards, which kernels read and mask.
    if (!plan.collectives.empty())
      if (Status ok = fill(*device.arena, 0); !ok)
        return ok;
  }
  return {};
}

Status CudaDevices::growWorkspaces(const GpuProgram &program) {
  uint64_t bytes = program.workspaceBytes();
  const Plan &plan = program.program()->plan();
  for (size_t p : ownPositions(plan.mesh)) {
    int64_t number = plan.mesh.devices[p];
    Device &device = devices[size_t(number)];
    if (bytes == 0 || (device.workspace && device.workspace->bytes() >= bytes))
      continue;
    if (Status ok = drop(device, device.workspace); !ok)
      return ok;
    if (Status ok = GpuMemory::allocate(device.gpu, number, bytes,
                                        "the workspace of cuBLASLt", meter,
                                        device.workspace);
        !ok)
      return ok;
  }
  return {};
}

Status CudaDevices::poison(const Plan &plan, const Run &run) {
  size_t positions = plan.mesh.devices.size();
  for (size_t p : ownPositions(plan.mesh)) {
    Device &device = devices[size_t(plan.mesh.devices[p])];
    if (Status ok = fill(*device.arena, 0xFF); !ok)
      return ok;
    // fill() does not make the GPU current for empty memory.
    if (Status ok = device.gpu->makeCurrent(); !ok)
      return ok;
    const Driver &driver = device.gpu->driver();
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      void *local = run.outputs[i * positions + p];
      if (plan.outputs[i].donatedFrom >= 0 || !local ||
          !plan.bytesAt(plan.outputs[i], int64_t(p)))
        continue;
      if (Status ok =
              driver.check(driver.cuMemsetD8Async(addressOf(local), 0xFF,
                                                  plan.outputs[i].localBytes,
                                                  device.work->handle()),
                           "cuMemsetD8Async");
          !ok)
        return ok;
    }
    // The next operation may be in another device's stream.
    if (Status ok = device.work->wait(); !ok)
      return ok;
  }
  return {};
}

/// The addresses of the buffers of one position.
static std::vector<cuda::Address> addressesOf(const Plan &plan, const Run &run,
                                              size_t position,
                                              cuda::Address arena,
                                              cuda::Address constants) {
  size_t positions = plan.mesh.devices.size();
  std::vector<cuda::Address> out;
  for (const BufferInfo &buffer : plan.buffers)
    if (buffer.input >= 0)
      out.push_back(
          addressOf(run.inputs[size_t(buffer.input) * positions + position]));
    else if (buffer.output >= 0)
      out.push_back(
          addressOf(run.outputs[size_t(buffer.output) * positions + position]));
    else
      out.push_back(buffer.offset +
                    (buffer.kind == BufferKind::constant ? constants : arena));
  return out;
}

/// The first lane on a GPU is the stream that all runs there begin and end in, so
/// that runs of different devices keep their order.
std::vector<RunSchedule::Lane> CudaDevices::lanesOf(const Mesh &mesh) const {
  std::vector<RunSchedule::Lane> lanes;
  for (int64_t number : mesh.devices) {
    const Device &device = devices[size_t(number)]; // a device of any process
    lanes.push_back({device.work.get(), device.event.get()});
    if (device.workspace)
      lanes.back().workspace = {device.workspace->place(),
                                device.workspace->bytes()};
  }
  for (const GpuStream *lead : leadsOf(mesh)) {
    auto isThere = [&](const RunSchedule::Lane &lane) {
      return lane.stream && &lane.stream->gpu() == &lead->gpu();
    };
    auto first = std::ranges::find_if(lanes, isThere);
    for (RunSchedule::Lane &lane : lanes)
      if (lane.stream == lead)
        lane.stream = first->stream;
    first->stream = lead;
  }
  return lanes;
}

/// Graphs are used where nothing has to be known of single instructions.
RunSchedule::Graphs CudaDevices::graphsOf(const Run &run,
                                          const Mesh &mesh) const {
  std::vector<size_t> own = ownPositions(mesh);
  if (!run.graphs || run.times || checksLaunches() || !driver().hasGraphs)
    return {};
  std::map<const Gpu *, size_t> partOf;
  RunSchedule::Graphs graphs;
  for (size_t p : own) {
    const Gpu *gpu = devices[size_t(mesh.devices[p])].gpu.get();
    if (partOf.try_emplace(gpu, graphs.size()).second)
      graphs.emplace_back();
    RunSchedule::Part &part = graphs[partOf[gpu]];
    part.positions.push_back(p);
    for (const auto *ports : {&run.inputs, &run.outputs})
      for (size_t port = p; port < ports->size(); port += mesh.devices.size())
        part.places.push_back((*ports)[port]);
    const Device &device = devices[size_t(mesh.devices[p])];
    part.places.push_back(device.arena->address());
    part.places.push_back(device.workspace ? device.workspace->address()
                                           : nullptr);
  }
  return graphs;
}

/// What a run has enqueued.
struct CudaDevices::Done {
  CollectiveCounts counts = {};
  std::vector<std::string> last = {}; ///< the last kernel, by position
  bool hasUploads = false;            ///< whether it copies arrays that waited
};

Status CudaDevices::enqueueAll(GpuProgram &program, const Run &run,
                               RunClock *clock, uint64_t number, Done &out) {
  const Plan &plan = program.program()->plan();
  std::vector<size_t> own = ownPositions(plan.mesh);
  out.counts.resize(plan.counterNames.size());
  out.last.resize(plan.mesh.devices.size());
  if (own.empty())
    return {};
  if (Status ok = growArenas(plan); !ok)
    return ok;
  if (Status ok = growWorkspaces(program); !ok)
    return ok;
  for (const GpuStream *lead : leadsOf(plan.mesh))
    if (Status ok = awaitWrites(*lead); !ok)
      return ok;
  if (run.poison)
    if (Status ok = poison(plan, run); !ok)
      return ok;
  auto bind = [&](GpuTables::Addresses &addresses) {
    addresses.resize(plan.mesh.devices.size());
    for (size_t p : own)
      addresses[p] = addressesOf(
          plan, run, p, devices[size_t(plan.mesh.devices[p])].arena->place(),
          program.constants(int64_t(p)));
    return program.collectives().bind(addresses);
  };
  std::vector<Upload> uploads;
  if (number)
    uploads = front().uploads->take(number);
  out.hasUploads = !uploads.empty();
  RunSchedule schedule(program, lanesOf(plan.mesh), bind, clock,
                       graphsOf(run, plan.mesh), std::move(uploads));
  Status result = schedule.run();
  out.counts = schedule.counts();
  for (size_t p : own)
    out.last[p] = schedule.lastKernel(p);
  return result;
}

/// The error of a wait for a run's operations.
static Status named(Status failed, const Plan &plan, int64_t device,
                    const std::string &lastKernel) {
  Message &message = failed.error().message;
  message +=
      " while \"" + plan.name + "\" ran on device " + std::to_string(device);
  if (!lastKernel.empty())
    message += ", whose last kernel is \"" + lastKernel +
               "\"; run again with WEFT_CUDA_CHECK=1, which names the "
               "kernel that failed";
  return failed;
}

/// Waits for all streams of a run; returns the error of the first that failed.
Status CudaDevices::waitForAll(const Plan &plan,
                               const std::vector<std::string> &last) const {
  Status result;
  const Mesh &mesh = plan.mesh;
  for (size_t p : ownPositions(mesh)) {
    const Device &device = devices[size_t(mesh.devices[p])];
    for (const GpuStream *stream :
         {firstOn(*device.gpu)->work.get(), device.work.get()})
      if (Status done = await(*stream); !done && result)
        result = named(std::move(done), plan, mesh.devices[p],
                       p < last.size() ? last[p] : "");
  }
  return result;
}

Status CudaDevices::perform(Run &run) {
  // The program was prepared by this set, so it is a GpuProgram.
  auto &program = static_cast<GpuProgram &>(*run.program);
  const Plan &plan = program.program()->plan();
  Done its;
  RunClock clock;
  Status result = front().uploads->copyNow(*front().copies);
  if (result)
    result = enqueueAll(program, run, run.times ? &clock : nullptr,
                        /*number=*/0, its);
  // Enqueued operations use memory of the run, even if a later one failed.
  Status done = waitForAll(plan, its.last);
  if (result)
    result = std::move(done);
  if (result)
    result = links->checkRun();
  if (result && run.times)
    result = clock.read(*run.times);
  if (result)
    result = readResults(run);
  return run.ended(std::move(result), its.counts);
}

//===----------------------------------------------------------------------===//
// Runs that are enqueued at once
//===----------------------------------------------------------------------===//

/// Points after a run in the streams of its GPUs, and memory for the run's
/// results.
struct CudaDevices::End {
  std::vector<std::unique_ptr<GpuEvent>> events = {};
  PinnedMemory results = {};
};

/// The stream of each GPU of a mesh in which runs begin and end there.
std::vector<const GpuStream *> CudaDevices::leadsOf(const Mesh &mesh) const {
  std::vector<const GpuStream *> leads;
  for (size_t p : ownPositions(mesh)) {
    const Gpu &gpu = *devices[size_t(mesh.devices[p])].gpu;
    const GpuStream *lead = firstOn(gpu)->work.get();
    if (std::ranges::find(leads, lead) == leads.end())
      leads.push_back(lead);
  }
  return leads;
}

struct CudaDevices::Started {
  Run run;
  ResultCopies results;
  uint64_t number = 0; ///< the number of the runs that were enqueued at once
  Status result = {};  ///< the result of enqueuing
  Done done = {};
  /// Null for a run without results and uploads that the caller waits for next.
  std::shared_ptr<End> end = nullptr;
};

Ticket CudaDevices::defer(RunQueue::Task task, bool isAwaited) {
  struct Count {
    std::atomic<int> &number;
    explicit Count(std::atomic<int> &number [[clang::lifetimebound]])
        : number(number) {
      ++number;
    }
    ~Count() { --number; }
  };
  auto count = std::make_shared<Count>(deferred);
  return queue.add(
      [task = std::move(task), count = std::move(count)] { return task(); },
      isAwaited);
}

/// Whether a run may be enqueued before earlier tasks of the queue are over: all
/// of those only wait for what is enqueued already, nothing of the run has to be
/// waited for meanwhile, and its end uses the GPUs only.
bool CudaDevices::beginsAtOnce(const Run &run,
                               const ResultCopies &results) const {
  return deferred == 0 && !run.times && !run.poison && !run.exchangesAtEnd &&
         results.bytes() <= kMostResultBytes;
}

Ticket CudaDevices::enqueue(Run run) {
  bool isAwaited = run.isAwaited;
  ResultCopies results(run.results);
  if (!beginsAtOnce(run, results)) {
    auto kept = std::make_shared<Run>(std::move(run));
    return defer([this, kept] { return perform(*kept); }, isAwaited);
  }
  CallerContext caller(driver());
  auto started = std::make_shared<Started>(
      Started{std::move(run), std::move(results), ++begun});
  started->result = caught([&] { return start(*started); });
  if (!started->result) {
    const Mesh &mesh = started->run.program->program()->plan().mesh;
    for (const GpuStream *lead : leadsOf(mesh))
      (void)await(*lead); // for its copies
    front().uploads->failed(started->number);
  }
  if (started->end)
    inFlight.push_back(started);
  return queue.add([this, started] { return finish(*started); }, isAwaited);
}

Status CudaDevices::start(Started &its) {
  auto &program = static_cast<GpuProgram &>(*its.run.program);
  std::vector<const GpuStream *> leads =
      leadsOf(program.program()->plan().mesh);
  std::erase_if(inFlight,
                [](const auto &earlier) { return earlier.expired(); });
  if (inFlight.size() >= kMostInFlight) {
    if (std::shared_ptr<Started> first = inFlight.front().lock())
      for (const auto &event : first->end->events)
        if (Status ok = await(*event); !ok)
          return ok;
    inFlight.pop_front();
  }
  if (Status ok =
          enqueueAll(program, its.run, /*clock=*/nullptr, its.number, its.done);
      !ok)
    return ok;
  if (its.run.isAwaited && its.run.results.empty() && !its.done.hasUploads)
    return {};
  std::shared_ptr<End> end;
  if (Status ok = takeEnd(leads, end); !ok)
    return ok;
  its.end = end;
  if (!its.run.results.empty() && !leads.empty()) {
    if (Status ok = end->results.reserve(
            leads.front()->owned(), its.results.bytes(), "results of runs");
        !ok)
      return ok;
    if (Status ok = its.results.enqueue(leads, end->results.start()); !ok)
      return ok;
  }
  for (size_t i = 0; i < leads.size(); ++i)
    if (Status ok = end->events[i]->record(*leads[i]); !ok)
      return ok;
  if (its.done.hasUploads)
    front().uploads->enqueued(its.number, std::shared_ptr<const GpuEvent>(
                                              end, end->events.front().get()));
  return {};
}

/// Gets events that no run uses any more.
Status CudaDevices::takeEnd(const std::vector<const GpuStream *> &leads,
                            std::shared_ptr<End> &out) {
  auto &all = ends[leads];
  if (!all.empty() && all.front().use_count() == 1) {
    out = std::move(all.front());
    all.pop_front();
  } else {
    out = std::make_shared<End>();
    for (const GpuStream *lead : leads)
      if (Status ok =
              GpuEvent::create(lead->owned(), out->events.emplace_back());
          !ok)
        return ok;
  }
  all.push_back(out);
  return {};
}

/// Waits for the run on each of its GPUs; returns the error of the first that
/// failed.
Status CudaDevices::awaitEnd(const Started &its) const {
  const Plan &plan = its.run.program->program()->plan();
  std::vector<const GpuStream *> leads = leadsOf(plan.mesh);
  Status result;
  for (size_t i = 0; i < leads.size(); ++i) {
    Status done = its.end ? await(*its.end->events[i]) : await(*leads[i]);
    if (done || !result)
      continue;
    size_t p = 0;
    while (devices[size_t(plan.mesh.devices[p])].gpu.get() != &leads[i]->gpu())
      ++p;
    result =
        named(std::move(done), plan, plan.mesh.devices[p], its.done.last[p]);
  }
  return result;
}

Status CudaDevices::finish(Started &its) {
  const Plan &plan = its.run.program->program()->plan();
  Status result = std::move(its.result);
  // Enqueued operations use memory of the run, even if a later one failed.
  if (!result)
    (void)waitForAll(plan, its.done.last);
  else
    result = awaitEnd(its);
  if (result)
    result = links->checkRun();
  if (result && its.end)
    its.results.take(its.run.results, its.end->results.start());
  if (its.done.hasUploads)
    front().uploads->ended(its.number);
  return its.run.ended(std::move(result), its.done.counts);
}

} // namespace weft::runtime
