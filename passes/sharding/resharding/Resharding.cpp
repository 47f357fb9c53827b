//===- Resharding.cpp - the cheapest way from one layout to another -------===//

#include "weft/passes/sharding/resharding/Resharding.h"

#include "weft/base/Saturating.h"
#include "weft/layout/RingTraffic.h"
#include "weft/layout/Sizes.h"
#include "weft/passes/sharding/resharding/ReshardSteps.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

using namespace weft;
using namespace weft::reshard;

llvm::StringRef weft::stringifyStepKind(ReshardStepKind kind) {
  static constexpr llvm::StringLiteral names[] = {
      "slice",   "make_partial", "place",          "all_gather", "all_to_all",
      "permute", "all_reduce",   "reduce_scatter", "exchange"};
  return names[static_cast<unsigned>(kind)];
}

/// The ring algorithm of a step; nothing for steps without one.
static std::optional<RingKind> ringKind(ReshardStepKind kind) {
  switch (kind) {
  case ReshardStepKind::AllReduce:
    return RingKind::AllReduce;
  case ReshardStepKind::AllGather:
    return RingKind::AllGather;
  case ReshardStepKind::ReduceScatter:
    return RingKind::ReduceScatter;
  case ReshardStepKind::AllToAll:
    return RingKind::AllToAll;
  default:
    return std::nullopt;
  }
}

/// Bytes that one of p devices sends in a step other than an exchange.
static int64_t bytesSent(ReshardStepKind kind, int64_t p, int64_t before,
                         int64_t after) {
  if (auto ring = ringKind(kind))
    return ringBytes(*ring, p, before, after);
  return kind == ReshardStepKind::Permute ? before : 0;
}

static bool isLocal(ReshardStepKind kind) {
  return kind == ReshardStepKind::Slice ||
         kind == ReshardStepKind::MakePartial || kind == ReshardStepKind::Place;
}

/// The time of a step in which the busiest device moves `bytes`.
static double secondsOf(const Mesh &mesh, ReshardStepKind kind,
                        const SubAxes &axes, int64_t bytes) {
  if (isLocal(kind))
    return 0;
  Link link = slowestLink(mesh, axes);
  int phases = kind == ReshardStepKind::AllReduce ? 2 : 1;
  return phases * link.latency + link.moving(bytes);
}

namespace {
/// A cost; costs are compared field by field, and saturate. `first` and `second` are time and
/// bytes, or bytes and time. Time is in units of 1e-15 s, so that sums in any
/// order are equal. `steps` weighs steps: 1 for a local step, 1000 for a
/// standard collective, 1500 for an exchange.
struct Cost {
  int64_t first = 0, second = 0, steps = 0;
  auto operator<=>(const Cost &) const = default;
  Cost operator+(const Cost &o) const {
    return {saturatingAdd(first, o.first), saturatingAdd(second, o.second),
            steps + o.steps};
  }
};
constexpr int64_t standardStep = 1000, exchangeStep = 1500;
/// The steps that are tried even if a plan meets the bound, to find one with
/// equal bytes and seconds and lighter steps.
constexpr int64_t niceness = 1500;

struct Node {
  State state;
  Cost cost;
  Move move;
  int64_t bytes = 0, moved = 0, time = 0; ///< the move's costs
  int64_t bytesSoFar = 0;
  int32_t parent = -1;
  bool closed = false;
};

struct StateHash {
  unsigned digits;
  size_t operator()(const State &state) const {
    return llvm::hash_combine(
        llvm::hash_combine_range(state.place.begin(),
                                 state.place.begin() + digits),
        llvm::hash_combine_range(state.order.begin(),
                                 state.order.begin() + digits));
  }
};

class Search {
public:
  Search(const Problem &problem [[clang::lifetimebound]],
         const ReshardOptions &options [[clang::lifetimebound]])
      : problem(problem), options(options), target(problem, problem.target),
        known(16, StateHash{static_cast<unsigned>(problem.digits.size())}) {
    even = evenThroughout(problem, View(problem, problem.source), target);
    bound = lowerBoundBytes(problem);
    for (auto [n, count] :
         llvm::zip_equal(problem.shape, View(problem, problem.source).counts))
      isScarce |= !options.fewestBytes && isMostlyPadding(n, count);
    for (const MeshAxis &axis : problem.mesh.axes) {
      fastest = std::max(fastest, axis.bandwidth);
      quickest = std::min(quickest, axis.latency);
    }
  }

