//===- Group.cpp - the calls of a group, compared between ranks -----------===//

#include "weft/test/cuda/nccl/Neighbours.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace weft::fake {

using nccl::Reduction;
using nccl::Type;

uint64_t bytesOf(Type type) {
  switch (type) {
  case Type::I8:
  case Type::U8:
    return 1;
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::I32:
  case Type::U32:
  case Type::F32:
    return 4;
  default:
    return 8;
  }
}

uint64_t Call::bytes() const { return count * bytesOf(type); }

std::string Call::text() const {
  static const char *kinds[] = {"ncclAllReduce",     "ncclAllGather",
                                "ncclReduceScatter", "ncclBroadcast",
                                "ncclSend",          "ncclRecv"};
  static const char *types[] = {"i8",  "u8",  "i32", "u32", "i64",
                                "u64", "f16", "f32", "f64", "bf16"};
  static const char *reductions[] = {"sum", "prod", "max", "min"};
  std::string out = kinds[size_t(kind)];
  out += " of " + std::to_string(count) + " " + types[size_t(type)];
  if (kind == CallKind::AllReduce || kind == CallKind::ReduceScatter)
    out += std::string(", ") + reductions[size_t(argument)];
  if (kind == CallKind::Broadcast)
    out += ", root " + std::to_string(argument);
  if (kind == CallKind::Send)
    out += " to rank " + std::to_string(argument);
  if (kind == CallKind::Recv)
    out += " from rank " + std::to_string(argument);
  return out;
}

static Status reportApart(const Clique &clique, int rank,
                          const std::string &call, int other,
                          const std::string &theirs) {
  fakeCudaReport("rank " + std::to_string(rank) + " of communicator " +
                 std::to_string(clique.number) + " calls " + call + ", rank " +
                 std::to_string(other) + " " +
                 (theirs.empty() ? "makes no such call in this group"
                                 : "calls " + theirs) +
                 ": on GPUs they would wait for ever");
  return Status::InvalidUsage;
}

/// Connects the ranks of a collective in this process with all others.
static Status connectAll(const Clique &clique) {
  std::vector<std::pair<int, int>> all;
  const std::vector<Comm> &ranks = clique.ranks;
  for (int own = 0; own < int(ranks.size()); ++own)
    for (int other = 0; other < int(ranks.size()); ++other)
      if (ranks[size_t(own)] && !ranks[size_t(other)])
        all.emplace_back(own, other);
  return connect(clique, all);
}

/// Enqueues the collective calls of a group; all ranks make the same. `ofRank`
/// has the calls of those in this process.
static Status enqueueCollectives(const Clique &clique,
                                 const std::vector<std::vector<Call>> &ofRank) {
  auto rankOf = [&](size_t n) {
    int rank = -1;
    for (size_t own = 0; own <= n; ++own)
      do
        ++rank;
      while (!clique.ranks[size_t(rank)]);
    return rank;
  };
  if (clique.neighbours && !ofRank[0].empty())
    if (Status status = connectAll(clique); status != Status::Success)
      return status;
  for (size_t rank = 1; rank < ofRank.size(); ++rank)
    for (size_t n = 0; n < std::max(ofRank[0].size(), ofRank[rank].size());
         ++n) {
      std::string first =
          n < ofRank[0].size() ? ofRank[0][n].text() : std::string();
      std::string here =
          n < ofRank[rank].size() ? ofRank[rank][n].text() : std::string();
      if (first == here)
        continue;
      return first.empty()
                 ? reportApart(clique, rankOf(rank), here, rankOf(0), "")
                 : reportApart(clique, rankOf(0), first, rankOf(rank), here);
    }
  for (size_t n = 0; n < ofRank[0].size(); ++n) {
    std::vector<Call> together;
    for (const std::vector<Call> &calls : ofRank)
      together.push_back(calls[n]);
    if (Status status = enqueueTogether(together); status != Status::Success)
      return status;
  }
  return Status::Success;
}

