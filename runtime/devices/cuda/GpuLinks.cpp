#include "weft/runtime/devices/cuda/GpuLinks.h"

#include "weft/runtime/processes/Processes.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace weft::runtime {

GpuLinks::~GpuLinks() {
  if (!nccl || isAborted)
    return;
  if (hasFailed()) { // which may wait for the others
    abort();
    return;
  }
  for (const auto &[set, parts] : comms)
    for (nccl::Comm comm : parts)
      if (comm)
        nccl->ncclCommDestroy(comm);
  for (nccl::Comm comm : all)
    nccl->ncclCommDestroy(comm);
}

void GpuLinks::abort() {
  std::lock_guard<std::mutex> guard(calling);
  if (isAborted.exchange(true))
    return;
  for (const auto &[set, parts] : comms)
    for (nccl::Comm comm : parts)
      if (comm)
        nccl->ncclCommAbort(comm);
  for (nccl::Comm comm : all)
    nccl->ncclCommAbort(comm);
}

Status GpuLinks::setMode(CollectiveMode given) {
  if (processes && given == CollectiveMode::Peer)
    return makeError(StatusCode::InvalidArgument,
                     "GPUs of several processes cannot address each other's "
                     "memory; write nccl or exact, or run one process");
  mode = given;
  return {};
}

bool GpuLinks::leavesProcess(const GpuSet &set) const {
  return std::ranges::any_of(set, [&](int rank) { return !gpus.ownGpu(rank); });
}

bool GpuLinks::hasOwn(const GpuSet &set) const {
  return std::ranges::any_of(set,
                             [&](int rank) { return bool(gpus.ownGpu(rank)); });
}

GpuLinks::Call::Call(const GpuLinks &links)
    : guard(links.calling), processes(links.processes) {
  if (processes)
    processes->setInCall(true);
}

GpuLinks::Call::~Call() {
  if (processes)
    processes->setInCall(false);
}

/// Whether another process has failed, or NCCL has found a failure itself.
bool GpuLinks::hasFailed() const {
  if (!processes)
    return false;
  if (processes->hasFailed())
    return true;
  // A thread that is inside of a call finds a failure itself.
  std::unique_lock<std::mutex> lock(calling, std::try_to_lock);
  if (!lock || isAborted)
    return false;
  for (const auto &[set, parts] : comms)
    for (nccl::Comm comm : parts) {
      auto state = nccl::Status::Success;
      if (comm &&
          (nccl->ncclCommGetAsyncError(comm, &state) != nccl::Status::Success ||
           state != nccl::Status::Success))
        return true;
    }
  return false;
}

