//===- Exchange.cpp - shfl, vote, match, redux: lanes of a warp -----------===//

#include "weft/test/cuda/machine/Lanes.h"

#include <bit>

namespace weft::ptx {

enum Shuffle : uint8_t { Up, Down, Butterfly, Index };

/// The lane to read, or -1 if it is beyond the lanes that `c` allows.
static int partner(Shuffle mode, unsigned lane, uint32_t b, uint32_t c) {
  unsigned segment = c >> 8 & 31, clamp = c & 31;
  int from = int(b & 31), own = int(lane);
  int most = int((lane & segment) | (clamp & ~segment));
  switch (mode) {
  case Up:
    return own - from >= most ? own - from : -1;
  case Down:
    return own + from <= most ? own + from : -1;
  case Butterfly:
    return (own ^ from) <= most ? own ^ from : -1;
  case Index:
    from = int(lane & segment) | int(unsigned(from) & ~segment);
    return from <= most ? from : -1;
  }
  return -1;
}

static void shuffle(Warp &warp, const Instruction &i, Mask active) {
  uint32_t sent[kLanes];
  std::memcpy(sent, warp.lanes<uint32_t>(i.source(0)), sizeof sent);
  const uint32_t *b = warp.lanes<uint32_t>(i.source(1)),
                 *c = warp.lanes<uint32_t>(i.source(2));
  Mask inRange = 0;
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    int from = partner(Shuffle(i.mode), lane, b[lane], c[lane]);
    if (from >= 0)
      inRange |= Mask(1) << lane;
    else
      from = int(lane);
    if (!(active >> from & 1))
      warp.report(i, lane,
                  "reads from lane " + std::to_string(from) +
                      ", which does not take part");
    warp.lanes<uint32_t>(i.target())[lane] = sent[from];
  }
  if (i.targets > 1 && i.target(1).bytes) {
    Mask &target = warp.predicate(i.target(1));
    target = (target & ~active) | inRange;
  }
}

/// Adds the targets `%r1|%p1`, of which the second is a predicate.
static void addTargets(Decoder &d, Instruction &i, unsigned bytes) {
  const Argument &target = d.argument(0);
  d.addTarget(i, target, bytes);
  if (!target.second.empty())
    d.addPredicate(i, target.second, true);
}

static void decodeShuffle(Decoder &d) {
  bool isSync = d.take("sync");
  int mode = d.takeOne({"up", "down", "bfly", "idx"});
  Type type = d.takeType();
  if (!isSync || mode < 0 || type != Type::B32 || d.arguments() != 5)
    return d.fail(d.name() + " is not known to this machine");
  Instruction &i = d.begin(shuffle);
  i.flow = Flow::WarpSync;
  i.mode = uint8_t(mode);
  addTargets(d, i, 4);
  for (unsigned k = 1; k < 5; ++k)
    d.addSource(i, d.argument(k), 4);
}

enum Vote : uint8_t { All, Any, Uniform, Ballot };

static void vote(Warp &warp, const Instruction &i, Mask active) {
  Mask votes = warp.predicate(i.source(0));
  votes = (i.offset ? ~votes : votes) & active;
  if (i.mode == Ballot) {
    for (Mask left = active; left; left &= left - 1)
      warp.lanes<uint32_t>(i.target())[std::countr_zero(left)] = votes;
    return;
  }
  bool answer = i.mode == All   ? votes == active
                : i.mode == Any ? votes != 0
                                : votes == 0 || votes == active;
  Mask &target = warp.predicate(i.target());
  target = answer ? target | active : target & ~active;
}

static void decodeVote(Decoder &d) {
  bool isSync = d.take("sync");
  int mode = d.takeOne({"all", "any", "uni", "ballot"});
  Type type = d.takeType();
  if (!isSync || mode < 0 || d.arguments() != 3 ||
      type != (mode == Ballot ? Type::B32 : Type::Pred))
    return d.fail(d.name() + " is not known to this machine");
  Instruction &i = d.begin(vote);
  i.flow = Flow::WarpSync;
  i.mode = uint8_t(mode);
  i.offset = d.argument(1).isNegated;
  d.addTarget(i, d.argument(0), mode == Ballot ? 4 : 0xFF);
  d.addPredicate(i, d.argument(1).name, false);
  d.addSource(i, d.argument(2), 4);
}

