//===- Relays.cpp - who sends what several members lack -------------------===//

#include "weft/layout/Relays.h"

#include "weft/layout/Sizes.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

using namespace weft;

namespace {
class Planner {
public:
  Planner(std::span<const SharedPart> parts, int64_t members);
  HandoverPlan plan();

private:
  static bool isAlone(const SharedPart &part) {
    return part.holders.size() == 1 && !part.receivers.empty();
  }
  int64_t busiestMember() const {
    return std::ranges::max_element(sent) - sent.begin();
  }
  void handOver(size_t number);
  /// Gives a handover of the busiest member to one that has the part, which may
  /// give one of its own to another one. Returns whether it sends less then.
  bool relieve();
  bool canSend(int64_t member, const Handover &handover) const;
  void findOrigins();
  void sortHandovers();

  std::span<const SharedPart> parts;
  std::vector<int64_t> sent; ///< by member, with all that it alone has to send
  int64_t least = 0;         ///< elements that the busiest member has to move
  HandoverPlan out;
  /// By part and member: the member that sends the part to it, or one of these.
  static constexpr int64_t kLacks = -1, kHolds = -2;
  std::vector<std::vector<int64_t>> origins;
};
} // namespace

Planner::Planner(std::span<const SharedPart> parts, int64_t members)
    : parts(parts), sent(size_t(members)) {
  std::vector<int64_t> lacks(size_t(members), 0);
  for (const SharedPart &part : parts) {
    if (isAlone(part)) {
      int64_t &of = sent[size_t(part.holders[0])];
      of = saturatingAdd(of, part.elements);
    }
    for (int64_t receiver : part.receivers)
      lacks[size_t(receiver)] =
          saturatingAdd(lacks[size_t(receiver)], part.elements);
  }
  for (const std::vector<int64_t> &each : {sent, lacks})
    for (int64_t elements : each)
      least = std::max(least, elements);
}

namespace {
/// The members that have a part, and which of them sends it next.
class Senders {
public:
  explicit Senders(std::vector<int64_t> &sent [[clang::lifetimebound]])
      : sent(sent) {}
  void add(int64_t member) {
    leastBusy.emplace(sent[size_t(member)], all.size());
    all.push_back(member);
  }
  /// The first one that stays below `most` with so many elements more, else the
  /// least busy one.
  int64_t next(int64_t elements, int64_t most) {
    for (; first < all.size(); ++first)
      if (saturatingAdd(busy(first), elements) <= most)
        return all[first];
    while (leastBusy.top().first != busy(leastBusy.top().second)) {
      size_t changed = leastBusy.top().second;
      leastBusy.pop();
      leastBusy.emplace(busy(changed), changed);
    }
    return all[leastBusy.top().second];
  }

private:
  int64_t busy(size_t number) const { return sent[size_t(all[number])]; }

  std::vector<int64_t> &sent;
  std::vector<int64_t> all;
  size_t first = 0;                         ///< those before it are too busy
  using Entry = std::pair<int64_t, size_t>; // elements sent, number
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> leastBusy;
};
} // namespace

void Planner::handOver(size_t number) {
  const SharedPart &part = parts[number];
  std::vector<int64_t> receivers = part.receivers;
  std::ranges::sort(receivers, {}, [&](int64_t member) {
    return std::tuple(sent[size_t(member)], member);
  });
  Senders senders(sent);
  for (int64_t holder : part.holders)
    senders.add(holder);
  bool isCounted = isAlone(part); // once, from the beginning
  for (int64_t receiver : receivers) {
    int64_t sender =
        isCounted ? part.holders[0] : senders.next(part.elements, least);
    if (!isCounted)
      sent[size_t(sender)] = saturatingAdd(sent[size_t(sender)], part.elements);
    isCounted = false;
    senders.add(receiver);
    out.handovers.push_back({number, sender, receiver});
  }
}

void Planner::findOrigins() {
  origins.assign(parts.size(), std::vector<int64_t>(sent.size(), kLacks));
  for (size_t part = 0; part < parts.size(); ++part)
    for (int64_t holder : parts[part].holders)
      origins[part][size_t(holder)] = kHolds;
  for (const Handover &handover : out.handovers)
    origins[handover.part][size_t(handover.receiver)] = handover.sender;
}

