#include "weft/runtime/devices/cpu/Executor.h"

#include "weft/runtime/collectives/Deadlock.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::runtime {

void Executor::addRendezvous(uint32_t number, const PreparedCollective &work) {
  const Collective &collective = owner->plan().collectives[number];
  for (size_t g = 0; g < collective.groups.size(); ++g) {
    auto rendezvous = std::make_unique<Rendezvous>();
    rendezvous->work = &work;
    rendezvous->collective = number;
    rendezvous->members = &collective.groups[g];
    rendezvous->positions = collective.groups[g];
    rendezvous->group = int64_t(g);
    rendezvous->chunks = work.chunkCount(int64_t(g));
    size_t members = collective.groups[g].size();
    rendezvous->sources.resize(members * collective.sources.size());
    rendezvous->targets.resize(members * collective.targets.size());
    for (int64_t member : collective.groups[g])
      rendezvous->expected += ownership.isOwn(member);
    if (rendezvous->expected > 0)
      rendezvous->messages = work.messages(int64_t(g));
    markWritten(*rendezvous, collective);
    rendezvousList.push_back(std::move(rendezvous));
  }
}

Status Executor::prepare(const CollectiveProvider &given, int workers) {
  provider = &given;
  const Plan &plan = owner->plan();
  for (uint32_t number = 0; number < plan.collectives.size(); ++number) {
    const Collective &collective = plan.collectives[number];
    std::unique_ptr<PreparedCollective> ready;
    if (Status ok = provider->prepare(plan.mesh, ownership, collective,
                                      int64_t(rendezvousList.size()), ready);
        !ok)
      return ok;
    firstRendezvous.push_back(rendezvousList.size());
    addRendezvous(number, *ready);
    sentOnce.push_back(bytesSent(plan.mesh, collective));
    prepared.push_back(std::move(ready));
  }
  int64_t count = plan.mesh.size();
  devices.resize(size_t(count));
  ready.resize(size_t(workers));
  open.reserve(rendezvousList.size() + size_t(count));
  for (int64_t p = 0; p < count; ++p)
    if (ownership.isOwn(p))
      own.push_back(p);
  int64_t ownCount = int64_t(own.size());
  workersPerDevice = workers / std::max<int64_t>(ownCount, 1);
  for (int64_t p = 0; p < count; ++p) {
    Device &device = devices[p];
    device.position = p;
    device.buffers.resize(plan.buffers.size());
    device.arguments.resize(plan.arguments.size());
    for (uint32_t a = 0; a < plan.mesh.axes.size(); ++a)
      device.coordinates.push_back(
          coordinate(plan.mesh.axes, p, {a, 1, plan.mesh.axes[a].size}));
    launches.push_back(std::make_unique<SharedLaunch>());
    launches.back()->device = &device;
    launches.back()->executor = this;
    launches.back()->positions = {&device.position, 1};
  }
  for (int64_t i = 0; i < ownCount; ++i)
    devices[size_t(own[size_t(i)])].home = int(i * workers / ownCount);
  for (std::vector<int64_t> &queue : ready)
    queue.reserve(size_t(count));
  prepareJointRuns(workers);
  return {};
}

void Executor::reset() {
  for (std::vector<int64_t> &queue : ready)
    queue.clear();
  // Positions are queued in reverse, as a worker takes from the end of its
  // queue.
  for (size_t i = own.size(); i-- > 0;) {
    Device &device = devices[size_t(own[i])];
    device.pc = 0;
    device.state = State::Ready;
    device.underWay = 0;
    device.counts.assign(owner->plan().counterNames.size(), {});
    device.started.assign(owner->plan().collectives.size(), {});
    ready[size_t(device.home)].push_back(device.position);
  }
  for (std::unique_ptr<Rendezvous> &rendezvous : rendezvousList) {
    rendezvous->arrived = 0;
    rendezvous->ended = 0;
  }
  for (std::unique_ptr<JointWork> &work : jointWorks) {
    work->arrived = work->stage = 0;
    work->chunks = int64_t(work->run->stages[0].size());
  }
  open.clear();
  travelling.clear();
  isReceiving = false;
  exchanged = {};
  running = 0;
  done = 0;
  ended = false;
}

uint64_t Executor::now() const {
  return uint64_t(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start)
          .count());
}

void Executor::note(Device &device, uint32_t pc) {
  const Instruction &i = owner->plan().instructions[pc];
  if (i.kind == plan::Operation::Wait)
    device.times.push_back(
        {i.target, device.position, device.started[i.index].began, now()});
  else
    device.times.push_back({pc, device.position, device.began, now()});
}

