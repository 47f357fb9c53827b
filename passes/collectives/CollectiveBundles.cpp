//===- CollectiveBundles.cpp - which collectives become one ---------------===//

#include "weft/passes/collectives/CollectiveBundles.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <queue>

using namespace weft;

namespace {

/// Forms bundles in a graph whose nodes are ops and formed bundles. A bundle
/// has the number of its last member.
class Bundler {
public:
  explicit Bundler(llvm::ArrayRef<DependentOp> ops);

  /// Groups nodes of equal kind and level.
  void computeBundles();
  /// All bundles in order, or nothing if they depend on each other in a cycle.
  std::optional<std::vector<OpBundle>> schedule() const;
  /// Merges the first bundle with several members into one node. Requires such
  /// a bundle.
  void formFirst();

private:
  /// Nodes in [begin, end) that need a member of the bundle.
  std::vector<bool> dependents(unsigned bundle, size_t begin, size_t end) const;
  void emit(unsigned bundle, std::vector<OpBundle> &out) const;

  llvm::ArrayRef<DependentOp> ops;
  /// Users of op i: `users[firstUser[i]]` to `users[firstUser[i + 1]]`.
  std::vector<unsigned> firstUser, users;
  std::vector<unsigned> nodeOf;   ///< node of an op
  std::vector<OpBundle> members;  ///< ops of a node
  std::vector<unsigned> order;    ///< nodes, operands before their users
  std::vector<unsigned> bundleOf; ///< bundle of a node
  std::vector<OpBundle> bundles;  ///< nodes, ordered by their first op
  unsigned kinds = 0;
};

/// Nodes whose operands are scheduled, with their places in `order`, smallest
/// place first.
using ReadyNodes = std::priority_queue<std::pair<size_t, unsigned>,
                                       std::vector<std::pair<size_t, unsigned>>,
                                       std::greater<>>;

} // namespace

Bundler::Bundler(llvm::ArrayRef<DependentOp> ops)
    : ops(ops), firstUser(ops.size() + 1), nodeOf(ops.size()),
      members(ops.size()), order(ops.size()), bundleOf(ops.size()) {
  std::iota(order.begin(), order.end(), 0);
  nodeOf = order;
  for (const DependentOp &op : ops) {
    kinds = std::max<int>(kinds, op.kind + 1);
    for (unsigned need : op.needs)
      ++firstUser[need + 1];
  }
  std::partial_sum(firstUser.begin(), firstUser.end(), firstUser.begin());
  users.resize(firstUser.back());
  std::vector<unsigned> next = firstUser;
  for (auto [number, op] : llvm::enumerate(ops)) {
    members[number] = {static_cast<unsigned>(number)};
    for (unsigned need : op.needs)
      users[next[need]++] = number;
  }
}

void Bundler::computeBundles() {
  bundles.clear();
  std::map<std::pair<int, unsigned>, unsigned> byLevel;
  // The longest chain of collectives up to each node, for each kind.
  std::vector<unsigned> chains(ops.size() * kinds);
  for (unsigned node : order) {
    unsigned *chain = chains.data() + size_t(node) * kinds;
    for (unsigned member : members[node])
      for (unsigned need : ops[member].needs)
        for (unsigned kind = 0; kind < kinds; ++kind)
          chain[kind] = std::max(chain[kind],
                                 chains[size_t(nodeOf[need]) * kinds + kind]);
    int kind = ops[node].kind;
    unsigned number = bundles.size();
    if (kind >= 0)
      number = byLevel.try_emplace({kind, chain[kind]++}, number).first->second;
    if (number == bundles.size())
      bundles.emplace_back();
    bundles[number].push_back(node);
    bundleOf[node] = number;
  }
}

void Bundler::emit(unsigned bundle, std::vector<OpBundle> &out) const {
  OpBundle &all = out.emplace_back();
  for (unsigned node : bundles[bundle])
    all.append(members[node]);
  llvm::sort(all);
}

std::optional<std::vector<OpBundle>> Bundler::schedule() const {
  std::vector<unsigned> unmet(ops.size()), absent(bundles.size());
  std::vector<size_t> place(ops.size());
  for (auto [index, node] : llvm::enumerate(order)) {
    place[node] = index;
    for (unsigned member : members[node])
      unmet[node] += ops[member].needs.size();
    ++absent[bundleOf[node]];
  }
  std::vector<OpBundle> result;
  ReadyNodes ready;
  for (auto [index, begun] : llvm::enumerate(order)) {
    if (unmet[begun] == 0)
      ready.push({index, begun});
    while (!ready.empty()) {
      unsigned bundle = bundleOf[ready.top().second];
      ready.pop();
      if (--absent[bundle] > 0)
        continue;
      emit(bundle, result);
      for (unsigned member : result.back())
        for (unsigned i = firstUser[member]; i < firstUser[member + 1]; ++i)
          if (unsigned user = nodeOf[users[i]];
              --unmet[user] == 0 && place[user] <= index)
            ready.push({place[user], user});
    }
  }
  if (result.size() < bundles.size())
    return std::nullopt;
  return result;
}

std::vector<bool> Bundler::dependents(unsigned bundle, size_t begin,
                                      size_t end) const {
  std::vector<bool> found(ops.size());
  for (unsigned node : llvm::ArrayRef(order).slice(begin, end - begin))
    for (unsigned member : members[node])
      for (unsigned need : ops[member].needs)
        if (bundleOf[nodeOf[need]] == bundle || found[nodeOf[need]])
          found[node] = true;
  return found;
}

void Bundler::formFirst() {
  unsigned first = std::distance(
      bundles.begin(), llvm::find_if(bundles, [](const OpBundle &bundle) {
        return bundle.size() > 1;
      }));
  OpBundle joined = bundles[first];
  unsigned node = joined.back();
  size_t begin = std::distance(order.begin(), llvm::find(order, joined[0]));
  size_t end = std::distance(order.begin(), llvm::find(order, node));
  std::vector<bool> late = dependents(first, begin, end);
  std::vector<unsigned> before, behind{node};
  for (unsigned other : llvm::ArrayRef(order).slice(begin, end - begin))
    if (late[other])
      behind.push_back(other);
    else if (bundleOf[other] != first)
      before.push_back(other);
  auto at = order.erase(order.begin() + begin, order.begin() + end + 1);
  at = order.insert(at, behind.begin(), behind.end());
  order.insert(at, before.begin(), before.end());
  OpBundle all;
  for (unsigned part : joined)
    all.append(members[part]);
  for (unsigned member : all)
    nodeOf[member] = node;
  members[node] = all;
}

std::vector<OpBundle> weft::bundleCollectives(llvm::ArrayRef<DependentOp> ops) {
  Bundler bundler(ops);
  while (true) {
    bundler.computeBundles();
    if (std::optional<std::vector<OpBundle>> result = bundler.schedule())
      return *result;
    bundler.formFirst();
  }
}
