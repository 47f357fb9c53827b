// Instructions that are done once for devices that share memory.

#include "weft/runtime/devices/cpu/Executor.h"
#include "weft/runtime/program/Hazards.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace weft::runtime {

/// The least bytes of a launch for a worker more: taking a share costs about as
/// long as computing some hundred bytes.
constexpr uint64_t bytesOfShare = 16 << 10;

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

std::vector<Executor::JointRun::Part> Executor::partsOf(uint32_t instruction,
                                                        int workers) const {
  const Plan &plan = owner->plan();
  const Instruction &i = plan.instructions[instruction];
  int64_t shares = 1;
  if (i.kind == plan::Operation::Launch && !callOf(i) &&
      owner->sharedKernel(i.index).run) {
    uint64_t bytes = 0;
    for (const BufferUse &use : buffersOf(plan, i))
      bytes += plan.buffers[use.buffer].bytes;
    shares = std::clamp<int64_t>(
        int64_t(bytes / bytesOfShare), 1,
        std::min<int64_t>(owner->sharedKernel(i.index).most, 2 * workers));
  }
  std::vector<JointRun::Part> out;
  for (int64_t share = 0; share < shares; ++share)
    out.push_back({instruction, share, shares});
  return out;
}

/// Finds the targets that are written where devices share memory: a buffer is
/// written for its first member here.
void Executor::markWritten(Rendezvous &rendezvous,
                           const Collective &collective) const {
  const Plan &plan = owner->plan();
  size_t count = collective.targets.size();
  for (size_t n = 0; n < count; ++n) {
    int32_t shared = plan.buffers[collective.targets[n].buffer].shared;
    if (shared < 0)
      continue;
    rendezvous.isWritten.resize(rendezvous.members->size() * count, true);
    std::set<int64_t> written;
    for (size_t m = 0; m < rendezvous.members->size(); ++m) {
      int64_t position = (*rendezvous.members)[m];
      rendezvous.isWritten[m * count + n] =
          ownership.isOwn(position) &&
          written.insert(plan.sharings[size_t(shared)].groupOf[position])
              .second;
    }
  }
}

/// Adds the instructions from `first` to `end`, in stages: an instruction is in
/// the stage after those of the instructions that it must wait for.
void Executor::addJointRun(uint32_t first, uint32_t end, int workers) {
  const Plan &plan = owner->plan();
  auto run = std::make_unique<JointRun>();
  run->first = first;
  run->end = end;
  run->sharing = plan.instructions[first].shared;
  // Shared memory lies after the arena, then ports, each in bytes of its own.
  std::map<uint32_t, uint64_t> ports;
  std::vector<uint64_t> shared;
  uint64_t next = plan.arenaBytes;
  for (const Sharing &sharing : plan.sharings)
    next = shared.emplace_back(next) + sharing.bytes;
  auto begin = [&](uint32_t number) {
    const BufferInfo &buffer = plan.buffers[number];
    if (buffer.kind == BufferKind::arena)
      return buffer.shared < 0
                 ? buffer.offset
                 : shared[size_t(buffer.shared)] + buffer.sharedOffset;
    auto [port, isNew] = ports.insert({number, next});
    next += isNew ? buffer.bytes : 0;
    return port->second;
  };
  Hazards hazards;
  std::vector<size_t> stages;
  for (uint32_t n = first; n < end; ++n) {
    std::vector<BytesTouched> touched;
    for (const BufferUse &use : buffersOf(plan, plan.instructions[n]))
      touched.push_back({begin(use.buffer),
                         begin(use.buffer) + plan.buffers[use.buffer].bytes,
                         use.isWritten});
    size_t stage = 0;
    for (uint32_t before : hazards.add(touched))
      stage = std::max(stage, stages[before] + 1);
    stages.push_back(stage);
    run->stages.resize(std::max(run->stages.size(), stage + 1));
    for (const JointRun::Part &part : partsOf(n, workers))
      run->stages[stage].push_back(part);
    jointAt[n] = uint32_t(jointRuns.size());
  }
  jointRuns.push_back(std::move(run));
}

