//===- Neighbours.cpp - ranks of a communicator in other processes --------===//

#include "weft/test/cuda/nccl/Neighbours.h"

#include "weft/test/cuda/nccl/Mailbox.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace weft::fake {

std::set<int> Neighbours::others() const {
  std::set<int> out(leaders.begin(), leaders.end());
  out.erase(self);
  return out;
}

std::string Neighbours::name(const std::string &what, int from, int to) const {
  return key + "." + what + "." + std::to_string(from) + "-" +
         std::to_string(to);
}

void Neighbours::tellOthers(const std::string &what, int from,
                            const std::vector<uint8_t> &bytes) const {
  for (int to : others())
    post(folder, name(what, from, to), bytes);
}

bool Neighbours::hear(const std::string &what, int from,
                      std::vector<uint8_t> &bytes) const {
  return take(folder, name(what, from, self), bytes);
}

/// Reports ranks of other processes that do not come to a call.
static Status reportAbsent(const std::string &call, int rank,
                           const std::string &communicator) {
  fakeCudaReport(call + " of " + communicator + " waits for ever for rank " +
                 std::to_string(rank) + ", which is in another process");
  return Status::RemoteError;
}

Status connect(const Clique &clique,
               const std::vector<std::pair<int, int>> &all) {
  Neighbours &its = *clique.neighbours;
  std::vector<std::pair<int, int>> fresh;
  for (auto [own, other] : all)
    if (its.connected.insert({own, other}).second) {
      post(its.folder, its.name("connect", own, other), {});
      fresh.emplace_back(own, other);
    }
  for (auto [own, other] : fresh) {
    std::vector<uint8_t> none;
    if (!waitUntil([&, own = own, other = other] {
          return take(its.folder, its.name("connect", other, own), none);
        }))
      return reportAbsent("the first call", other,
                          nameOf(clique.ranks[size_t(own)]));
  }
  return Status::Success;
}

//===----------------------------------------------------------------------===//
// Making communicators
//===----------------------------------------------------------------------===//

namespace {
struct Member {
  int leader = 0, gpu = 0;
  char machine[64] = {};
};
} // namespace

template <class T> static std::vector<uint8_t> bytesOfValue(const T &value) {
  const auto *first = reinterpret_cast<const uint8_t *>(&value);
  return {first, first + sizeof value};
}

/// Whether no two ranks of one machine are on one GPU, which NCCL refuses.
static bool areApart(const std::vector<Member> &members) {
  for (size_t one = 0; one < members.size(); ++one)
    for (size_t other = 0; other < one; ++other)
      if (members[one].gpu == members[other].gpu &&
          !std::strcmp(members[one].machine, members[other].machine)) {
        fakeCudaReport("ranks " + std::to_string(other) + " and " +
                       std::to_string(one) + " of a communicator are on GPU " +
                       std::to_string(members[one].gpu) +
                       " of one machine; NCCL_HOSTID tells them apart");
        return false;
      }
  return true;
}

/// Adds a communicator with these contexts on own ranks, null on others.
static Clique *add(const std::vector<cuda::Context> &contexts,
                   std::shared_ptr<Neighbours> neighbours) {
  Clique *made = Library::get().add(contexts);
  for (size_t rank = 0; rank < contexts.size(); ++rank)
    if (!contexts[rank]) {
      Library::get().comms.erase(made->ranks[rank]);
      delete made->ranks[rank];
      made->ranks[rank] = nullptr;
    }
  made->neighbours = std::move(neighbours);
  return made;
}

Status joinProcesses(const std::string &id, const std::map<int, Join> &joins) {
  auto its = std::make_shared<Neighbours>();
  its->folder = folderOf(id);
  its->key = "0";
  its->self = joins.begin()->first;
  int count = joins.begin()->second.count;
  const char *machine = std::getenv("NCCL_HOSTID");
  for (const auto &[rank, join] : joins) {
    Member own;
    own.leader = its->self;
    own.gpu = (*join.out)->context ? (*join.out)->context->device : -1;
    std::strncpy(own.machine, machine ? machine : "", sizeof own.machine - 1);
    post(its->folder, "join-" + std::to_string(rank), bytesOfValue(own));
  }
  std::vector<Member> members;
  std::vector<cuda::Context> contexts;
  for (int rank = 0; rank < count; ++rank) {
    std::vector<uint8_t> bytes;
    if (!waitUntil([&] {
          return look(its->folder, "join-" + std::to_string(rank), bytes);
        }))
      return reportAbsent("ncclCommInitRankConfig", rank, "a communicator");
    std::memcpy(&members.emplace_back(), bytes.data(), sizeof(Member));
    its->leaders.push_back(members.back().leader);
    auto own = joins.find(rank);
    contexts.push_back(own == joins.end() ? nullptr
                                          : (*own->second.out)->context);
  }
  Clique *made = areApart(members) ? add(contexts, std::move(its)) : nullptr;
  for (const auto &[rank, join] : joins) {
    delete *join.out; // holds the context only
    *join.out = made ? made->ranks[size_t(rank)] : nullptr;
  }
  return made ? Status::Success : Status::InvalidUsage;
}

