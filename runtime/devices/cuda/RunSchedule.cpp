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
    ready.push_back(p);
  }
  for (const Collective &collective : plan.collectives)
    arrived.emplace_back(collective.groups.size());
}

Error RunSchedule::run() {
  for (size_t p = 0; clock && p < lanes.size(); ++p)
    if (Error e = clock->start(int64_t(p), *lanes[p].stream))
      return e;
  while (!ready.empty()) {
    size_t position = ready.front();
    ready.pop_front();
    Device &device = devices[position];
    if (Error e = device.step.run(device.standing))
      return e;
    if (device.standing.isWaiting)
      if (Error e = arrive(position))
        return e;
  }
  std::vector<Standing> standings;
  bool isStuck = false;
  for (const Device &device : devices) {
    standings.push_back(device.standing);
    isStuck |= device.standing.isWaiting;
  }
  return isStuck ? makeError(WEFT_DEADLOCK,
                             describeDeadlock(plan, Ownership(), standings))
                 : nullptr;
}

Error RunSchedule::arrive(size_t position) {
  Device &device = devices[position];
  if (clock)
    if (Error e = clock->begin(device.standing.pc, int64_t(position),
                               *lanes[position].stream))
      return e;
  uint32_t number = plan.instructions[device.standing.pc].index;
  const Collective &collective = plan.collectives[number];
  CollectiveCount &count = device.counts[size_t(collective.kind())];
  ++count.occurrences;
  count.bytes += program.collectives().sent(number);
  int64_t group = collective.groupOf[position];
  const std::vector<int64_t> &members = collective.groups[size_t(group)];
  size_t &here = arrived[number][size_t(group)];
  if (++here < members.size())
    return nullptr;
  here = 0;
  if (Error e = meet(number, group))
    return e;
  for (int64_t member : members) {
    Standing &standing = devices[size_t(member)].standing;
    if (clock)
      if (Error e = clock->end(member, *lanes[size_t(member)].stream))
        return e;
    standing.isWaiting = false;
    ++standing.pc;
    ready.push_back(size_t(member));
  }
  return nullptr;
}

/// Makes the streams of `waiting` wait for all operations that the others have
/// enqueued so far.
Error RunSchedule::await(const std::vector<int64_t> &waiting,
                         const std::vector<int64_t> &others) {
  for (int64_t other : others) {
    const Lane &lane = lanes[size_t(other)];
    bool isAlone = waiting.size() == 1 && waiting[0] == other;
    if (isAlone)
      continue;
    if (Error e = lane.event->record(*lane.stream))
      return e;
  }
  for (int64_t one : waiting)
    for (int64_t other : others)
      if (one != other)
        if (Error e =
                lanes[size_t(one)].stream->waitFor(*lanes[size_t(other)].event))
          return e;
  return nullptr;
}

Error RunSchedule::meet(uint32_t number, int64_t group) {
  const auto &all = program.collectives().launches(number, group);
  const std::vector<int64_t> &members =
      plan.collectives[number].groups[size_t(group)];
  std::vector<int64_t> launching;
  for (const GpuCollectives::Launches &one : all)
    launching.push_back(one.position());
  if (Error e = await(launching, members))
    return e;
  auto named = [&](Error e) {
    e->message = plan.describe(devices[size_t(members[0])].standing.pc) + ": " +
                 e->message;
    return e;
  };
  for (const GpuCollectives::Launches &one : all) {
    const GpuStream &stream = *lanes[size_t(one.position())].stream;
    if (Error e = stream.gpu().makeCurrent())
      return e;
    if (Error e = one.launch(stream))
      return named(std::move(e));
    if (checksLaunches())
      if (Error e = stream.wait())
        return named(std::move(e));
  }
  return await(members, launching);
}

CollectiveCounts RunSchedule::counts() const {
  CollectiveCounts out = {};
  for (size_t kind = 0; kind < out.size(); ++kind) {
    out[kind].occurrences = devices.front().counts[kind].occurrences;
    for (const Device &device : devices)
      out[kind].bytes = std::max(out[kind].bytes, device.counts[kind].bytes);
  }
  return out;
}

} // namespace weft::runtime