void Executor::prepareJointRuns(int workers) {
  const Plan &plan = owner->plan();
  for (const Sharing &sharing : plan.sharings)
    firstOf.push_back(
        sharing.firsts([&](int64_t p) { return ownership.isOwn(p); }));
  jointAt.resize(plan.instructions.size());
  for (StraightPiece piece : straightPieces(plan))
    for (uint32_t n = piece.first; n < piece.end; ++n) {
      int32_t shared = plan.instructions[n].shared;
      uint32_t end = n;
      while (shared >= 0 && end < piece.end &&
             plan.instructions[end].shared == shared)
        ++end;
      if (end == n)
        continue;
      addJointRun(n, end, workers);
      n = end - 1;
    }
  joints.resize(plan.mesh.devices.size());
  for (std::vector<JointWork *> &its : joints)
    its.resize(jointRuns.size());
  for (size_t n = 0; n < jointRuns.size(); ++n) {
    const std::vector<int64_t> &first = firstOf[size_t(jointRuns[n]->sharing)];
    std::map<int64_t, std::vector<int64_t>> groups;
    for (int64_t position : own)
      groups[first[size_t(position)]].push_back(position);
    for (auto &[leader, members] : groups) {
      if (members.size() == 1)
        continue;
      auto work = std::make_unique<JointWork>();
      work->run = jointRuns[n].get();
      work->executor = this;
      work->members = members;
      work->positions = work->members;
      for (int64_t position : members)
        joints[size_t(position)][n] = work.get();
      jointWorks.push_back(std::move(work));
    }
  }
  open.reserve(open.capacity() + jointWorks.size());
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

void Executor::arriveJointly(Device &device) {
  JointWork &work = *joints[size_t(device.position)][jointAt[device.pc]];
  lock.lock();
  device.state = State::Waiting;
  if (++work.arrived == work.members.size()) {
    work.arrived = 0;
    if (isTimed)
      work.times.resize(work.run->stages[0].size());
    offer(work);
  }
  lock.unlock();
}

void Executor::copy(const Device &device, const Instruction &i) {
  std::memmove(device.buffers[i.target], device.buffers[i.index],
               owner->plan().buffers[i.index].bytes);
}

/// The first member stands for all: what the instructions read is equal.
void Executor::JointWork::runChunk(int64_t chunk) {
  const JointRun::Part &part = run->stages[stage][size_t(chunk)];
  const Instruction &i = executor->owner->plan().instructions[part.instruction];
  Device &device = executor->devices[size_t(members[0])];
  uint64_t begin = executor->isTimed ? executor->now() : 0;
  if (i.kind == plan::Operation::Copy)
    executor->copy(device, i);
  else if (part.shares == 1)
    executor->launch(device, i);
  else
    executor->owner->sharedKernel(i.index).run(
        device.arguments.data() + i.firstArgument, device.coordinates.data(),
        part.share, part.shares);
  if (executor->isTimed)
    times[size_t(chunk)] = {begin, executor->now()};
}

/// Records an instruction from the start of its first part to the end of its
/// last.
void Executor::JointWork::noteStage() {
  const std::vector<JointRun::Part> &parts = run->stages[stage];
  Device &device = executor->devices[size_t(members[0])];
  for (size_t n = 0; n < parts.size(); ++n) {
    if (n == 0 || parts[n].instruction != parts[n - 1].instruction)
      device.times.push_back({parts[n].instruction, device.position,
                              times[n].first, times[n].second});
    InstructionTime &its = device.times.back();
    its.begin = std::min(its.begin, times[n].first);
    its.end = std::max(its.end, times[n].second);
  }
}

void Executor::JointWork::release(Executor &its) {
  if (its.isTimed)
    noteStage();
  bool isOver = ++stage == run->stages.size();
  stage = isOver ? 0 : stage;
  chunks = int64_t(run->stages[stage].size());
  if (its.isTimed)
    times.resize(size_t(chunks));
  if (!isOver)
    return its.offer(*this);
  for (size_t m = members.size(); m-- > 0;) {
    Device &device = its.devices[size_t(members[m])];
    device.pc = run->end - 1;
    its.resume(device);
  }
}

} // namespace weft::runtime