bool Planner::canSend(int64_t member, const Handover &handover) const {
  // It must have the part, but not from the receiver.
  const std::vector<int64_t> &from = origins[handover.part];
  for (int64_t at = member; at >= 0; at = from[size_t(at)])
    if (at == handover.receiver || from[size_t(at)] == kLacks)
      return false;
  return true;
}

bool Planner::relieve() {
  int64_t busiest = busiestMember();
  int64_t most = sent[size_t(busiest)];
  if (most <= least || most > INT64_MAX / 4) // sums of two fit
    return false;
  /// The handover that a member gets, from whom, in the order of a search.
  struct Step {
    int64_t member = 0, elements = 0;
    size_t before = 0, handover = 0;
  };
  std::vector<Step> steps = {{busiest, 0, 0, 0}};
  // Two handovers of one part could be in a circle then.
  auto isOnTheWay = [&](size_t step, size_t part) {
    for (; step > 0; step = steps[step].before)
      if (out.handovers[steps[step].handover].part == part)
        return true;
    return false;
  };
  std::vector<bool> seen(sent.size(), false);
  seen[size_t(busiest)] = true;
  for (size_t at = 0; at < steps.size(); ++at) {
    const Step from = steps[at];
    int64_t with = sent[size_t(from.member)] + from.elements;
    for (size_t h = 0; h < out.handovers.size(); ++h) {
      const Handover &handover = out.handovers[h];
      const SharedPart &part = parts[handover.part];
      if (handover.sender != from.member || with - part.elements >= most ||
          isOnTheWay(at, handover.part))
        continue;
      for (const auto *members : {&part.holders, &part.receivers})
        for (int64_t member : *members) {
          if (seen[size_t(member)] || !canSend(member, handover))
            continue;
          seen[size_t(member)] = true;
          steps.push_back({member, part.elements, at, h});
          if (sent[size_t(member)] + part.elements >= most)
            continue;
          for (size_t step = steps.size() - 1; step > 0;
               step = steps[step].before) {
            const Step &its = steps[step];
            sent[size_t(its.member)] += its.elements;
            sent[size_t(steps[its.before].member)] -= its.elements;
            Handover &moved = out.handovers[its.handover];
            moved.sender = its.member;
            origins[moved.part][size_t(moved.receiver)] = its.member;
          }
          return true;
        }
    }
  }
  return false;
}

void Planner::sortHandovers() {
  auto hops = [&](const Handover &handover) {
    int64_t count = 0;
    for (int64_t at = handover.sender; at >= 0;
         at = origins[handover.part][size_t(at)])
      ++count;
    return count;
  };
  std::vector<std::pair<int64_t, Handover>> ordered;
  for (const Handover &handover : out.handovers)
    ordered.emplace_back(hops(handover), handover);
  std::ranges::stable_sort(ordered, {}, [](const auto &each) {
    return std::pair(each.first, each.second.part);
  });
  for (size_t h = 0; h < ordered.size(); ++h)
    out.handovers[h] = ordered[h].second;
}

HandoverPlan Planner::plan() {
  std::vector<size_t> numbers(parts.size());
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  std::ranges::stable_sort(numbers, std::greater<>(), [&](size_t number) {
    return parts[number].elements;
  });
  for (size_t number : numbers)
    if (!parts[number].holders.empty())
      handOver(number);
  // Of more handovers each is a small part.
  constexpr size_t kMostHandovers = 1024, kMostTurns = 64;
  if (out.handovers.size() <= kMostHandovers &&
      sent[size_t(busiestMember())] > least) {
    findOrigins();
    bool isChanged = false;
    for (size_t turn = 0; turn < kMostTurns && relieve(); ++turn)
      isChanged = true;
    if (isChanged)
      sortHandovers();
  }
  out.busiest = busiestMember();
  out.mostSent = sent.empty() ? 0 : sent[size_t(out.busiest)];
  out.least = least;
  return std::move(out);
}

HandoverPlan weft::planHandovers(std::span<const SharedPart> parts,
                                 int64_t members) {
  return Planner(parts, members).plan();
}