/// match.any: the lanes with an equal value; match.all: all lanes if their
/// values are equal, else none.
template <bool isAll>
static void match(Warp &warp, const Instruction &i, Mask active) {
  Mask same[kLanes] = {}, agreed = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned other = 0; other < kLanes; ++other)
      if (active >> lane & active >> other & 1 &&
          warp.bits(i.source(0), lane) == warp.bits(i.source(0), other))
        same[lane] |= Mask(1) << other;
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    if (isAll && same[lane] != active)
      same[lane] = 0;
    agreed |= same[lane] ? Mask(1) << lane : 0;
    warp.lanes<uint32_t>(i.target())[lane] = same[lane];
  }
  if (i.targets > 1 && i.target(1).bytes) {
    Mask &target = warp.predicate(i.target(1));
    target = (target & ~active) | agreed;
  }
}

static void decodeMatch(Decoder &d) {
  int mode = d.takeOne({"any", "all"});
  bool isSync = d.take("sync");
  Type type = d.takeType();
  if (!isSync || mode < 0 || d.arguments() != 3)
    return d.fail(d.name() + " is not known to this machine");
  Instruction &i = d.begin(mode ? match<true> : match<false>);
  i.flow = Flow::WarpSync;
  addTargets(d, i, 4);
  d.addSource(i, d.argument(1), bytesOf(type));
  d.addSource(i, d.argument(2), 4);
}

template <class T, auto op>
static void reduce(Warp &warp, const Instruction &i, Mask active) {
  const T *values = warp.lanes<T>(i.source(0));
  T result = values[std::countr_zero(active)];
  for (Mask left = active & (active - 1); left; left &= left - 1)
    result = op(result, values[std::countr_zero(left)]);
  for (Mask left = active; left; left &= left - 1)
    warp.lanes<T>(i.target())[std::countr_zero(left)] = result;
}
static constexpr auto kSum = [](uint32_t a, uint32_t b) { return a + b; };
static constexpr auto kLeast = []<class T>(T a, T b) { return a < b ? a : b; };
static constexpr auto kMost = []<class T>(T a, T b) { return a > b ? a : b; };
static constexpr auto kAnd = [](uint32_t a, uint32_t b) { return a & b; };
static constexpr auto kOr = [](uint32_t a, uint32_t b) { return a | b; };
static constexpr auto kXor = [](uint32_t a, uint32_t b) { return a ^ b; };

static void decodeReduce(Decoder &d) {
  bool isSync = d.take("sync");
  int op = d.takeOne({"add", "min", "max", "and", "or", "xor"});
  Type type = d.takeType();
  bool isSigned = type == Type::S32;
  const Compute computes[] = {
      reduce<uint32_t, kSum>,
      isSigned ? reduce<int32_t, kLeast> : reduce<uint32_t, kLeast>,
      isSigned ? reduce<int32_t, kMost> : reduce<uint32_t, kMost>,
      reduce<uint32_t, kAnd>,
      reduce<uint32_t, kOr>,
      reduce<uint32_t, kXor>};
  bool isKnown = isSync && op >= 0 &&
                 (op < 3 ? isSigned || type == Type::U32 : type == Type::B32);
  d.emit(isKnown ? computes[op] : nullptr, {type}, {type, Type::B32}).flow =
      Flow::WarpSync;
}

static void elect(Warp &warp, const Instruction &i, Mask active) {
  unsigned leader = std::countr_zero(active);
  for (Mask left = active; left; left &= left - 1)
    if (i.target().bytes)
      warp.lanes<uint32_t>(i.target())[std::countr_zero(left)] = leader;
  if (i.targets > 1) {
    Mask &target = warp.predicate(i.target(1));
    target = (target & ~active) | Mask(1) << leader;
  }
}
static void decodeElect(Decoder &d) {
  if (!d.take("sync") || d.arguments() != 2)
    return d.fail(d.name() + " is not known to this machine");
  Instruction &i = d.begin(elect);
  i.flow = Flow::WarpSync;
  addTargets(d, i, 4);
  d.addSource(i, d.argument(1), 4);
}

static void activeLanes(Warp &warp, const Instruction &i, Mask active) {
  for (Mask left = active; left; left &= left - 1)
    warp.lanes<uint32_t>(i.target())[std::countr_zero(left)] = active;
}
static void decodeActiveMask(Decoder &d) {
  Type type = d.takeType();
  d.emit(activeLanes, {type}, {});
}

void addWarpDecoders(DecodeTable &table) {
  table.others["shfl"] = decodeShuffle;
  table.others["vote"] = decodeVote;
  table.others["match"] = decodeMatch;
  table.others["redux"] = decodeReduce;
  table.others["elect"] = decodeElect;
  table.others["activemask"] = decodeActiveMask;
}

} // namespace weft::ptx