  /// Takes the given steps, so that run() tries nothing more expensive.
  void follow(llvm::MutableArrayRef<Move> moves);
  /// Finds the cheapest plan, or runs out of budget.
  void run();
  bool found() const { return bestPlan.has_value(); }
  /// The cheapest plan found.
  ReshardPlan plan() const;
  int64_t bound; ///< least bytes that must arrive

private:
  bool meetsBound() const;
  bool mayExchange(int index) const;
  void reset();
  bool search();
  bool isBeaten(const Cost &cost) const;
  void keep();
  ReshardPlan planTo(int node) const;
  void price(Node &node, const View &before, const View &after) const;
  void expand(int index);
  void visit(int parent, const View &view, Move &move);
  Cost estimate(const State &state, const View &view) const;
  Cost cost(int64_t time, int64_t bytes, int64_t moved, int64_t steps) const {
    if (isScarce)
      return {moved, time, steps};
    return options.fewestBytes ? Cost{bytes, time, steps}
                               : Cost{time, bytes, steps};
  }
  SubAxes axesOf(const Move &move) const;

  const Problem &problem;
  const ReshardOptions &options;
  View target;
  bool even; ///< estimates are exact at both ends
  /// Whether a few devices have what the others want. Then what the busiest one
  /// sends decides, as its messages follow each other.
  bool isScarce = false;
  double fastest = 1, quickest = 1;
  bool settled = false; ///< nothing is cheaper
  int64_t tried = 0;
  int best = -1;                       ///< the node of the cheapest plan so far
  std::optional<ReshardPlan> bestPlan; ///< the best plan of earlier runs
  Cost bestCost;
  std::vector<Node> nodes;
  std::unordered_map<State, int, StateHash> known;
  using Entry = std::tuple<Cost, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
};
} // namespace

/// Replaces digits that overlap by the shortest digit with all of them: of an
/// axis of 6, (1)3 and (1)2 by the axis. A step between layouts that cut the
/// axis in such ways works over it.
static SubAxes joinOverlapping(SubAxes axes) {
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      SubAxis &a = axes[j], &b = axes[i];
      if (!overlaps(a, b))
        continue;
      int64_t begin = std::gcd(a.skip, b.skip);
      int64_t end = std::lcm(a.skip * a.size, b.skip * b.size);
      a = {a.axis, begin, end / begin};
      axes.erase(axes.begin() + i);
      i = 0; // the longer digit may overlap others
      break;
    }
  return axes;
}

SubAxes Search::axesOf(const Move &move) const {
  SubAxes axes;
  for (uint8_t digit : move.digits)
    axes.push_back(problem.digits[digit]);
  if (!problem.independent)
    axes = joinOverlapping(std::move(axes));
  if (move.kind == ReshardStepKind::Exchange ||
      move.kind == ReshardStepKind::Permute ||
      move.kind == ReshardStepKind::AllReduce ||
      move.kind == ReshardStepKind::MakePartial)
    llvm::sort(axes);
  return axes;
}

void Search::price(Node &node, const View &before, const View &after) const {
  const Move &move = node.move;
  node.bytes = node.moved = node.time = 0;
  if (isLocal(move.kind)) {
    node.cost.steps += 1;
    return;
  }
  SubAxes axes = axesOf(move);
  int64_t sent = 0;
  if (move.kind == ReshardStepKind::Exchange) {
    node.bytes =
        missingElementsExactly(problem, before, after) * problem.elementBytes;
    sent = saturatingMultiply(sentElements(problem, before, after),
                              problem.elementBytes);
  } else {
    node.bytes = bytesSent(move.kind, shardCount(axes),
                           before.localElements * problem.elementBytes,
                           after.localElements * problem.elementBytes);
  }
  node.moved = std::max(node.bytes, sent);
  node.time =
      femtoseconds(secondsOf(problem.mesh, move.kind, axes, node.moved));
  int64_t steps =
      move.kind == ReshardStepKind::Exchange ? exchangeStep : standardStep;
  node.cost = node.cost + cost(node.time, node.bytes, node.moved, steps);
}

