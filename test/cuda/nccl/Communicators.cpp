//===- Communicators.cpp - communicators and their ranks ------------------===//

#include "weft/test/cuda/nccl/Mailbox.h"
#include "weft/test/cuda/nccl/Neighbours.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace weft::fake {

Library &Library::get() {
  static auto *library = new Library;
  return *library;
}

/// Runs at the end of the process, before the driver's own function.
__attribute__((destructor)) static void endProcess() {
  const Library &all = Library::get();
  if (all.depth)
    fakeCudaReport("at the end a group of NCCL is open, with " +
                   std::to_string(all.calls.size()) + " calls");
  for (Comm comm : all.comms)
    fakeCudaReport("at the end " + nameOf(comm) + " is not destroyed");
}

Status begin(const char *function) {
  cuda::Result result = fakeCudaBegin(function);
  // A communicator knows its GPU, so that no context need be current.
  if (result == cuda::Result::Success || result == cuda::Result::InvalidContext)
    return Status::Success;
  int number = int(result);
  Status status =
      number > 0 && number < 8 ? Status(number) : Status::UnhandledCudaError;
  if (Library &library = Library::get(); library.depth)
    library.failed = status;
  return status;
}

bool exists(Comm comm) {
  if (Library::get().comms.contains(comm))
    return true;
  fakeCudaReport("a communicator that does not exist, or no more, is used");
  return false;
}

std::string nameOf(Comm comm) {
  return "rank " + std::to_string(comm->rank) + " of communicator " +
         std::to_string(comm->clique->number);
}

Clique *Library::add(const std::vector<cuda::Context> &contexts) {
  auto clique = std::make_unique<Clique>();
  clique->number = int(cliques.size());
  for (cuda::Context context : contexts) {
    auto *comm = new nccl::CommObject;
    comm->clique = clique.get();
    comm->rank = int(clique->ranks.size());
    comm->context = context;
    clique->ranks.push_back(comm);
    comms.insert(comm);
  }
  cliques.push_back(std::move(clique));
  return cliques.back().get();
}

/// Whether no two ranks are on one GPU, which NCCL refuses.
static bool areApart(const std::vector<cuda::Context> &contexts) {
  std::set<cuda::Context> known(contexts.begin(), contexts.end());
  if (known.size() == contexts.size() && !known.contains(nullptr))
    return true;
  fakeCudaReport("two ranks of a communicator are on one GPU, or one is on a "
                 "GPU without a context");
  return false;
}

Status finishSplits() {
  Library &library = Library::get();
  std::map<Clique *, std::vector<Split>> all;
  for (const Split &split : library.splits)
    all[split.parent->clique].push_back(split);
  library.splits.clear();
  for (auto &[parent, splits] : all) {
    if (parent->neighbours) {
      if (Status status = splitAmong(*parent, splits);
          status != Status::Success)
        return status;
      continue;
    }
    if (splits.size() != parent->ranks.size()) {
      fakeCudaReport(
          "ncclCommSplit is called by " + std::to_string(splits.size()) +
          " of " + std::to_string(parent->ranks.size()) +
          " ranks of communicator " + std::to_string(parent->number));
      return Status::InvalidUsage;
    }
    std::map<int, std::vector<Split>> byColor;
    for (const Split &split : splits)
      if (*split.out = nullptr; split.color != nccl::kNoColor)
        byColor[split.color].push_back(split);
    for (auto &[color, members] : byColor) {
      std::ranges::sort(members, {}, [](const Split &one) {
        return std::pair(one.key, one.parent->rank);
      });
      std::vector<cuda::Context> contexts;
      for (const Split &one : members)
        contexts.push_back(one.parent->context);
      Clique *made = library.add(contexts);
      for (size_t rank = 0; rank < members.size(); ++rank)
        *members[rank].out = made->ranks[rank];
    }
  }
  return Status::Success;
}

Status finishJoins() {
  Library &library = Library::get();
  std::map<std::string, std::map<int, Join>> all;
  for (const Join &join : library.joins)
    all[join.id.internal][join.rank] = join;
  library.joins.clear();
  for (auto &[id, ranks] : all) {
    if (int(ranks.size()) != ranks.begin()->second.count) {
      if (Status status = joinProcesses(id, ranks); status != Status::Success)
        return status;
      continue;
    }
    std::vector<cuda::Context> contexts;
    for (auto &[rank, join] : ranks)
      contexts.push_back((*join.out)->context);
    Clique *made = areApart(contexts) ? library.add(contexts) : nullptr;
    for (auto &[rank, join] : ranks) {
      delete *join.out; // holds the context only
      *join.out = made ? made->ranks[size_t(rank)] : nullptr;
    }
    if (!made)
      return Status::InvalidUsage;
  }
  return Status::Success;
}

} // namespace weft::fake