namespace {
/// What a rank of a parent has chosen.
struct Choice {
  int color, key, rank;
  const Split *split; ///< null for a rank of another process
};
} // namespace

/// Exchanges the choices of all ranks of a parent.
static Status exchangeChoices(Clique &parent, const std::vector<Split> &splits,
                              const std::string &what,
                              std::vector<Choice> &all) {
  const Neighbours &its = *parent.neighbours;
  for (const Split &split : splits) {
    *split.out = nullptr;
    all.push_back({split.color, split.key, split.parent->rank, &split});
    its.tellOthers(what, split.parent->rank,
                   bytesOfValue(std::array{split.color, split.key}));
  }
  for (int rank = 0; rank < int(its.leaders.size()); ++rank) {
    std::vector<uint8_t> bytes;
    if (its.isOwn(rank))
      continue;
    if (!waitUntil([&] { return its.hear(what, rank, bytes); }))
      return reportAbsent("ncclCommSplit", rank,
                          nameOf(parent.ranks[size_t(its.self)]));
    std::array<int, 2> choice = {};
    std::memcpy(choice.data(), bytes.data(), sizeof choice);
    all.push_back({choice[0], choice[1], rank, nullptr});
  }
  return Status::Success;
}

/// Makes the communicator of the ranks with one color.
static void addSplit(const Neighbours &parent, const std::string &key,
                     const std::vector<Choice> &members) {
  auto made = std::make_shared<Neighbours>();
  made->folder = parent.folder;
  made->key = key;
  std::vector<cuda::Context> contexts;
  std::map<int, int> first; // indexed by the leader in the parent
  for (size_t rank = 0; rank < members.size(); ++rank) {
    const Choice &one = members[rank];
    int leader = parent.leaders[size_t(one.rank)];
    made->leaders.push_back(first.try_emplace(leader, int(rank)).first->second);
    contexts.push_back(one.split ? one.split->parent->context : nullptr);
  }
  made->self = first.at(parent.self);
  bool isAlone = made->others().empty();
  Clique *clique = add(contexts, isAlone ? nullptr : std::move(made));
  for (size_t rank = 0; rank < members.size(); ++rank)
    if (members[rank].split)
      *members[rank].split->out = clique->ranks[rank];
}

Status splitAmong(Clique &parent, const std::vector<Split> &splits) {
  Neighbours &its = *parent.neighbours;
  std::string what = "split" + std::to_string(its.splits++);
  auto own = size_t(std::ranges::count(its.leaders, its.self));
  if (splits.size() != own) {
    fakeCudaReport("ncclCommSplit is called by " +
                   std::to_string(splits.size()) + " of " +
                   std::to_string(own) + " ranks of this process");
    return Status::InvalidUsage;
  }
  std::vector<Choice> all;
  if (Status status = exchangeChoices(parent, splits, what, all);
      status != Status::Success)
    return status;
  std::map<int, std::vector<Choice>> byColor;
  for (const Choice &one : all)
    if (one.color != nccl::kNoColor)
      byColor[one.color].push_back(one);
  for (auto &[color, members] : byColor) {
    std::ranges::sort(members, {}, [](const Choice &one) {
      return std::pair(one.key, one.rank);
    });
    if (std::ranges::any_of(members, &Choice::split))
      addSplit(its, its.key + "_" + what + "c" + std::to_string(color),
               members);
  }
  return Status::Success;
}

void leave(const Clique &clique) {
  const Neighbours &its = *clique.neighbours;
  post(its.folder, "left-" + std::to_string(its.self), {});
  std::vector<uint8_t> none;
  std::set<int> others = its.others();
  if (std::ranges::all_of(others, [&](int other) {
        return look(its.folder, "left-" + std::to_string(other), none);
      }))
    removeFolder(its.folder);
}

} // namespace weft::fake
