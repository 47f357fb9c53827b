#include "weft/runtime/devices/cuda/RunSchedule.h"

#include <algorithm>

namespace weft::runtime {

RunSchedule::RunSchedule(const GpuProgram &program, std::vector<Lane> given,
                         const GpuTables::Addresses &addresses)
    : program(program), plan(program.program()->plan()),
      lanes(std::move(given)) {
  for (size_t p = 0; p < lanes.size(); ++p) {
    devices.push_back(
        {StepEnqueuer(program, int64_t(p), *lanes[p].stream, addresses[p])});
    ready.push_back(p);
  }
  for (const Collective &collective : plan.collectives)
    arrived.emplace_back(collective.groups.size());
}

Error RunSchedule::run() {
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
    standing.isWaiting = false;
    ++standing.pc;
    ready.push_back(size_t(member));
  }
  return nullptr;
}

Error RunSchedule::meet(uint32_t number, int64_t group) {
  if (!program.collectives().hasWork(number, group))
    return nullptr;
  const std::vector<int64_t> &members =
      plan.collectives[number].groups[size_t(group)];
  const Lane &first = lanes[size_t(members[0])];
  if (Error e = first.stream->gpu().makeCurrent())
    return e;
  for (size_t m = 1; m < members.size(); ++m) {
    const Lane &lane = lanes[size_t(members[m])];
    if (Error e = lane.event->record(*lane.stream))
      return e;
    if (Error e = first.stream->waitFor(*lane.event))
      return e;
  }
  if (Error e = program.collectives().launch(number, group, *first.stream)) {
    e->message +=
        " for " + plan.describe(devices[size_t(members[0])].standing.pc);
    return e;
  }
  if (checksLaunches())
    if (Error e = first.stream->wait()) {
      e->message = plan.describe(devices[size_t(members[0])].standing.pc) +
                   ": " + e->message;
      return e;
    }
  if (members.size() == 1)
    return nullptr;
  if (Error e = first.event->record(*first.stream))
    return e;
  for (size_t m = 1; m < members.size(); ++m)
    if (Error e = lanes[size_t(members[m])].stream->waitFor(*first.event))
      return e;
  return nullptr;
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