using namespace weft;
using namespace weft::fake;

extern "C" {
#define WEFT_NCCL_FUNCTION(name, result, parameters)                           \
  __attribute__((visibility("default"))) result name parameters;
WEFT_NCCL_FUNCTIONS(WEFT_NCCL_FUNCTION)
#undef WEFT_NCCL_FUNCTION
}

/// FAKE_NCCL_VERSION: 21701 for 2.17.1.
Status ncclGetVersion(int *version) {
  const char *asked = std::getenv("FAKE_NCCL_VERSION");
  *version = asked ? std::atoi(asked) : 22809;
  return Status::Success;
}
const char *ncclGetErrorString(Status status) {
  static const char *texts[] = {
      "no error",
      "unhandled cuda error",
      "unhandled system error",
      "internal error",
      "invalid argument",
      "invalid usage",
      "remote process exited or there was a network error",
      "NCCL operation in progress"};
  return unsigned(status) < 8 ? texts[unsigned(status)] : "unknown result code";
}
const char *ncclGetLastError(Comm) { return ""; }

Status ncclGetUniqueId(nccl::UniqueId *id) {
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->internal, sizeof id->internal,
                "weft-fake-nccl-%d-%llu-%llu", int(::getpid()),
                static_cast<unsigned long long>(::time(nullptr)),
                static_cast<unsigned long long>(++Library::get().ids));
  return Status::Success;
}

Status ncclCommInitAll(Comm *comms, int count, const int *devices) {
  if (Status status = begin(__func__); status != Status::Success)
    return status;
  std::vector<cuda::Context> contexts;
  for (int i = 0; i < count; ++i)
    contexts.push_back(fakeCudaContextOf(devices ? devices[i] : i));
  if (!areApart(contexts))
    return Status::InvalidUsage;
  Clique *made = Library::get().add(contexts);
  std::ranges::copy(made->ranks, comms);
  return Status::Success;
}

Status ncclCommInitRankConfig(Comm *comm, int count, nccl::UniqueId id,
                              int rank, nccl::Config *config) {
  if (Status status = begin(__func__); status != Status::Success)
    return status;
  bool isKnown = !config || (config->size >= sizeof *config &&
                             config->magic == nccl::Config().magic);
  if (!isKnown || rank < 0 || rank >= count)
    return Status::InvalidArgument;
  *comm = new nccl::CommObject{nullptr, rank, fakeCudaContext()};
  Library &library = Library::get();
  library.joins.push_back({id, count, rank, comm});
  return library.depth ? Status::Success : endGroup();
}

Status ncclCommSplit(Comm comm, int color, int key, Comm *out,
                     nccl::Config *config) {
  if (Status status = begin(__func__); status != Status::Success)
    return status;
  if (!exists(comm) || color < nccl::kNoColor ||
      (config && config->magic != nccl::Config().magic))
    return Status::InvalidArgument;
  Library &library = Library::get();
  library.splits.push_back({comm, color, key, out});
  return library.depth ? Status::Success : endGroup();
}

/// Frees a rank's part; operations that are enqueued know its number.
static Status end(Comm comm) {
  if (!exists(comm))
    return Status::InvalidArgument;
  std::set<Comm> &comms = Library::get().comms;
  comms.erase(comm);
  const Clique &clique = *comm->clique;
  bool isLast = std::ranges::none_of(
      clique.ranks, [&](Comm rank) { return comms.contains(rank); });
  if (isLast && clique.neighbours && clique.neighbours->key == "0")
    leave(clique);
  return Status::Success;
}
Status ncclCommDestroy(Comm comm) {
  Status status = begin(__func__);
  return status == Status::Success ? end(comm) : status;
}
/// Succeeds whatever the GPU has answered before.
Status ncclCommAbort(Comm comm) {
  Status status = end(comm);
  if (status != Status::Success)
    return status;
  comm->isAborted = true;
  if (comm->clique->neighbours)
    removeFolder(comm->clique->neighbours->folder);
  return status;
}

Status ncclCommGetAsyncError(Comm comm, Status *status) {
  if (!exists(comm))
    return Status::InvalidArgument;
  *status = comm->clique->isApart ? Status::RemoteError : Status::Success;
  return Status::Success;
}