/// Enqueues the sends and receives of a group; each has its counterpart.
static Status enqueueSends(const Clique &clique,
                           const std::vector<Call> &calls) {
  // The calls from one rank to another, in order.
  std::map<std::pair<int, int>, std::vector<const Call *>> sends, receives;
  std::vector<std::pair<int, int>> others; // own ranks, ranks elsewhere
  for (const Call &call : calls)
    if (!clique.ranks[size_t(call.argument)])
      others.emplace_back(call.comm->rank, call.argument);
    else if (call.kind == CallKind::Send)
      sends[{call.comm->rank, call.argument}].push_back(&call);
    else
      receives[{call.argument, call.comm->rank}].push_back(&call);
  if (!others.empty())
    if (Status status = connect(clique, others); status != Status::Success)
      return status;
  std::set<std::pair<int, int>> pairs;
  for (const auto *all : {&sends, &receives})
    for (const auto &[pair, list] : *all)
      pairs.insert(pair);
  for (auto pair : pairs) {
    const std::vector<const Call *> &out = sends[pair], &in = receives[pair];
    for (size_t n = 0; n < std::max(out.size(), in.size()); ++n) {
      std::string send = n < out.size() ? out[n]->text() : "";
      std::string receive = n < in.size() ? in[n]->text() : "";
      if (send.empty())
        return reportApart(clique, pair.second, receive, pair.first, "");
      if (receive.empty() || out[n]->bytes() != in[n]->bytes())
        return reportApart(clique, pair.first, send, pair.second, receive);
    }
  }
  return calls.empty() ? Status::Success : enqueuePairs(calls);
}

/// Reports communicators that two GPUs use in opposite orders.
static Status compareOrders(const std::vector<Call> &calls) {
  std::map<cuda::Context, std::vector<const Clique *>> orders;
  for (const Call &call : calls) {
    std::vector<const Clique *> &order = orders[call.comm->context];
    if (std::ranges::find(order, call.comm->clique) == order.end())
      order.push_back(call.comm->clique);
  }
  for (const auto &[one, mine] : orders)
    for (const auto &[other, theirs] : orders) {
      std::vector<const Clique *> both, same;
      for (const Clique *clique : mine)
        if (std::ranges::find(theirs, clique) != theirs.end())
          both.push_back(clique);
      for (const Clique *clique : theirs)
        if (std::ranges::find(mine, clique) != mine.end())
          same.push_back(clique);
      if (both == same)
        continue;
      size_t n = 0;
      while (both[n] == same[n])
        ++n;
      fakeCudaReport("GPU " + std::to_string(one->device) +
                     " uses communicator " + std::to_string(both[n]->number) +
                     " before communicator " + std::to_string(same[n]->number) +
                     ", GPU " + std::to_string(other->device) +
                     " in the other order");
      return Status::InvalidUsage;
    }
  return Status::Success;
}

/// FAKE_NCCL_LOG names a file, to which each group adds a line.
static void logGroup(const std::vector<Call> &calls) {
  const char *path = std::getenv("FAKE_NCCL_LOG");
  std::FILE *file = path && !calls.empty() ? std::fopen(path, "a") : nullptr;
  if (!file)
    return;
  std::map<std::string, int> counts;
  std::set<cuda::Context> gpus;
  for (const Call &call : calls) {
    std::string text = call.text();
    ++counts[text.substr(0, text.find(' '))];
    gpus.insert(call.comm->context);
  }
  std::string line = "group of " + std::to_string(gpus.size()) + " GPUs:";
  for (const auto &[kind, count] : counts)
    line += " " + std::to_string(count) + " " + kind;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

/// FAKE_NCCL_DIES=3 kills the process at its third group of calls.
static void dieIfAsked(const std::vector<Call> &calls) {
  static uint64_t groups = 0;
  const char *last = std::getenv("FAKE_NCCL_DIES");
  if (last && !calls.empty() && ++groups == std::strtoull(last, nullptr, 10))
    std::raise(SIGKILL);
}

Status endGroup() {
  Library &library = Library::get();
  if (Status status = finishJoins(); status != Status::Success)
    return status;
  if (Status status = finishSplits(); status != Status::Success)
    return status;
  std::vector<Call> calls;
  calls.swap(library.calls);
  if (Status status = compareOrders(calls); status != Status::Success)
    return status;
  logGroup(calls);
  dieIfAsked(calls);
  std::vector<Clique *> cliques;
  for (const Call &call : calls)
    if (std::ranges::find(cliques, call.comm->clique) == cliques.end())
      cliques.push_back(call.comm->clique);
  for (const Clique *clique : cliques) {
    std::vector<std::vector<Call>> ofRank;
    std::vector<Call> pairs;
    for (Comm own : clique->ranks) {
      if (!own)
        continue;
      std::vector<Call> &its = ofRank.emplace_back();
      std::ranges::copy_if(calls, std::back_inserter(its),
                           [&](const Call &one) {
                             return one.comm == own && !one.isBetweenTwo();
                           });
    }
    for (const Call &call : calls)
      if (call.comm->clique == clique && call.isBetweenTwo())
        pairs.push_back(call);
    if (Status status = enqueueCollectives(*clique, ofRank);
        status != Status::Success)
      return status;
    if (Status status = enqueueSends(*clique, pairs); status != Status::Success)
      return status;
  }
  return Status::Success;
}

} // namespace weft::fake