Cost Search::estimate(const State &state, const View &view) const {
  if (state == problem.target)
    return {};
  int64_t bytes = missingElements(problem, view, target) * problem.elementBytes;
  if (bytes == 0)
    return {0, 0, 1};
  // The estimate: at least one more collective.
  return cost(femtoseconds(quickest + double(bytes) / fastest), bytes, bytes,
              standardStep);
}

/// Whether a known plan is cheaper.
bool Search::isBeaten(const Cost &cost) const {
  return (best >= 0 && nodes[best].cost <= cost) ||
         (bestPlan && bestCost <= cost);
}

void Search::visit(int parent, const View &view, Move &move) {
  ++tried;
  Node node;
  node.state = move.result;
  node.cost = nodes[parent].cost;
  node.move = std::move(move);
  node.parent = parent;
  View after(problem, node.state);
  price(node, view, after);
  node.bytesSoFar = saturatingAdd(nodes[parent].bytesSoFar, node.bytes);
  auto [entry, fresh] = known.try_emplace(node.state, nodes.size());
  if (!fresh && nodes[entry->second].cost <= node.cost)
    return;
  // The cheaper node replaces the old one, whose queue entry is skipped later.
  if (!fresh)
    nodes[entry->second].closed = true;
  entry->second = nodes.size();
  if (node.state == problem.target &&
      (best < 0 || node.cost < nodes[best].cost))
    best = nodes.size();
  Cost total = node.cost + estimate(node.state, after);
  // The node is recorded, but not queued if a known plan is cheaper.
  if (best == static_cast<int>(nodes.size()) || !isBeaten(total))
    open.push({total, nodes.size()});
  nodes.push_back(std::move(node));
}

/// Whether to price an exchange. For uneven shards this examines every device,
/// so on large meshes only at the start and after a reduction.
bool Search::mayExchange(int index) const {
  ReshardStepKind kind = nodes[index].move.kind;
  return even || problem.mesh.size() <= 64 || index == 0 ||
         kind == ReshardStepKind::AllReduce ||
         kind == ReshardStepKind::ReduceScatter;
}

void Search::expand(int index) {
  State state = nodes[index].state;
  View view(problem, state);
  Move exchange;
  Cost least = nodes[index].cost + estimate(state, view);
  least.steps += exchangeStep - standardStep;
  // The exchange comes first, since its price excludes most other steps.
  if (options.allowExchange && mayExchange(index) && !isBeaten(least) &&
      exchangeMove(problem, state, exchange))
    visit(index, view, exchange);
  forEachMove(problem, state, view,
              [&](Move &move) { visit(index, view, move); });
}

void Search::reset() {
  nodes.clear();
  known.clear();
  open = {};
  best = -1;
  tried = 0;
  Node root;
  root.state = problem.source;
  nodes.push_back(root);
  known[root.state] = 0;
  open.push({Cost{}, 0});
}

/// Whether no plan can be better than the best one. This follows from the
/// estimate, or from the exact bound if the estimate examines a few devices
/// only.
bool Search::meetsBound() const {
  if (best < 0)
    return false;
  if (!even)
    return nodes[best].bytesSoFar == bound;
  Cost least = estimate(problem.source, View(problem, problem.source));
  return nodes[best].cost.first <= least.first &&
         nodes[best].cost.second <= least.second;
}

/// Searches for the cheapest plan; returns whether none can be cheaper than the
/// one found.
bool Search::search() {
  bool complete = movesAreComplete(problem);
  int64_t budget = complete ? options.searchBudget : options.searchBudget / 3;
  while (!open.empty()) {
    auto [cost, index] = open.top();
    open.pop();
    if (nodes[index].closed)
      continue;
    if (nodes[index].state == problem.target)
      break;
    if (tried >= budget)
      return false;
    nodes[index].closed = true;
    expand(index);
    if (tried >= niceness && meetsBound())
      return true;
  }
  return complete;
}

void Search::keep() {
  if (best < 0 || (bestPlan && bestCost <= nodes[best].cost))
    return;
  bestPlan = planTo(best);
  bestCost = nodes[best].cost;
}

void Search::run() {
  reset();
  settled = search();
  keep();
}

void Search::follow(llvm::MutableArrayRef<Move> moves) {
  reset();
  int at = 0;
  for (Move &move : moves) {
    State next = move.result;
    visit(at, View(problem, nodes[at].state), move);
    // A known state keeps its cheaper node.
    at = known.at(next);
  }
  keep();
}

