//===- Warp.cpp - 32 threads that run together ----------------------------===//

#include "weft/test/cuda/machine/Block.h"

#include <bit>
#include <cstdio>

namespace weft::ptx {

Warp::Warp(Block &block, const Launch &launch)
    : owner(block), running(launch), kernel(*launch.kernel),
      registerMemory(kernel.registerBytes + 64),
      initiallyWritten(kernel.slots.size()),
      local(size_t(kernel.localBytes) * kLanes), writtenLocal(local.size()) {
  auto address = reinterpret_cast<uintptr_t>(registerMemory.data());
  registers = registerMemory.data() + (64 - address % 64) % 64;
  fillConstants();
}

void Warp::fillConstants() {
  for (const ConstantSlot &constant : kernel.constants) {
    uint64_t value = constant.bits;
    if (constant.data >= 0)
      value += running.dataAddresses[constant.data];
    if (constant.operand.isPredicate)
      predicate(constant.operand) = Mask(value);
    else
      for (unsigned lane = 0; lane < kLanes; ++lane)
        setBits(constant.operand, lane, value);
    initiallyWritten[constant.operand.slot] = kAllLanes;
  }
  for (const SpecialSlot &special : kernel.specials)
    initiallyWritten[special.operand.slot] = kAllLanes;
}

static uint32_t valueOf(Special special, const Launch &launch,
                        const Block &block, unsigned thread) {
  const Dim3 &size = launch.block, &grid = launch.grid;
  unsigned lane = thread % kLanes;
  switch (special) {
  case Special::TidX:
    return thread % size.x;
  case Special::TidY:
    return thread / size.x % size.y;
  case Special::TidZ:
    return thread / size.x / size.y;
  case Special::NTidX:
    return size.x;
  case Special::NTidY:
    return size.y;
  case Special::NTidZ:
    return size.z;
  case Special::CtaX:
    return block.position.x;
  case Special::CtaY:
    return block.position.y;
  case Special::CtaZ:
    return block.position.z;
  case Special::NCtaX:
    return grid.x;
  case Special::NCtaY:
    return grid.y;
  case Special::NCtaZ:
    return grid.z;
  case Special::Lane:
    return lane;
  case Special::Warp:
    return thread / kLanes;
  case Special::Warps:
    return uint32_t((size.count() + kLanes - 1) / kLanes);
  case Special::MaskEq:
    return Mask(1) << lane;
  case Special::MaskLt:
    return (Mask(1) << lane) - 1;
  case Special::MaskLe:
    return Mask((uint64_t(2) << lane) - 1);
  case Special::MaskGt:
    return ~Mask((uint64_t(2) << lane) - 1);
  case Special::MaskGe:
    return ~((Mask(1) << lane) - 1);
  case Special::DynamicShared:
    return launch.dynamicShared;
  case Special::TotalShared:
    return uint32_t(block.shared.size());
  case Special::Processor:
    return 0;
  }
  return 0;
}

void Warp::fillSpecials() {
  for (const SpecialSlot &special : kernel.specials)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      lanes<uint32_t>(special.operand)[lane] =
          valueOf(special.special, running, owner, warpIndex * kLanes + lane);
}

void Warp::start(unsigned index, unsigned threads) {
  warpIndex = index;
  unsigned count = std::min(kLanes, threads - index * kLanes);
  Mask all = count == kLanes ? kAllLanes : (Mask(1) << count) - 1;
  paths.assign(1, {0, all, false, 0});
  written = initiallyWritten;
  writtenLocal.assign(writtenLocal.size(), false);
  asyncCopies.assign(kLanes, {});
  exited = 0;
  warpSyncs = 1;
  executed = 0;
  now = Running;
  fillSpecials();
}

Warp::State Warp::run() {
  while (now == Running) {
    if (paths.empty())
      now = Done;
    else if (choosePath())
      runPath();
    else
      reportStuck();
  }
  return now;
}

/// Moves the path with the lowest position that does not wait to the end, and
/// joins all paths at this position to it. False if all paths wait. Lanes that
/// a path waits for may have exited.
bool Warp::choosePath() {
  size_t best = paths.size();
  for (size_t i = 0; i < paths.size(); ++i) {
    Path &path = paths[i];
    if (path.isWaiting && path.exitedThen != exited)
      path.isWaiting = false;
    if (!path.isWaiting &&
        (best == paths.size() || path.position < paths[best].position))
      best = i;
  }
  if (best == paths.size())
    return false;
  Path chosen = paths[best];
  for (size_t i = paths.size(); i-- > 0;)
    if (paths[i].position == chosen.position) {
      chosen.lanes |= paths[i].lanes;
      paths.erase(paths.begin() + i);
    }
  paths.push_back(chosen);
  return true;
}

/// Runs the path until paths may meet, or it waits or ends.
void Warp::runPath() {
  bool isAlone = paths.size() == 1;
  do
    step(kernel.code[paths.back().position]);
  while (isAlone && now == Running && paths.size() == 1 &&
         !paths.back().isWaiting);
}

void Warp::step(const Instruction &i) {
  if (++executed > running.budget)
    return stop(i, std::countr_zero(paths.back().lanes), Fault::Endless,
                "more than " + std::to_string(running.budget) +
                    " instructions of a warp: an endless loop?");
  Mask active = paths.back().lanes;
  if (i.guard.bytes) {
    if (Mask unknown = active & ~written[i.guard.slot])
      report(i, std::countr_zero(unknown),
             "the guard " + kernel.slots[i.guard.slot] + " was never written");
    active &= i.isNegated ? ~predicate(i.guard) : predicate(i.guard);
  }
  switch (i.flow) {
  case Flow::Next:
    if (active)
      compute(i, active);
    ++paths.back().position;
    return;
  case Flow::Branch:
    return branch(i, active);
  case Flow::IndexedBranch:
    return branchIndexed(i, active);
  case Flow::Exit:
    return exit(active);
  case Flow::Trap:
    if (active)
      return stop(i, std::countr_zero(active), Fault::Trap, "traps");
    ++paths.back().position;
    return;
  case Flow::BlockBarrier:
    return arrive(i, active);
  case Flow::WarpSync:
    return synchronize(i, active);
  }
}

void Warp::compute(const Instruction &i, Mask active) {
  checkReads(i, active);
  i.compute(*this, i, active);
  for (unsigned k = 0; k < i.targets; ++k)
    if (i.operands[k].bytes)
      written[i.operands[k].slot] |= active;
}

void Warp::checkReads(const Instruction &i, Mask active) {
  for (unsigned k = 0; k < i.sources; ++k) {
    const Operand &source = i.source(k);
    if (Mask unknown = active & ~written[source.slot]; unknown && source.bytes)
      report(i, std::countr_zero(unknown),
             "reads " + kernel.slots[source.slot] +
                 ", which was never written");
  }
}

void Warp::branch(const Instruction &i, Mask taken) {
  Path &path = paths.back();
  Mask others = path.lanes & ~taken;
  uint32_t next = path.position + 1;
  path.position = taken ? i.label : next;
  if (!taken || !others)
    return;
  path.lanes = taken;
  paths.push_back({next, others, false, 0});
}

void Warp::branchIndexed(const Instruction &i, Mask active) {
  checkReads(i, active);
  Path path = paths.back();
  paths.pop_back();
  if (Mask others = path.lanes & ~active)
    paths.push_back({path.position + 1, others, false, 0});
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(active >> lane & 1))
      continue;
    uint32_t index = lanes<uint32_t>(i.source(0))[lane];
    if (index >= i.labels.size())
      return stop(i, lane, Fault::Launch,
                  "jumps to target " + std::to_string(index) + " of " +
                      std::to_string(i.labels.size()));
    paths.push_back({i.labels[index], Mask(1) << lane, false, 0});
  }
}

