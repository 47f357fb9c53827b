#include "weft/runtime/devices/cuda/RunSchedule.h"

#include <algorithm>

namespace weft::runtime {

RunSchedule::RunSchedule(const GpuProgram &program, std::vector<Lane> given,
                         const GpuTables::Addresses &addresses, RunClock *clock)
    : program(program), plan(program.program()->plan()),
      lanes(std::move(given)), clock(clock) {
  for (size_t p = 0; p < lanes.size(); ++p) {
    devices.push_back({StepEnqueuer(program, int64_t(p), *lanes[p].stream,
                                    addresses[p], lanes[p].workspace, clock)});
    devices.back().counts.resize(plan.counterNames.size());
    ready.push_back(p);
  }
  for (const Collective &collective : plan.collectives)
    arrived.emplace_back(collective.groups.size());
}

Status RunSchedule::run() {
  for (size_t p = 0; clock && p < lanes.size(); ++p)
    if (Status ok = clock->start(int64_t(p), *lanes[p].stream); !ok)
      return ok;
  while (!ready.empty()) {
    size_t position = ready.front();
    ready.pop_front();
    Device &device = devices[position];
    if (Status ok = device.step.run(device.standing); !ok)
      return ok;
    if (device.standing.isWaiting)
      if (Status ok = arrive(position); !ok)
        return ok;
  }
  std::vector<Standing> standings;
  bool isStuck = false;
  for (const Device &device : devices) {
    standings.push_back(device.standing);
    isStuck |= device.standing.isWaiting;
  }
  if (isStuck)
    return makeError(StatusCode::Deadlock,
                     describeDeadlock(plan, Ownership(), standings));
  return {};
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
  int64_t group = collective.groupOf[position];
  const std::vector<int64_t> &members = collective.groups[size_t(group)];
  size_t &here = arrived[number][size_t(group)];
  if (++here < members.size())
    return {};
  here = 0;
  if (Status ok = meet(number, group); !ok)
    return ok;
  for (int64_t member : members) {
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

Status RunSchedule::meet(uint32_t number, int64_t group) {
  const auto &all = program.collectives().launches(number, group);
  const std::vector<int64_t> &members =
      plan.collectives[number].groups[size_t(group)];
  std::vector<int64_t> launching;
  for (const GpuCollectives::Launches &one : all)
    launching.push_back(one.position());
  if (Status ok = await(launching, members); !ok)
    return ok;
  auto named = [&](const Status &failed) {
    return failed.in(plan.describe(devices[size_t(members[0])].standing.pc));
  };
  for (const GpuCollectives::Launches &one : all) {
    const GpuStream &stream = *lanes[size_t(one.position())].stream;
    if (Status ok = stream.gpu().makeCurrent(); !ok)
      return ok;
    if (Status ok = one.launch(stream); !ok)
      return named(ok);
    if (checksLaunches())
      if (Status ok = stream.wait(); !ok)
        return named(ok);
  }
  return await(members, launching);
}

CollectiveCounts RunSchedule::counts() const {
  CollectiveCounts out(plan.counterNames.size());
  for (size_t name = 0; name < out.size(); ++name) {
    out[name].occurrences = devices.front().counts[name].occurrences;
    for (const Device &device : devices)
      out[name].bytes = std::max(out[name].bytes, device.counts[name].bytes);
  }
  return out;
}

} // namespace weft::runtime