Status Executor::run(Workers &pool, DeviceBorders *between, RunTimes *times) {
  reset();
  workers = &pool;
  borders = between;
  isTimed = times != nullptr;
  if (isTimed)
    start = std::chrono::steady_clock::now();
  auto body = [this](int worker) { work(worker); };
  pool.run(body);
  for (size_t i = 0; times && i < own.size(); ++i) {
    RunTimes &its = devices[size_t(own[i])].times;
    times->insert(times->end(), its.begin(), its.end());
    its.clear();
  }
  if (!exchanged) {
    for (Rendezvous *rendezvous : travelling)
      rendezvous->messages->abandon();
    if (provider->isDeadlock())
      return makeError(StatusCode::Deadlock, deadlock());
    return std::move(exchanged);
  }
  if (done == own.size())
    return {};
  return makeError(StatusCode::Deadlock, deadlock());
}

Executor::SharedWork *Executor::openWork() {
  for (SharedWork *work : open)
    if (work->untaken.load(std::memory_order_relaxed) > 0)
      return work;
  return nullptr;
}

Executor::Device *Executor::nextDevice(int worker) {
  for (size_t i = 0; i < ready.size(); ++i) {
    std::vector<int64_t> &queue = ready[(size_t(worker) + i) % ready.size()];
    if (queue.empty())
      continue;
    // A worker takes from the end of its own queue, and from the start of
    // others.
    auto taken = i ? queue.begin() : queue.end() - 1;
    Device *device = &devices[*taken];
    queue.erase(taken);
    return device;
  }
  return nullptr;
}

void Executor::work(int worker) {
  lock.lock();
  while (!ended) {
    SharedWork *shared = openWork();
    Device *device = shared ? nullptr : nextDevice(worker);
    if (shared || device) {
      ++running;
      if (!travelling.empty() && !isReceiving)
        workers->wakeups.raise(); // another worker may poll for messages
      lock.unlock();
      if (shared)
        runChunks(*shared);
      else
        runDevice(*device);
      lock.lock();
      --running;
      continue;
    }
    if (!travelling.empty() && !isReceiving) {
      isReceiving = true;
      lock.unlock();
      receive();
      lock.lock();
      isReceiving = false;
      continue;
    }
    if (running == 0 &&
        travelling.empty()) { // all devices have returned, or none can go on
      ended = true;
      workers->wakeups.raise();
      break;
    }
    if (worker != 0)
      break; // the worker's loop (Workers.cpp) waits for wakeups
    uint32_t seen = workers->wakeups.value();
    lock.unlock();
    workers->wakeups.wait(seen);
    lock.lock();
  }
  lock.unlock();
}

bool Executor::jumps(const Device &device, const Instruction &jump) const {
  const Plan &plan = owner->plan();
  if (jump.kind == plan::Operation::JumpOutside)
    return !isIn(plan.mesh.axes, plan.parts[jump.index], device.position);
  return *static_cast<const uint8_t *>(device.buffers[jump.index]) == 0;
}

void Executor::runDevice(Device &device) {
  if (borders)
    borders->enter({&device.position, 1});
  const Plan &plan = owner->plan();
  const Instruction *instructions = plan.instructions.data();
  for (uint32_t pc = device.pc;; ++pc) {
    const Instruction &i = instructions[pc];
    device.pc = pc;
    if (isTimed)
      device.began = now();
    switch (i.kind) {
    case plan::Operation::Launch:
      if (isJoint(device, i))
        return arriveJointly(device);
      if (workersPerDevice > 1 && isShared(i))
        return share(device, i);
      launch(device, i);
      if (isTimed)
        note(device, pc);
      if (device.underWay > 0)
        progress(device);
      break;
    case plan::Operation::Copy:
      if (isJoint(device, i))
        return arriveJointly(device);
      copy(device, i);
      if (isTimed)
        note(device, pc);
      break;
    case plan::Operation::Jump:
      pc = i.target - 1;
      break;
    case plan::Operation::JumpUnless:
    case plan::Operation::JumpOutside:
      if (jumps(device, i))
        pc = i.target - 1;
      break;
    case plan::Operation::Start:
      if (startsAndWaits(device, i))
        return;
      break;
    case plan::Operation::Wait:
      if (!std::exchange(device.started[i.index].isUnderWay, false))
        break; // the device has jumped over the start
      --device.underWay;
      if (!hasEnded(device, i))
        return;
      if (isTimed)
        note(device, pc);
      break;
    default: // Return: readPlan allows no others
      lock.lock();
      device.state = State::Done;
      ++done;
      lock.unlock();
      return;
    }
  }
}

bool Executor::startsAndWaits(Device &device, const Instruction &i) {
  const Instruction &next = owner->plan().instructions[device.pc + 1];
  bool waits = next.kind == plan::Operation::Wait && next.index == i.index;
  device.underWay += !waits;
  device.started[i.index].isUnderWay = !waits;
  device.pc += waits;
  arrive(device, i, waits);
  return waits;
}

Executor::Rendezvous &Executor::rendezvousOf(const Device &device,
                                             uint32_t number) const {
  const Collective &collective = owner->plan().collectives[number];
  return *rendezvousList[firstRendezvous[number] +
                         size_t(collective.groupOf[size_t(device.position)])];
}