void Warp::exit(Mask active) {
  exited |= active;
  Path &path = paths.back();
  path.lanes &= ~active;
  ++path.position;
  if (!path.lanes)
    paths.pop_back();
}

void Warp::wait() {
  paths.back().isWaiting = true;
  paths.back().exitedThen = exited;
}

/// Makes all remaining lanes of a warp arrive at a barrier together.
void Warp::arrive(const Instruction &i, Mask active) {
  if (active != paths.back().lanes)
    return stop(i, std::countr_zero(paths.back().lanes & ~active),
                Fault::Launch,
                "its guard keeps it from a barrier that lanes " +
                    linesOf(active) + "reach");
  if (paths.size() > 1)
    return wait();
  checkReads(i, active);
  if (exited)
    report(i, std::countr_zero(active),
           "waits at a barrier while lanes " + linesOf(exited) + "have exited");
  const uint32_t *index = lanes<uint32_t>(i.source(0));
  barrierIndex = index[std::countr_zero(active)];
  if (i.sources > 1 && lanes<uint32_t>(i.source(1))[std::countr_zero(active)] !=
                           running.block.count())
    return stop(i, std::countr_zero(active), Fault::Launch,
                "a barrier of some threads of a block is not known to this "
                "machine");
  now = AtBarrier;
}

