#include "weft/runtime/devices/cuda/RunSchedule.h"

#include <algorithm>
#include <map>

namespace weft::runtime {

RunSchedule::RunSchedule(GpuProgram &program, std::vector<Lane> given,
                         Bind bind, RunClock *clock, Graphs graphs,
                         std::vector<Upload> uploads)
    : program(program), plan(program.program()->plan()),
      lanes(std::move(given)), bind(std::move(bind)), devices(lanes.size()),
      clock(clock), graphs(std::move(graphs)), uploads(std::move(uploads)) {
  for (size_t p = 0; p < devices.size(); ++p) {
    devices[p].counts.resize(plan.counterNames.size());
    // Those of other processes stand at the end.
    devices[p].standing.hasReturned = !lanes[p].stream;
    if (lanes[p].stream)
      own.push_back(p);
  }
  std::map<const Gpu *, size_t> known;
  for (size_t p : own) {
    size_t gpu =
        known.try_emplace(&lanes[p].stream->gpu(), gpus.size()).first->second;
    gpus.resize(known.size());
    gpus[gpu].push_back(int64_t(p));
  }
  for (const Collective &collective : plan.collectives) {
    arrived.emplace_back(collective.groups.size());
    isWithinGpus.push_back(staysWithinGpus(collective));
  }
}

bool RunSchedule::staysWithinGpus(const Collective &collective) const {
  return std::ranges::all_of(own, [&](size_t p) {
    const auto &group = collective.groups[size_t(collective.groupOf[p])];
    return std::ranges::all_of(group, [&](int64_t member) {
      const GpuStream *stream = lanes[size_t(member)].stream;
      return stream && &stream->gpu() == &lanes[p].stream->gpu();
    });
  });
}

const GpuStream &RunSchedule::leadOf(size_t position) const {
  auto found = std::ranges::find_if(gpus, [&](const auto &positions) {
    return std::ranges::find(positions, int64_t(position)) != positions.end();
  });
  return *lanes[size_t(found->front())].stream;
}

Status RunSchedule::bindDevices() {
  if (devices[own.front()].step)
    return {};
  GpuTables::Addresses addresses;
  if (Status ok = bind(addresses); !ok)
    return ok;
  for (size_t p : own)
    devices[p].step = std::make_unique<StepEnqueuer>(
        program, int64_t(p), *lanes[p].stream, std::move(addresses[p]),
        lanes[p].workspace, clock);
  return {};
}

Status RunSchedule::run() {
  Status result = runAll();
  return result ? join() : result;
}

Status RunSchedule::runAll() {
  for (size_t p : own)
    if (Status ok =
            clock ? clock->start(int64_t(p), *lanes[p].stream) : Status();
        !ok)
      return ok;
  bool beginsWithPiece = !graphs.empty() && pieceEnd(0) != 0;
  if (!beginsWithPiece)
    if (Status ok = upload(); !ok)
      return ok;
  if (!graphs.empty())
    if (Status ok = runTogether(); !ok)
      return ok;
  return runDevices(kNoEnd, own);
}

Status RunSchedule::fork() {
  if (isForked || recording)
    return {};
  isForked = true;
  for (const std::vector<int64_t> &positions : gpus)
    if (Status ok = await(positions, {positions.front()}); !ok)
      return ok;
  return {};
}

Status RunSchedule::join() {
  if (!isForked)
    return {};
  isForked = false;
  for (const std::vector<int64_t> &positions : gpus)
    if (Status ok = await({positions.front()}, positions); !ok)
      return ok;
  return {};
}

Status RunSchedule::runDevices(uint32_t end,
                               const std::vector<size_t> &positions) {
  for (size_t p : positions)
    if (!devices[p].standing.hasReturned && devices[p].standing.pc != end)
      ready.push_back(p);
  if (ready.empty())
    return {};
  if (Status ok = bindDevices(); !ok)
    return ok;
  if (Status ok = fork(); !ok)
    return ok;
  for (bool found = true; found;) {
    while (!ready.empty()) {
      size_t position = ready.front();
      ready.pop_front();
      Device &device = devices[position];
      Status ok = device.step->run(device.standing, end);
      device.last = device.step->lastKernel();
      if (!ok)
        return ok;
      if (device.standing.isWaiting)
        if (Status met = arrive(position); !met)
          return met;
    }
    if (Status ok = meetEarliest(found); !ok)
      return ok;
  }
  return checkEnds();
}

/// Fails if devices wait for others, which have ended.
Status RunSchedule::checkEnds() const {
  std::vector<Standing> standings;
  bool isStuck = false;
  for (const Device &device : devices) {
    standings.push_back(device.standing);
    isStuck |= device.standing.isWaiting;
  }
  if (!isStuck)
    return {};
  return makeError(StatusCode::Deadlock,
                   describeDeadlock(plan, program.ownership(), standings));
}

Status RunSchedule::arrive(size_t position) {
  Device &device = devices[position];
  if (clock)
    if (Status ok = clock->begin(device.standing.pc, int64_t(position),
                                 *lanes[position].stream);
        !ok)
      return ok;
  uint32_t number = plan.instructions[device.standing.pc].index;
  const Collective &collective = plan.collectives[number];
  CollectiveCount &count = device.counts[collective.counter];
  ++count.occurrences;
  count.bytes += program.collectives().sent(number);
  ++arrived[number][size_t(collective.groupOf[position])];
  return {};
}

size_t RunSchedule::ownMembers(const std::vector<int64_t> &members) const {
  return size_t(std::ranges::count_if(members, [&](int64_t member) {
    return lanes[size_t(member)].stream != nullptr;
  }));
}

Status RunSchedule::meetEarliest(bool &found) {
  std::pair<uint32_t, int64_t> first = {kNoEnd, 0}; // instruction, group
  for (size_t p : own) {
    const Standing &its = devices[p].standing;
    if (!its.isWaiting)
      continue;
    uint32_t number = plan.instructions[its.pc].index;
    const Collective &collective = plan.collectives[number];
    int64_t group = collective.groupOf[p];
    if (arrived[number][size_t(group)] ==
        ownMembers(collective.groups[size_t(group)]))
      first = std::min(first, {its.pc, group});
  }
  found = first.first != kNoEnd;
  if (!found)
    return {};
  uint32_t number = plan.instructions[first.first].index;
  int64_t group = first.second;
  arrived[number][size_t(group)] = 0;
  if (Status ok = recording ? record(number, group) : meet(first.first, group);
      !ok)
    return ok;
  for (int64_t member : plan.collectives[number].groups[size_t(group)]) {
    if (!lanes[size_t(member)].stream)
      continue;
    Standing &standing = devices[size_t(member)].standing;
    if (clock)
      if (Status ok = clock->end(member, *lanes[size_t(member)].stream); !ok)
        return ok;
    standing.isWaiting = false;
    ++standing.pc;
    ready.push_back(size_t(member));
  }
  return {};
}

/// Makes the streams of `waiting` wait for all operations that the others have
/// enqueued so far.
Status RunSchedule::await(const std::vector<int64_t> &waiting,
                          const std::vector<int64_t> &others) {
  for (int64_t other : others) {
    const Lane &lane = lanes[size_t(other)];
    bool isAlone = waiting.size() == 1 && waiting[0] == other;
    if (isAlone)
      continue;
    if (Status ok = lane.event->record(*lane.stream); !ok)
      return ok;
  }
  for (int64_t one : waiting)
    for (int64_t other : others)
      if (one != other)
        if (Status ok =
                lanes[size_t(one)].stream->waitFor(*lanes[size_t(other)].event);
            !ok)
          return ok;
  return {};
}

/// Runs kernels on the stream of a GPU's first member.
Status RunSchedule::launch(int64_t position,
                           const std::vector<CollectiveLaunches> &all) {
  const GpuStream &stream = *lanes[size_t(position)].stream;
  if (Status ok = stream.gpu().makeCurrent(); !ok)
    return ok;
  for (const CollectiveLaunches &one : all)
    if (Status ok = one.launch(stream); !ok)
      return ok;
  return {};
}

/// Each GPU waits for its own members only: NCCL's calls wait for each other.
Status RunSchedule::exchange(const GpuExchange &its) {
  std::vector<cuda::Stream> streams;
  for (const GpuExchange::Side &side : its.all()) {
    streams.push_back(nullptr);
    if (!side.isOwn)
      continue;
    streams.back() = lanes[size_t(side.first())].stream->handle();
    if (Status ok = await({side.first()}, side.positions); !ok)
      return ok;
    if (Status ok = launch(side.first(), side.before); !ok)
      return ok;
  }
  if (Status ok = its.communicate(program.collectives().addresses(), streams);
      !ok)
    return ok;
  for (const GpuExchange::Side &side : its.all()) {
    if (!side.isOwn)
      continue;
    if (Status ok = launch(side.first(), side.after); !ok)
      return ok;
    if (Status ok = await(side.positions, {side.first()}); !ok)
      return ok;
  }
  for (const GpuExchange::Side &side : its.all())
    if (checksLaunches() && side.isOwn)
      if (Status ok = lanes[size_t(side.first())].stream->wait(); !ok)
        return ok;
  return {};
}

Status RunSchedule::meet(uint32_t pc, int64_t group) {
  uint32_t number = plan.instructions[pc].index;
  const auto &all = program.collectives().launches(number, group);
  const std::vector<int64_t> &members =
      plan.collectives[number].groups[size_t(group)];
  auto named = [&](const Status &failed) {
    return failed.in(plan.describe(pc));
  };
  if (const GpuExchange *its = program.collectives().exchange(number, group)) {
    Status done = exchange(*its);
    return done ? done : named(done);
  }
  std::vector<int64_t> launching;
  for (const GpuCollectives::Launches &one : all)
    launching.push_back(one.position);
  if (Status ok = await(launching, members); !ok)
    return ok;
  for (const GpuCollectives::Launches &one : all) {
    const GpuStream &stream = *lanes[size_t(one.position)].stream;
    if (Status ok = stream.gpu().makeCurrent(); !ok)
      return ok;
    if (Status ok = one.calls.launch(stream); !ok)
      return named(ok);
    if (checksLaunches())
      if (Status ok = stream.wait(); !ok)
        return named(ok);
  }
  return await(members, launching);
}

/// Makes the collective of a group, all on one GPU, a node of the graph.
Status RunSchedule::record(uint32_t number, int64_t group) {
  const auto &all = program.collectives().launches(number, group);
  const Collective &collective = plan.collectives[number];
  std::vector<BytesTouched> touched;
  for (int64_t member : collective.groups[size_t(group)]) {
    const Device &device = devices[size_t(member)];
    for (BufferUse use : buffersOf(plan, plan.instructions[device.standing.pc]))
      touched.push_back(device.step->bytesOf(use));
  }
  for (const GpuCollectives::Launches &one : all) {
    if (Status ok = recording->before(touched); !ok)
      return ok;
    if (Status ok = one.calls.launch(recording->stream()); !ok)
      return ok;
    if (Status ok = recording->after(); !ok)
      return ok;
  }
  return {};
}

CollectiveCounts RunSchedule::counts() const {
  CollectiveCounts out(plan.counterNames.size());
  for (size_t name = 0; name < out.size(); ++name) {
    for (const Device &device : devices)
      out[name].occurrences =
          std::max(out[name].occurrences, device.counts[name].occurrences);
    for (const Device &device : devices)
      out[name].bytes = std::max(out[name].bytes, device.counts[name].bytes);
  }
  return out;
}

} // namespace weft::runtime