void Executor::arrive(Device &device, const Instruction &start, bool waits) {
  const Collective &collective = owner->plan().collectives[start.index];
  CollectiveCount &count = device.counts[collective.counter];
  ++count.occurrences;
  count.bytes += sentOnce[start.index];
  ++device.started[start.index].times;
  device.started[start.index].began = device.began;
  Rendezvous &rendezvous = rendezvousOf(device, start.index);
  auto member = size_t(collective.memberOf[device.position]);
  auto handIn = [&](const std::vector<Collective::Array> &arrays,
                    std::vector<void *> &all) {
    for (size_t n = 0; n < arrays.size(); ++n)
      all[member * arrays.size() + n] = device.buffers[arrays[n].buffer];
  };
  handIn(collective.sources, rendezvous.sources);
  handIn(collective.targets, rendezvous.targets);
  if (bound.isShared && !rendezvous.isWritten.empty())
    for (size_t n = member * collective.targets.size(),
                end = n + collective.targets.size();
         n < end; ++n)
      if (!rendezvous.isWritten[n])
        rendezvous.targets[n] = nullptr;
  lock.lock();
  if (waits)
    device.state = State::Waiting;
  bool isComplete = ++rendezvous.arrived == rendezvous.expected;
  if (isComplete)
    rendezvous.arrived = 0;
  if (isComplete && !rendezvous.messages)
    complete(rendezvous);
  lock.unlock();
  if (isComplete && rendezvous.messages)
    depart(rendezvous);
}

bool Executor::hasEnded(Device &device, const Instruction &wait) {
  lock.lock();
  bool isOver = rendezvousOf(device, wait.index).ended ==
                device.started[wait.index].times;
  if (!isOver)
    device.state = State::Waiting;
  lock.unlock();
  return isOver;
}

void Executor::complete(Rendezvous &rendezvous) {
  if (rendezvous.chunks == 0 || rendezvous.awaitsResults)
    rendezvous.release(*this);
  else
    offer(rendezvous);
}

void Executor::offer(SharedWork &work) {
  // A worker that still tests the last occurrence may take chunks of this one:
  // all other fields must be set before `untaken` allows it.
  work.unfinished.store(work.chunks, std::memory_order_relaxed);
  work.untaken.store(work.chunks, std::memory_order_release);
  open.push_back(&work);
  workers->wakeups.raise();
}

void Executor::Rendezvous::runChunk(int64_t chunk) {
  work->run(group, sources.data(), targets.data(), chunk);
}

void Executor::runChunks(SharedWork &work) {
  if (borders)
    borders->enter(work.positions);
  int64_t finished = 0;
  for (;;) {
    int64_t untaken = work.untaken.fetch_sub(1, std::memory_order_acq_rel);
    if (untaken <= 0)
      break;
    work.runChunk(work.chunks - untaken);
    ++finished;
  }
  if (finished == 0 || work.unfinished.fetch_sub(
                           finished, std::memory_order_acq_rel) != finished)
    return;
  bool isOver = work.finish();
  lock.lock();
  std::erase(open, &work);
  if (isOver)
    work.release(*this);
  else
    travelling.push_back(static_cast<Rendezvous *>(&work));
  workers->wakeups.raise();
  lock.unlock();
}

void Executor::Rendezvous::release(Executor &executor) {
  if (messages)
    messages->finish();
  ++ended;
  const std::vector<Instruction> &instructions =
      executor.owner->plan().instructions;
  auto waitsForIt = [&](const Device &device) {
    if (device.state != State::Waiting)
      return false; // its worker changes `pc`
    const Instruction &i = instructions[device.pc];
    return i.kind == plan::Operation::Wait && i.index == collective;
  };
  for (size_t m = members->size(); m-- > 0;)
    if (executor.ownership.isOwn((*members)[m]))
      if (Device &device = executor.devices[size_t((*members)[m])];
          waitsForIt(device))
        executor.makeReady(device);
}

void Executor::makeReady(Device &device) {
  if (isTimed) // the device has waited for a collective or launch
    note(device, device.pc);
  resume(device);
}

void Executor::resume(Device &device) {
  device.state = State::Ready;
  ++device.pc;
  ready[size_t(device.home)].push_back(device.position);
}

CollectiveCounts Executor::counts() const {
  CollectiveCounts out(owner->plan().counterNames.size());
  for (size_t name = 0; name < out.size(); ++name)
    for (int64_t position : own) {
      const CollectiveCount &its = devices[size_t(position)].counts[name];
      out[name].occurrences = std::max(out[name].occurrences, its.occurrences);
      out[name].bytes = std::max(out[name].bytes, its.bytes);
    }
  return out;
}

std::string Executor::deadlock() const {
  std::vector<Standing> all;
  for (const Device &device : devices) {
    all.push_back({device.pc, device.state == State::Waiting,
                   device.state == State::Done});
    for (uint32_t c = 0; c < device.started.size(); ++c)
      if (device.started[c].times > rendezvousOf(device, c).ended)
        all.back().underWay.push_back(c);
  }
  return describeDeadlock(owner->plan(), ownership, all);
}

} // namespace weft::runtime
