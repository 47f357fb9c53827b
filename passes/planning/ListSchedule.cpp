//===- ListSchedule.cpp - an order in which links are busy ----------------===//

#include "weft/passes/planning/ListSchedule.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace weft;

namespace {

/// Bytes of buffers over a schedule. A collective uses its buffers until it is
/// awaited.
class LiveBytes {
public:
  explicit LiveBytes(const StraightSteps &steps [[clang::lifetimebound]])
      : steps(steps), uses(steps.buffers.size()), isHeld(steps.buffers.size()) {
    for (const ScheduledNode &node : steps.nodes)
      for (unsigned buffer : node.buffers)
        ++uses[buffer];
    for (unsigned b = 0; b < uses.size(); ++b)
      if (steps.buffers[b].isLiveBefore)
        hold(b);
    most = live;
  }
  /// The bytes that a node takes.
  int64_t taken(const ScheduledNode &node) const {
    int64_t bytes = 0;
    for (unsigned buffer : node.buffers)
      bytes += isHeld[buffer] ? 0 : steps.buffers[buffer].bytes;
    return bytes;
  }
  void begin(const ScheduledNode &node) {
    for (unsigned buffer : node.buffers)
      if (!isHeld[buffer])
        hold(buffer);
    most = std::max(most, live);
  }
  void end(const ScheduledNode &node) {
    for (unsigned buffer : node.buffers)
      if (--uses[buffer] == 0 && !steps.buffers[buffer].isLiveAfter)
        live -= steps.buffers[buffer].bytes;
  }
  int64_t present() const { return live; }
  int64_t peak() const { return most; }

private:
  void hold(unsigned buffer) {
    isHeld[buffer] = true;
    live += steps.buffers[buffer].bytes;
  }

  const StraightSteps &steps;
  std::vector<unsigned> uses; ///< number of uses of each buffer that are left
  std::vector<bool> isHeld;
  int64_t live = 0, most = 0;
};

class ListScheduler {
public:
  ListScheduler(const StraightSteps &steps [[clang::lifetimebound]],
                Preference preference, int64_t bytes)
      : steps(steps), preference(preference), bytes(bytes), memory(steps),
        after(steps.nodes.size()), missing(steps.nodes.size()),
        readyAt(steps.nodes.size()), endOf(steps.nodes.size()),
        isAwaited(steps.nodes.size()) {
    for (unsigned n = 0; n < steps.nodes.size(); ++n) {
      missing[n] = unsigned(steps.nodes[n].before.size());
      for (unsigned before : steps.nodes[n].before)
        after[before].push_back(n);
      if (missing[n] == 0)
        open.insert(n);
    }
    findPaths();
  }
  ListSchedule run();

private:
  const ScheduledNode &node(unsigned n) const { return steps.nodes[n]; }
  void findPaths();
  bool fits(unsigned n) const {
    return memory.present() + memory.taken(node(n)) <= bytes;
  }
  bool isDue(unsigned n) const;
  bool startSending();
  std::optional<unsigned> nextComputed() const;
  unsigned nextWaiting() const;
  void perform(unsigned n);

  const StraightSteps &steps;
  Preference preference;
  int64_t bytes;
  LiveBytes memory;
  StepClock clock;
  std::vector<std::vector<unsigned>> after;
  std::vector<unsigned> missing; ///< nodes that are needed and not done
  std::vector<double> readyAt, endOf;
  std::vector<bool> isAwaited;
  /// The longest way to the end, and the work of nodes before, in seconds.
  std::vector<double> path, workBefore;
  std::set<unsigned> open; ///< nodes that need no other to be performed
  ListSchedule out;
};

} // namespace

void ListScheduler::findPaths() {
  size_t count = steps.nodes.size();
  path.resize(count);
  workBefore.resize(count);
  for (size_t n = count; n-- > 0;) {
    for (unsigned next : after[n])
      path[n] = std::max(path[n], path[next]);
    path[n] += node(n).seconds;
  }
  for (size_t n = 1; n < count; ++n)
    workBefore[n] =
        workBefore[n - 1] + (node(n - 1).isSent ? 0 : node(n - 1).seconds);
}

/// Whether a collective should start. One that takes memory starts so early
/// that it can end twice before its first use.
bool ListScheduler::isDue(unsigned n) const {
  if (memory.taken(node(n)) <= 0)
    return true;
  unsigned first =
      after[n].empty() ? unsigned(steps.nodes.size() - 1) : after[n].front();
  return workBefore[first] - clock.computing() <= 2 * node(n).seconds;
}

/// Starts a collective that is possible; false if there is none.
bool ListScheduler::startSending() {
  for (unsigned n : open)
    if (node(n).isSent && readyAt[n] <= clock.now() && isDue(n) && fits(n)) {
      perform(n);
      return true;
    }
  return false;
}

/// The instruction that the device can compute now.
std::optional<unsigned> ListScheduler::nextComputed() const {
  std::optional<unsigned> best;
  for (unsigned n : open) {
    if (node(n).isSent || readyAt[n] > clock.now() || !fits(n))
      continue;
    if (preference == Preference::Order)
      return n;
    if (!best || path[n] > path[*best])
      best = n;
  }
  return best;
}

/// The next node when the device must wait: the one that is ready first, or the
/// first in the program's order, which always fits in memory.
unsigned ListScheduler::nextWaiting() const {
  unsigned best = *open.begin();
  for (unsigned n : open)
    if (readyAt[n] < readyAt[best] && fits(n) && (!node(n).isSent || isDue(n)))
      best = n;
  return best;
}

void ListScheduler::perform(unsigned n) {
  const ScheduledNode &its = node(n);
  clock.wait(readyAt[n]);
  for (unsigned before : its.before)
    if (node(before).isSent && !isAwaited[before]) {
      isAwaited[before] = true;
      memory.end(node(before));
    }
  memory.begin(its);
  if (its.isSent) {
    endOf[n] = clock.send(its.axes, its.seconds);
  } else {
    clock.compute(its.seconds);
    memory.end(its);
  }
  open.erase(n);
  out.order.push_back(n);
  for (unsigned next : after[n]) {
    readyAt[next] = std::max(readyAt[next], endOf[n]);
    if (--missing[next] == 0)
      open.insert(next);
  }
}

ListSchedule ListScheduler::run() {
  while (!open.empty()) {
    if (startSending())
      continue;
    std::optional<unsigned> next = nextComputed();
    perform(next ? *next : nextWaiting());
  }
  for (double end : endOf)
    clock.wait(end);
  out.seconds = clock.now();
  out.peak = memory.peak();
  return std::move(out);
}

ListSchedule weft::asWritten(const StraightSteps &steps) {
  ListSchedule out;
  LiveBytes memory(steps);
  for (unsigned n = 0; n < steps.nodes.size(); ++n) {
    out.order.push_back(n);
    out.seconds += steps.nodes[n].seconds;
    memory.begin(steps.nodes[n]);
    memory.end(steps.nodes[n]);
  }
  out.peak = memory.peak();
  return out;
}

ListSchedule weft::findOverlap(const StraightSteps &steps,
                               Preference preference, int64_t bytes) {
  return ListScheduler(steps, preference, bytes).run();
}