ReshardPlan Search::plan() const {
  ReshardPlan plan = *bestPlan;
  plan.lowerBound = bound;
  plan.optimal = settled || plan.bytesReceived == plan.lowerBound;
  return plan;
}

ReshardPlan Search::planTo(int node) const {
  ReshardPlan plan;
  llvm::SmallVector<const Node *, 8> path;
  for (; nodes[node].parent >= 0; node = nodes[node].parent)
    path.push_back(&nodes[node]);
  for (const Node *at : llvm::reverse(path)) {
    ReshardStep step;
    step.kind = at->move.kind;
    step.axes = axesOf(at->move);
    step.from = at->move.from;
    step.to = at->move.to;
    step.result = problem.layout(at->state);
    step.reduce =
        step.kind == ReshardStepKind::MakePartial ||
                (step.kind == ReshardStepKind::Place && problem.to.isPartial())
            ? problem.to.reduce
            : problem.from.reduce;
    step.bytes = at->bytes;
    step.moved = at->moved;
    step.seconds = at->time * 1e-15;
    // Two slices of one dimension are joined.
    if (!plan.steps.empty() && step.kind == ReshardStepKind::Slice &&
        plan.steps.back().kind == ReshardStepKind::Slice &&
        plan.steps.back().to == step.to) {
      SubAxes axes = plan.steps.back().axes;
      llvm::append_range(axes, step.axes);
      step.axes = axes;
      plan.steps.pop_back();
    }
    plan.bytesReceived += step.bytes;
    plan.seconds += step.seconds;
    step.axes = normalise(problem.mesh, step.axes);
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

/// The plan if the search finds none, or if there are more digits than a state
/// can name (axes of thousands of devices, each cut in incompatible ways):
/// reduce, exchange, make partial.
static ReshardPlan exchangePlan(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                int64_t elementBytes, const Problem &problem) {
  ReshardPlan plan;
  auto add = [&](ReshardStepKind kind, SubAxes axes, const Layout &result,
                 int64_t bytes) {
    ReshardStep step;
    step.kind = kind;
    step.axes = std::move(axes);
    step.reduce = kind == ReshardStepKind::AllReduce ? problem.from.reduce
                                                     : problem.to.reduce;
    step.result = result;
    step.bytes = step.moved = bytes;
    step.seconds = secondsOf(mesh, kind, step.axes, bytes);
    plan.bytesReceived += bytes;
    plan.seconds += step.seconds;
    plan.steps.push_back(std::move(step));
  };
  Layout at = problem.from, summed = problem.to;
  if (at.isPartial()) {
    SubAxes axes = at.partial;
    int64_t local = elementBytes;
    for (int64_t n : localShape(at, shape))
      local *= n;
    at.partial.clear();
    add(ReshardStepKind::AllReduce, axes, at,
        ringBytes(RingKind::AllReduce, shardCount(axes), local, local));
  }
  summed.partial.clear();
  SubAxes everything = allAxes(mesh);
  plan.lowerBound = receiveLowerBound(mesh, at, summed, shape) * elementBytes;
  add(ReshardStepKind::Exchange, everything, summed, plan.lowerBound);
  if (problem.to.isPartial())
    add(ReshardStepKind::MakePartial, problem.to.partial, problem.to, 0);
  return plan;
}

ReshardPlan weft::reshard::planOnMesh(const Mesh &mesh,
                                      llvm::ArrayRef<int64_t> shape,
                                      int64_t elementBytes, const Layout &from,
                                      const Layout &to,
                                      const ReshardOptions &options) {
  Problem problem(mesh, shape, elementBytes, from, to, options.thorough);
  problem.allowPlace = options.allowPlace;
  ReshardPlan plan;
  if (problem.from == problem.to) {
    plan.optimal = true;
    return plan;
  }
  if (problem.tooManyDigits)
    return exchangePlan(mesh, shape, elementBytes, problem);
  Search search(problem, options);
  // If not all steps can be tried, a simple plan comes first, as its cost
  // excludes most others.
  llvm::SmallVector<Move, 8> moves;
  if (!movesAreComplete(problem) && sliceMoveGather(problem, moves))
    search.follow(moves);
  search.run();
  if (!search.found()) {
    moves = gatherAndSlice(problem);
    search.follow(moves);
  }
  if (!search.found())
    return exchangePlan(mesh, shape, elementBytes, problem);
  return search.plan();
}