void GpuLinks::awaitWhile(const std::function<bool()> &isRunning) {
  constexpr int turns = 1000; // without a pause, as short runs end soon
  if (!isOpen)
    return;
  for (int turn = 0; !isAborted && isRunning(); ++turn) {
    if (hasFailed())
      abort();
    for (const GpuStream *stream : streams) {
      cuda::Result state = stream->query();
      if (state != cuda::Result::Success && state != cuda::Result::NotReady)
        abort();
    }
    if (turn > turns)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Lets all GPUs of a set address each other's memory, or fails.
Status GpuLinks::reach(const GpuSet &set) const {
  for (int rank : set)
    for (int peer : set) {
      const std::shared_ptr<Gpu> one = gpus.ownGpu(rank),
                                 other = gpus.ownGpu(peer);
      if (Status ok = one->connect(*other); !ok)
        return ok;
      if (!one->reaches(*other))
        return makeError(StatusCode::Incompatible, "GPUs ", one->ordinal(),
                         " and ", other->ordinal(),
                         " cannot address each other's memory (nvidia-smi topo "
                         "-p2p r)");
    }
  return {};
}

/// Loads NCCL, or says why it is not used.
static Status findLibrary() {
  Result<const Nccl *> found = Nccl::find();
  return found ? Status() : Status(found.error());
}

Status GpuLinks::choose(const Mesh &mesh, const Collective &collective,
                        const GpuSet &set, CollectiveMethod &out) const {
  std::vector<LocalArray> sources(collective.sources.begin(),
                                  collective.sources.end()),
      targets(collective.targets.begin(), collective.targets.end());
  auto methodIn = [&](CollectiveMode asked) {
    return methodOf(asked, collective.code, {mesh, collective.axes}, sources,
                    targets);
  };
  out = methodIn(mode);
  if (leavesProcess(set)) {
    out = methodIn(mode == CollectiveMode::Usual ? CollectiveMode::Nccl : mode);
    return {};
  }
  bool isUsual = mode == CollectiveMode::Usual;
  if (out != CollectiveMethod::Peer) {
    Status library = findLibrary();
    if (library)
      return {};
    if (!isUsual)
      return makeError(StatusCode::Incompatible,
                       "NCCL is not used: ", library.error().message,
                       "; install NCCL 2.18 or later, or write ",
                       Option{"collectives", "peer"});
  }
  out = CollectiveMethod::Peer;
  Status reached = reach(set);
  if (reached)
    return {};
  Message why = reached.error().message;
  if (!isUsual)
    return makeError(StatusCode::Incompatible, why, "; write ",
                     Option{"collectives", "nccl"},
                     ", or run it on one GPU (CUDA_VISIBLE_DEVICES=0) or on "
                     "cpu:N");
  if (Status library = findLibrary(); !library)
    return makeError(StatusCode::Incompatible, why,
                     ", and NCCL is not used: ", library.error().message,
                     "; install NCCL 2.18 or later, or run it on one GPU "
                     "(CUDA_VISIBLE_DEVICES=0) or on cpu:N");
  out = methodIn(CollectiveMode::Nccl);
  return {};
}

Status GpuLinks::check() const {
  if (!isAborted)
    return {};
  if (processes)
    if (Status failed = processes->failure(); !failed)
      return failed;
  return makeError(StatusCode::Internal,
                   "NCCL's communicators were ended by an earlier error; "
                   "create the runtime again");
}

Status GpuLinks::open() {
  if (Status ok = check(); !ok)
    return ok;
  if (!all.empty())
    return {};
  Result<const Nccl *> found = Nccl::find();
  if (!found)
    return found.error();
  nccl = *found;
  std::vector<nccl::Comm> made(gpus.own.size());
  if (Status ok = openAmong(made); !ok)
    return ok;
  all = std::move(made);
  isOpen = true;
  return {};
}

/// Makes the communicator of all GPUs, for those of this process.
Status GpuLinks::openAmong(std::vector<nccl::Comm> &made) {
  if (!processes) {
    std::vector<int> ordinals;
    for (const auto &gpu : gpus.own)
      ordinals.push_back(gpu->ordinal());
    return nccl->check(nccl->ncclCommInitAll(made.data(), int(ordinals.size()),
                                             ordinals.data()),
                       "ncclCommInitAll");
  }
  nccl::UniqueId id = {};
  if (processes->rank() == 0)
    if (Status ok = nccl->check(nccl->ncclGetUniqueId(&id), "ncclGetUniqueId");
        !ok)
      return ok;
  void *data = &id;
  size_t bytes = sizeof id;
  if (Status ok = processes->share(&data, &bytes); !ok)
    return ok;
  if (data != &id) {
    std::memcpy(&id, data, std::min(bytes, sizeof id));
    std::free(data);
  }
  Call call(*this);
  if (Status ok = nccl->check(nccl->ncclGroupStart(), "ncclGroupStart"); !ok)
    return ok;
  Status failed;
  for (size_t i = 0; i < gpus.own.size() && failed; ++i) {
    failed = gpus.own[i]->makeCurrent();
    if (failed)
      failed = nccl->check(
          nccl->ncclCommInitRankConfig(&made[i], gpus.count, id,
                                       gpus.firstOwn + int(i), nullptr),
          "ncclCommInitRankConfig");
  }
  // The group ends in any case.
  Status ended = nccl->check(nccl->ncclGroupEnd(), "ncclGroupEnd");
  return failed ? ended : failed;
}

/// Splits the communicator of all GPUs into those of disjoint sets.
Status GpuLinks::split(const std::vector<GpuSet> &apart) {
  std::vector<nccl::Comm> made(gpus.own.size());
  Call call(*this);
  if (Status ok = nccl->check(nccl->ncclGroupStart(), "ncclGroupStart"); !ok)
    return ok;
  Status failed;
  for (size_t i = 0; i < made.size(); ++i) {
    int color = nccl::kNoColor, key = 0;
    for (size_t s = 0; s < apart.size(); ++s)
      if (auto found = std::ranges::find(apart[s], gpus.firstOwn + int(i));
          found != apart[s].end()) {
        color = int(s);
        key = int(found - apart[s].begin());
      }
    Status ok =
        nccl->check(nccl->ncclCommSplit(all[i], color, key, &made[i], nullptr),
                    "ncclCommSplit");
    if (failed)
      failed = std::move(ok);
  }
  // The group ends in any case.
  Status ended = nccl->check(nccl->ncclGroupEnd(), "ncclGroupEnd");
  if (!failed || !ended)
    return failed ? ended : failed;
  for (const GpuSet &set : apart)
    for (int rank : set)
      comms[set].push_back(
          gpus.ownGpu(rank) ? made[size_t(rank - gpus.firstOwn)] : nullptr);
  return {};
}

Status GpuLinks::connect(const std::vector<GpuSet> &sets) {
  if (sets.empty())
    return {};
  if (Status ok = open(); !ok)
    return ok;
  std::vector<GpuSet> rest;
  for (const GpuSet &set : sets)
    if (!comms.contains(set) && std::ranges::find(rest, set) == rest.end())
      rest.push_back(set);
  while (!rest.empty()) {
    std::vector<GpuSet> apart, later;
    std::set<int> taken;
    for (const GpuSet &set : rest) {
      bool isApart = std::ranges::none_of(
          set, [&](int rank) { return taken.contains(rank); });
      (isApart ? apart : later).push_back(set);
      if (isApart)
        taken.insert(set.begin(), set.end());
    }
    if (Status ok = split(apart); !ok)
      return ok;
    rest = std::move(later);
  }
  return {};
}

} // namespace weft::runtime