void Warp::passBarrier() {
  ++paths.back().position;
  ++warpSyncs;
  now = Running;
}

/// Synchronizes the lanes that the last source names.
void Warp::synchronize(const Instruction &i, Mask active) {
  if (!active) {
    ++paths.back().position;
    return;
  }
  unsigned first = std::countr_zero(active);
  const Mask *masks = lanes<Mask>(i.source(i.sources - 1));
  Mask named = masks[first];
  for (unsigned lane = first; lane < kLanes; ++lane)
    if (active >> lane & 1 && masks[lane] != named)
      return stop(i, lane, Fault::Launch,
                  "names lanes " + linesOf(masks[lane]) + "but lane " +
                      std::to_string(first) + " names " + linesOf(named));
  if (Mask unnamed = active & ~named)
    return stop(i, std::countr_zero(unnamed), Fault::Launch,
                "takes part although the mask names only lanes " +
                    linesOf(named));
  if (Mask kept = named & paths.back().lanes & ~active)
    return stop(i, std::countr_zero(kept), Fault::Launch,
                "is named by the mask " + linesOf(named) +
                    "but its guard keeps it away");
  Mask alive = 0;
  for (const Path &path : paths)
    alive |= path.lanes;
  if (named & alive & ~active)
    return wait();
  compute(i, active);
  ++paths.back().position;
}

std::string Warp::linesOf(Mask lanes) const {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x ", lanes);
  return text;
}

void Warp::reportStuck() {
  Path path = paths.front();
  for (const Path &other : paths)
    if (other.position > path.position)
      path = other;
  std::string others;
  for (const Path &other : paths)
    if (other.position != path.position)
      others += (others.empty() ? "lanes " : ", lanes ") +
                linesOf(other.lanes) + "wait at line " +
                std::to_string(kernel.code[other.position].line);
  stop(kernel.code[path.position], std::countr_zero(path.lanes), Fault::Launch,
       "lanes " + linesOf(path.lanes) +
           "wait for lanes that never come: " + others);
}

void Warp::stopAtBarrier(const std::string &what) {
  stop(kernel.code[paths.back().position], std::countr_zero(paths.back().lanes),
       Fault::Launch, what);
}

void Warp::report(const Instruction &at, unsigned lane,
                  const std::string &what) {
  Findings &findings = owner.findings;
  std::string_view kind(
      what.data(), std::min(what.find_first_of("0123456789"), what.size()));
  if (!findings.isNew(kernel.name, at.line, kind) ||
      findings.texts.size() >= Findings::kMost)
    return;
  auto triple = [](const Dim3 &of) {
    return "(" + std::to_string(of.x) + ", " + std::to_string(of.y) + ", " +
           std::to_string(of.z) + ")";
  };
  unsigned thread = warpIndex * kLanes + lane;
  const Dim3 &size = running.block;
  std::string line = at.line && at.line <= running.module->lines.size()
                         ? running.module->lines[at.line - 1]
                         : "";
  line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
  findings.texts.push_back("kernel '" + kernel.name + "', line " +
                           std::to_string(at.line) + " '" + line + "', block " +
                           triple(owner.position) + ", thread " +
                           triple({thread % size.x, thread / size.x % size.y,
                                   thread / size.x / size.y}) +
                           ": " + what);
}

void Warp::stop(const Instruction &at, unsigned lane, Fault fault,
                const std::string &what) {
  report(at, lane, what);
  owner.fault = fault;
  now = Stopped;
}

} // namespace weft::ptx
